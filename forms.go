package signforms

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/paging"
)

// FormSendParams are the inputs of sending a form.
type FormSendParams struct {
	FormID    string     // required; a UUID in events, but any text is sent
	Receivers []Receiver // 1 to 100; RoleTitle is not used
	Mail      Mail
	Variables []Variable
}

// FormSendResult is the answer to sending a form. The service promises only a message.
type FormSendResult struct {
	Message string `json:"message"`
	// Raw is the answer as received. It may contain links to the form, so keep it out of logs.
	Raw RawResponse `json:"-"`
}

// Validate returns what Send returns for wrong inputs, as [TemplateSendParams.Validate] does.
func (p FormSendParams) Validate() error {
	var c checks
	c.required("FormID", p.FormID)
	p.body().check(&c)
	return c.err(sendForm)
}

func (p FormSendParams) body() sendBody {
	return sendBody{SigningType: typeForm, DocumentID: p.FormID, Receivers: p.Receivers, Mail: p.Mail, Variables: p.Variables}
}

// Send mails a form to its receivers. The request is repeated only when the service provably did not accept it.
// ErrOutcomeUnknown means that it may have been sent. The service does not list the receivers of a form: ask them
// before you send again. An answer:
//
//	{"message": "Form sent successfully"}
func (s *FormsService) Send(ctx context.Context, p FormSendParams) (*FormSendResult, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	var res FormSendResult
	run, err := s.c.perform(ctx, p.body().request(sendForm), &res)
	if err != nil {
		return nil, err
	}
	res.Raw = run.last.Body
	return &res, nil
}

// FormResponse is one completed form. Fields that the answer lacks are zero.
type FormResponse struct {
	ID              string       `json:"responseId"`     // ObjectId or UUID
	FormResponseID  string       `json:"formResponseId"` // UUID
	FormID          string       `json:"formId"`
	SubmittedAt     time.Time    `json:"submittedAt"`
	RespondentEmail string       `json:"respondentEmail"`
	FinishedPDFURL  string       `json:"finishedPdfUrl"`
	Answers         []FormAnswer `json:"answers"`
}

// FormAnswer is a question of a form and what was answered.
type FormAnswer struct {
	ID       string `json:"id" fill:"any"`
	Question string `json:"question" fill:"any"`
	// Answer is the answer's text. An answer that is not a string is kept as its JSON.
	Answer string `json:"answer" fill:"any"`
}

// FormResponseListParams selects the responses of a form.
type FormResponseListParams struct {
	FormID string // required; any text
	// Page is 1-based; 0 means 1; AllResponses ignores it. Limit is the page size, by default 10 for Responses and 100 for
	// AllResponses; no maximum is documented.
	Page, Limit int
}

type wireResponses struct {
	wirePage
	Responses []FormResponse `json:"responses" fill:"list"`
}

func (w *wireResponses) missing(r *run) string {
	return w.missingList("responses", w.Responses != nil, r)
}

// Responses returns page p.Page of a form's responses. An answer, shortened:
//
//	{"responses": [{"responseId": "6afdd62ad605997389b3a3dd", "formResponseId": "c8c597f6-f2df-4656-b01d-090c847b0a17",
//	  "formId": "897c8dd4-830a-4a3b-b3e2-6747747385ba", "submittedAt": "2026-11-18T16:45:30.250Z", "respondentEmail": "ann@example.com",
//	  "answers": [{"id": "q1", "question": "Full legal name", "answer": "Ann"}]}],
//	 "pagination": {"currentPage": 1, "totalPages": 1, "totalResponses": 1, "hasNextPage": false, "hasPreviousPage": false}}
func (s *FormsService) Responses(ctx context.Context, p FormResponseListParams) (*Page[FormResponse], error) {
	var c checks
	c.required("FormID", p.FormID)
	c.page(p.Page, p.Limit, 0)
	if err := c.err(listResponses); err != nil {
		return nil, err
	}
	in := inputs{}
	in.set("formId", p.FormID)
	in.set("page", p.Page)
	in.set("limit", p.Limit)
	return s.responses(ctx, request{method: listResponses, in: in}, p.Page)
}

func (s *FormsService) responses(ctx context.Context, req request, page int) (*Page[FormResponse], error) {
	var answer wireResponses
	run, err := s.c.perform(ctx, req, &answer)
	if err != nil {
		return nil, err
	}
	return newPage(answer.Responses, page, answer.wirePage, run), nil
}

// AllResponses yields every response of a form. It works like [DocumentsService.All].
func (s *FormsService) AllResponses(ctx context.Context, p FormResponseListParams) iter.Seq2[*FormResponse, error] {
	return list[FormResponse]{
		limit: cmp.Or(p.Limit, allLimit),
		id:    (*FormResponse).key,
		at:    func(r *FormResponse) time.Time { return r.SubmittedAt },
		fetch: func(ctx context.Context, r paging.Request) (*Page[FormResponse], error) {
			p := p
			p.Page, p.Limit = r.Page, r.Limit
			return s.Responses(ctx, p)
		},
	}.all(ctx)
}

func (r *FormResponse) key() string {
	if r.ID != "" {
		return r.ID
	}
	return r.FormResponseID
}

// Response returns the response with an id, an ObjectId or a UUID, or ErrNotFound when the service has none with it.
func (s *FormsService) Response(ctx context.Context, responseID string) (*FormResponse, error) {
	var c checks
	c.responseID("responseID", responseID)
	if err := c.err(getResponse); err != nil {
		return nil, err
	}
	page, err := s.responses(ctx, request{method: getResponse, in: inputs{"responseId": responseID}}, 1)
	if err != nil {
		return nil, err
	}
	return page.only(responseID, func(r *FormResponse) string {
		if strings.EqualFold(r.FormResponseID, responseID) {
			return responseID
		}
		return r.ID
	})
}
