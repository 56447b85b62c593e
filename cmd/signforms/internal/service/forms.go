package service

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
)

// responseRecord is a response as --json prints it. A time that the service did not give is left out.
type responseRecord struct {
	*signforms.FormResponse
	SubmittedAt time.Time    `json:"submittedAt,omitzero"`
	Answers     []answerJSON `json:"answers"`
}

type answerJSON struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

func answersJSON(r *signforms.FormResponse) []answerJSON {
	answers := make([]answerJSON, len(r.Answers))
	for i, a := range r.Answers {
		answers[i] = answerJSON(a)
	}
	return answers
}

func responseShape(r *signforms.FormResponse) any {
	return responseRecord{r, r.SubmittedAt, answersJSON(r)}
}

var responseColumns = []column[*signforms.FormResponse]{
	{name: "responseId", value: func(r *signforms.FormResponse) string { return r.ResponseID }},
	{name: "submittedAt", value: func(r *signforms.FormResponse) string { return timeText(r.SubmittedAt) }, time: true},
	{name: "respondentEmail", value: func(r *signforms.FormResponse) string { return r.RespondentEmail }, long: true},
	{name: "answers", value: answersText, long: true},
	{name: "formId", value: func(r *signforms.FormResponse) string { return r.FormID }, wide: true},
	{name: "formResponseId", value: func(r *signforms.FormResponse) string { return r.FormResponseID }, wide: true},
	{name: "finishedPdfUrl", value: func(r *signforms.FormResponse) string { return r.FinishedPDFURL }, wide: true},
}

// answersText returns the answers as a JSON object with the questions as keys, in the form's order.
func answersText(r *signforms.FormResponse) string {
	var texts []string
	for _, a := range r.Answers {
		question, _ := json.Marshal(a.Question) // cannot fail for a string
		answer, _ := json.Marshal(a.Answer)
		texts = append(texts, fmt.Sprintf("%s:%s", question, answer))
	}
	return "{" + strings.Join(texts, ",") + "}"
}

func newFormsResponses() *cobra.Command {
	var conn connection
	var out output
	var p signforms.ResponseListParams
	cmd := &cobra.Command{
		Use:   "responses [FORM_ID]",
		Short: "List the responses to a form, or print one of them",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && p.ResponseID == "" {
				return fmt.Errorf("name one form, or a response with --response")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := conn.connect()
			if err != nil {
				return err
			}
			pr := newPrinter(cmd, out, responseColumns, responseShape, pageSize(p.Limit))
			if len(args) == 0 && p.Page == 0 && p.Limit == 0 {
				return printAll(pr, oneRecord(client.Forms.Response(cmd.Context(), p.ResponseID)))
			}
			p.FormID = strings.Join(args, "")
			if p.Page == 0 {
				return printAll(pr, client.Forms.AllResponses(cmd.Context(), p))
			}
			return printAll(pr, onePage(client.Forms.Responses(cmd.Context(), p)))
		},
	}
	cmd.Flags().StringVar(&p.ResponseID, "response", "", "only the one with this id")
	pageFlags(cmd, &p.Page, &p.Limit, 0)
	out.addFlags(cmd)
	conn.addFlags(cmd)
	return cmd
}
