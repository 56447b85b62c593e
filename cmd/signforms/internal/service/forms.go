package service

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// responseRecord is a response as --json prints it. A time that the service did not send is left
// out.
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

var responseColumns = []cli.Column[*signforms.FormResponse]{
	{Name: "responseId", Value: func(r *signforms.FormResponse) string { return r.ID }},
	{Name: "submittedAt", Value: func(r *signforms.FormResponse) string { return cli.Time(r.SubmittedAt) }},
	{Name: "respondentEmail", Value: func(r *signforms.FormResponse) string { return r.RespondentEmail }},
	{Name: "answers", Value: answersText},
	{Name: "formId", Value: func(r *signforms.FormResponse) string { return r.FormID }, Wide: true},
	{Name: "formResponseId", Value: func(r *signforms.FormResponse) string { return r.FormResponseID }, Wide: true},
	{Name: "finishedPdfUrl", Value: func(r *signforms.FormResponse) string { return r.FinishedPDFURL }, Wide: true},
}

// answersText returns the answers as a JSON object with the questions as keys, in the form's order.
func answersText(r *signforms.FormResponse) string {
	var texts []string
	for _, a := range r.Answers {
		question, _ := json.Marshal(a.Question) // Marshal cannot fail for a string
		answer, _ := json.Marshal(a.Answer)
		texts = append(texts, fmt.Sprintf("%s:%s", question, answer))
	}
	return "{" + strings.Join(texts, ",") + "}"
}

func newFormsResponses() *cobra.Command {
	var p signforms.FormResponseListParams
	var id string
	cmd := &cobra.Command{
		Use:   "responses [FORM_ID]",
		Short: "List the responses to a form, or print one of them",
		Args:  oneOrNamed(&id, "form, or a response with --response"),
	}
	cmd.Flags().StringVar(&id, "response", "", "only the one with this id")
	pageFlags(cmd, &p.Page, &p.Limit, 0)
	cli.Alternatives(cmd, false, "response", "page")
	cli.Alternatives(cmd, false, "response", "limit")
	return newList(cmd, responseColumns, responseShape, &p.Limit, func(ctx context.Context, c *signforms.Client, args []string) iter.Seq2[*signforms.FormResponse, error] {
		p.FormID = strings.Join(args, "")
		switch {
		case id != "":
			return oneRecord(c.FormResponses.Get(ctx, id))
		case p.Page == 0:
			return c.FormResponses.All(ctx, p)
		}
		page, err := c.FormResponses.List(ctx, p)
		return onePage(p.Page, page, err)
	})
}
