package signforms

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/paging"
)

// FormResponsesService lists and reads completed forms. It is Client.FormResponses.
type FormResponsesService struct{ c *caller }

// FormResponse is one completed form. Fields that the HTTP response lacks are zero.
type FormResponse struct {
	ID              string       `json:"responseId"`     // ObjectId or UUID
	FormResponseID  string       `json:"formResponseId"` // UUID
	FormID          string       `json:"formId"`
	SubmittedAt     time.Time    `json:"submittedAt"`
	RespondentEmail string       `json:"respondentEmail"`
	FinishedPDFURL  string       `json:"finishedPdfUrl"`
	Answers         []FormAnswer `json:"answers"`
}

// FormAnswer is a question of a form with its answer.
type FormAnswer struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	// Answer is the answer's text. An answer that is not a string is kept as its JSON.
	Answer string `json:"answer"`
}

// FormResponseListParams selects the responses of a form.
type FormResponseListParams struct {
	FormID string // required; any text
	// Page is 1-based; 0 means 1. All ignores Page. Limit is the page size, by default 10 for List
	// and 100 for All. The service documents no maximum.
	Page, Limit int
}

// List returns page p.Page of a form's responses. An HTTP response, shortened:
//
//	{"responses": [{"responseId": "6afdd62ad605997389b3a3dd", "formResponseId": "c8c597f6-f2df-4656-b01d-090c847b0a17",
//	  "formId": "897c8dd4-830a-4a3b-b3e2-6747747385ba", "submittedAt": "2026-11-18T16:45:30.250Z", "respondentEmail": "ann@example.com",
//	  "answers": [{"id": "q1", "question": "Full legal name", "answer": "Ann"}]}],
//	 "pagination": {"currentPage": 1, "totalPages": 1, "totalResponses": 1, "hasNextPage": false, "hasPreviousPage": false}}
func (s *FormResponsesService) List(ctx context.Context, p FormResponseListParams) (*Page[FormResponse], error) {
	req := request{method: listFormResponses, in: inputs{"formId": p.FormID}}
	req.required("FormID", p.FormID)
	req.page(p.Page, p.Limit, 0)
	return s.page(ctx, req)
}

func (s *FormResponsesService) page(ctx context.Context, req request) (*Page[FormResponse], error) {
	var answer struct {
		wirePage
		Responses []FormResponse `json:"responses"`
	}
	return pageOf(ctx, s.c, req, &answer, &answer.wirePage, "responses", &answer.Responses)
}

// All yields every response of a form. It works like [DocumentsService.All].
func (s *FormResponsesService) All(ctx context.Context, p FormResponseListParams) iter.Seq2[*FormResponse, error] {
	return list[FormResponse]{p.Limit, (*FormResponse).key, func(ctx context.Context, r paging.Request) (*Page[FormResponse], error) {
		p := p
		p.Page, p.Limit = r.Page, r.Limit
		return s.List(ctx, p)
	}}.all(ctx)
}

func (r *FormResponse) key() (id string, created time.Time) {
	return cmp.Or(r.ID, r.FormResponseID), r.SubmittedAt
}

// Get returns the response with an id, which is an ObjectId or a UUID. It returns ErrNotFound if
// the service has no response with this id.
func (s *FormResponsesService) Get(ctx context.Context, responseID string) (*FormResponse, error) {
	req := request{method: getFormResponse, in: inputs{"responseId": responseID}}
	req.responseID("responseID", responseID)
	page, err := s.page(ctx, req)
	return only(page, err, responseID, func(r *FormResponse) string {
		if strings.EqualFold(r.FormResponseID, responseID) {
			return responseID
		}
		return r.ID
	})
}
