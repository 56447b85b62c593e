package api

import (
	"math"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// listResponses handles GET /get-form-responses.
func (a *API) listResponses(c *Call) (any, error) {
	formID, responseID, page := a.responseQuery(&c.input)
	if err := c.inputError(); err != nil {
		return nil, err
	}
	var responses []*signing.FormResponse
	total := 0
	err := a.Store.View(func(tx *store.Tx) (err error) {
		responses, total, err = formResponses(tx, formID, responseID, &page)
		return err
	})
	pages := pagination(page, total)
	pages.TotalResponses = &total
	pages.HasNext = new(page.Offset+int64(len(responses)) < int64(total))
	pages.HasPrevious = new(page.Offset > 0)
	return responsesBody{Responses: a.responseBodies(responses), Pagination: *pages}, err
}

// responseQuery reads the filters of a list of form responses.
func (a *API) responseQuery(in *input) (formID, responseID string, page store.Page) {
	formID, responseID = in.id("formId"), in.id("responseId")
	if responseID != "" && len(responseID) != signing.UUIDLength && !signing.IsObjectID(responseID) {
		in.problem("responseId must be a UUID or have 24 hexadecimal digits")
	}
	if formID == "" && responseID == "" {
		in.oneIsRequired("formId", "responseId")
	}
	return formID, responseID, a.page(in, math.MaxInt32)
}

// formResponses returns the response with responseID, whatever the page, or else a page of the
// form's responses.
func formResponses(tx *store.Tx, formID, responseID string, page *store.Page) ([]*signing.FormResponse, int, error) {
	if formID != "" {
		if _, err := tx.Form(formID); err != nil {
			return nil, 0, err
		}
	}
	if responseID == "" {
		responses, total := tx.Responses(formID, *page)
		return responses, total, nil
	}
	*page = store.Page{Limit: 1}
	r, err := tx.Response(responseID)
	if err == nil && formID != "" && r.FormID != formID {
		err = &store.Missing{What: "response", ID: responseID, Instead: ": it is of another form"}
	}
	if err != nil {
		return nil, 0, err
	}
	return []*signing.FormResponse{&r}, 1, nil
}

func (a *API) responseBodies(responses []*signing.FormResponse) []responseBody {
	out := make([]responseBody, len(responses))
	for i, r := range responses {
		out[i] = responseBody{
			ResponseID: r.ObjectID, FormResponseID: r.ID, FormID: r.FormID, SubmittedAt: timeText(r.SubmittedAt),
			RespondentEmail: r.RespondentEmail, FinishedPDFURL: a.Links.Finished(r.ID), Answers: make([]answerBody, len(r.Answers)),
		}
		for j, answer := range r.Answers {
			out[i].Answers[j] = answerBody{ID: answer.FieldID, Question: answer.Question, Answer: answer.Answer}
		}
	}
	return out
}
