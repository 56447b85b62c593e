package signforms

import (
	"context"
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/paging"
)

// RespondentsService lists and reads the documents made from templates, which the service calls respondents. It is
// Client.Respondents.
type RespondentsService struct{ c *caller }

// Respondent is a document made from a template, with its signers. Fields that the response lacks are zero.
type Respondent struct {
	ID             string            `json:"respondentDocumentId"`
	TemplateID     string            `json:"templateId"` // set even if the response has no UUID in this field
	OwnerID        string            `json:"ownerId"`
	Status         DocumentStatus    `json:"status"`
	CreatedAt      time.Time         `json:"createdAt"`
	PDFLink        string            `json:"pdfLink"`
	FinishedPDFURL string            `json:"finishedPdfUrl"`
	Signers        []Signer          `json:"signers"`
	History        []json.RawMessage `json:"history"` // the service does not document the content of an entry
}

// Ref returns the reference for Void and Remind.
func (r *Respondent) Ref() DocumentRef { return TemplateDocument(r.TemplateID, r.ID) }

// SignerIDs returns the ids of Signers, without empty ones. See [TemplateSendResult.SignerIDs].
func (r *Respondent) SignerIDs() []string { return signerIDs(r.Signers) }

// RespondentListParams selects the documents made from a template.
type RespondentListParams struct {
	TemplateID string // UUID, required
	Page       int    // 1-based; 0 means 1; All ignores Page
	Limit      int    // page size; default 100 for All, assumed to be 10 for List; no maximum is documented
}

// List returns page p.Page of the documents made from a template. A response, shortened:
//
//	{"respondents": [{"respondentDocumentId": "6afac610c07043658fde1996", "templateId": "65afe90c-6eab-4089-8a6f-5b870943305f", "status": "PENDING",
//	  "createdAt": "2026-11-16T09:00:00.125Z", "signers": [{"signerId": "9656bc85-46e1-40d9-828b-81cb4e134d01", "email": "ann@example.com",
//	   "roleTitle": "Client", "status": "VIEWED"}]}],
//	 "pagination": {"currentPage": 1, "totalPages": 1}}
//
// Records are not filtered on the client. If the service ignores templateId, check Respondent.TemplateID. It is
// p.TemplateID if the record has none.
func (s *RespondentsService) List(ctx context.Context, p RespondentListParams) (*Page[Respondent], error) {
	req := request{method: listRespondents, in: inputs{"templateId": p.TemplateID}}
	req.uuid("TemplateID", p.TemplateID)
	req.page(p.Page, p.Limit, 0)
	return s.page(ctx, req)
}

func (s *RespondentsService) page(ctx context.Context, req request) (*Page[Respondent], error) {
	var answer struct {
		wirePage
		Respondents []Respondent `json:"respondents"`
	}
	page, err := pageOf(ctx, s.c, req, &answer, &answer.wirePage, "respondents", &answer.Respondents)
	for i := range answer.Respondents {
		answer.Respondents[i].normalise(req.in.text("templateId"))
	}
	return page, err
}

// normalise converts the status to its usual spelling, and sets TemplateID if the response has no
// UUID in this field.
func (r *Respondent) normalise(template string) {
	r.Status, r.TemplateID = r.Status.normal(), templateID(r.TemplateID, template)
}

// All yields every document made from a template. It works like [DocumentsService.All].
func (s *RespondentsService) All(ctx context.Context, p RespondentListParams) iter.Seq2[*Respondent, error] {
	return list[Respondent]{p.Limit, (*Respondent).key, func(ctx context.Context, r paging.Request) (*Page[Respondent], error) {
		p := p
		p.Page, p.Limit = r.Page, r.Limit
		return s.List(ctx, p)
	}}.all(ctx)
}

func (r *Respondent) key() (id string, created time.Time) { return r.ID, r.CreatedAt }

// Get returns one document made from a template, or ErrNotFound if the service has no document with
// this id. The id is TemplateSendResult.DocumentID. The response is a list, as for List.
func (s *RespondentsService) Get(ctx context.Context, documentID string) (*Respondent, error) {
	req := request{method: getRespondent, in: inputs{"respondentDocumentId": documentID}}
	req.objectID("documentID", documentID)
	page, err := s.page(ctx, req)
	return only(page, err, documentID, func(r *Respondent) string { return r.ID })
}

// FindSent searches for the document of a send whose outcome is unknown. It reads all respondents
// of p.TemplateID and returns those that [TemplateSendParams.MayMatch] accepts, the candidates.
// exclude reports the documents that you have recorded for other sends; they are left out. A nil
// exclude leaves out no document. An error proves nothing about the send.
//
//   - No candidate: the template was not sent, if you called FindSent at least
//     Options.AttemptTimeout and one minute after Send had returned; by default that is 90 seconds.
//     Until then the request may still arrive. Measure the time with a monotonic clock, as
//     time.Since does. After a restart of the program, start counting again.
//   - One candidate: it is this send, if it has the addresses of your receivers in full and nobody
//     else sent the template to them. Otherwise let a person decide.
//   - Several candidates: let a person decide. Do not send again.
//
// FindSent does not find a document that the service does not list, such as a deleted one. It does
// not find a document in another workspace either, or one in which a signer's address was changed.
// Another send of the same template to the same people is a candidate too, however old. So send a
// template to the same receivers only once the last such send's outcome is known.
//
// The service may mask the addresses of signers. A mask that looks like an address, such as
// axx@example.com, counts as the address of another person. An empty result then proves nothing.
// With any other mask, all documents of the template are candidates, except those that exclude
// reports: resolve one unknown send of a template before you begin the next.
func (s *RespondentsService) FindSent(ctx context.Context, p TemplateSendParams, exclude func(documentID string) bool) ([]*Respondent, error) {
	var found []*Respondent
	for r, err := range s.All(ctx, RespondentListParams{TemplateID: p.TemplateID}) {
		if err != nil {
			return nil, err
		}
		if p.MayMatch(r) && (exclude == nil || !exclude(r.ID)) {
			found = append(found, r)
		}
	}
	return found, nil
}

// MayMatch reports whether r may be the document of this send. [RespondentsService.FindSent] uses
// it. With MayMatch, one pass over a template's respondents can serve many sends. MayMatch returns
// false in two cases only: r names another template, or r has its addresses in full
// ([Respondent.AddressesReadable]) and a receiver's address is not among them. Addresses are
// compared ignoring letter case and blanks at their ends. Further signers, such as those of the
// template, do not matter. A receiver whose own address is malformed is ignored. Times are not
// compared. A nil r may match.
func (p TemplateSendParams) MayMatch(r *Respondent) bool {
	switch {
	case r == nil:
		return true
	case isUUID(r.TemplateID) && !strings.EqualFold(r.TemplateID, p.TemplateID):
		return false
	case !r.AddressesReadable():
		return true
	}
	return !slices.ContainsFunc(p.Receivers, func(to Receiver) bool {
		return plainAddress(to.Email) && !slices.ContainsFunc(r.Signers, func(s Signer) bool {
			return strings.EqualFold(strings.TrimSpace(s.Email), strings.TrimSpace(to.Email))
		})
	})
}

// AddressesReadable reports whether the record has signers, and the address of each can be
// compared. An address cannot be compared in these cases:
//
//   - It is missing or masked.
//   - It has a name, two dots in a row, or no dot in its domain.
//   - It has characters that no address has, as most masks have.
//
// A mask that looks like an address, such as axx@example.com, counts as readable.
func (r *Respondent) AddressesReadable() bool {
	return len(r.Signers) > 0 && !slices.ContainsFunc(r.Signers, func(s Signer) bool { return !plainAddress(s.Email) })
}

var addressText = regexp.MustCompile(`^[\w!#$+/=?^{|}~'-]+(\.[\w!#$+/=?^{|}~'-]+)*@[\w-]+(\.[\w-]+)+$`)

// plainAddress reports whether an address can be compared as text: it is not a mask, and has no
// name.
func plainAddress(email string) bool {
	email = strings.ToLower(strings.TrimSpace(email))
	return addressText.MatchString(email) && !strings.Contains(email, "xn--")
}

// templateID returns the requested id if the id in the response is not a UUID, because a
// DocumentRef needs a UUID.
func templateID(answered, asked string) string {
	if isUUID(answered) || asked == "" {
		return answered
	}
	return asked
}
