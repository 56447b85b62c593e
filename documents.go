package signforms

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/signforms/signforms-go/internal/paging"
)

// DocumentsService lists, voids and reminds documents. It is Client.Documents. Its lists contain only PDF documents:
// [RespondentsService] has the documents made from templates. Void and Remind accept the Ref of both.
type DocumentsService struct{ c *caller }

// Document is a PDF document or a template. A field is zero when the answer lacks it or has a value of another type.
// Page.Raw holds what this type leaves out. Most fields are not documented by the service: several clients agree on
// them, or their authors saw them live. A fill tag names another key from which the field is read.
type Document struct {
	ID             string         `json:"documentId"`
	Name           string         `json:"documentName" fill:"also=name"`
	URL            string         `json:"documentUrl"`
	FinishedPDFURL string         `json:"finishedPdfUrl"`
	AuthorEmail    string         `json:"authorEmail"`
	Status         DocumentStatus `json:"status"`
	SigningType    SigningType    `json:"signingType" fill:"also=signType"`
	IsSigningOrder bool           `json:"isSigningOrder" fill:"also=isSigningOrderData"`
	IsArchived     bool           `json:"isArchived"`
	IsAllSigned    bool           `json:"isAllSigned"`
	Signers        []Signer       `json:"signers"`
	// Roles, Respondents and the two totals are set for templates only. What a template says of its respondents is not
	// documented by the service; [RespondentsService.Get] has the whole record.
	Roles       []Role       `json:"roles"`
	Respondents []Respondent `json:"templateRespondents" fill:"also=respondentsOfDoc"`
	// The service spells these two keys totalRespondants and totalSignedRespondants.
	TotalRespondents       int       `json:"totalRespondants"`
	TotalSignedRespondents int       `json:"totalSignedRespondants"`
	CreatedAt              time.Time `json:"createdAt"`
	UpdatedAt              time.Time `json:"updatedAt"`
}

// Ref returns the reference for Void and Remind. They refuse the reference of a template, with an error that matches
// ErrInvalid; the documents made from it have their own: see [Respondent.Ref].
func (d *Document) Ref() DocumentRef {
	if d.SigningType == TypePDFTemplate {
		return TemplateDocument(d.ID, "")
	}
	return PDFDocument(d.ID)
}

// normalise brings statuses into one spelling and sets the template's id where the answer lacks it.
func (d *Document) normalise() {
	d.Status = d.Status.normal()
	for i := range d.Respondents {
		r := &d.Respondents[i]
		r.Status, r.TemplateID = r.Status.normal(), templateID(r.TemplateID, d.ID)
	}
}

// DocumentListParams filters a list of documents or templates. The zero value lists all of them, newest first.
type DocumentListParams struct {
	Status     DocumentStatus // for documents; unknown values are sent too
	DocumentID string         // of a document or template, a UUID: the list has this one only
	// DateFrom and DateTo limit the time of creation, with millisecond precision. Both ends are assumed to be included.
	// Neither that nor the format on the wire is documented by the service. A service that reads a bound differently may
	// leave documents out, which All cannot notice.
	DateFrom, DateTo time.Time
	// Archived selects archived documents (true) or the others (false). Nil selects both, which is not documented by the
	// service.
	Archived  *bool
	SortOrder SortOrder // default: NewestFirst
	// Page is 1-based; 0 means 1. All ignores it.
	Page int
	// Limit is the page size, 1 to 100. Default: 100 for All; for List the service's own default, which is assumed to be
	// 10 (not documented by the service).
	Limit int
	// Query is text that the document's name must contain.
	Query string
}

func (p DocumentListParams) inputs(m method, t SigningType) (inputs, error) {
	var c checks
	if p.DocumentID != "" {
		c.uuid("DocumentID", p.DocumentID)
	}
	if !p.DateFrom.IsZero() && !p.DateTo.IsZero() && p.DateFrom.After(p.DateTo) {
		c.add("DateFrom", "must not be after the end of the period")
	}
	if p.SortOrder != "" && p.SortOrder != OldestFirst && p.SortOrder != NewestFirst {
		c.add("SortOrder", "must be OldestFirst or NewestFirst")
	}
	c.text("Status", string(p.Status))
	c.text("Query", p.Query)
	c.page(p.Page, p.Limit, 100)
	if len(c) > 0 {
		return nil, c.err(m)
	}
	in := inputs{}
	in.set("documentType", string(t))
	in.set("status", string(p.Status))
	in.set("documentId", p.DocumentID)
	in.setTime("dateFrom", p.DateFrom)
	in.setTime("dateTo", p.DateTo)
	if p.Archived != nil {
		in["archive"] = *p.Archived
	}
	in.set("sortOrder", string(p.SortOrder))
	in.set("page", p.Page)
	in.set("limit", p.Limit)
	in.set("query", p.Query)
	return in, nil
}

// List returns page p.Page of the PDF documents. To read every page, range over All. An answer, shortened:
//
//	{"documents": [{"documentId": "602c2631-2d49-4647-a609-75331ebb0338", "documentName": "Lease", "status": "PENDING", "signingType": "PDF",
//	  "createdAt": "2026-11-18T10:15:30.125Z", "signers": [{"name": "Ann", "email": "ann@example.com", "status": "SIGNED"}]}],
//	 "documentsCount": 1, "pagination": {"currentPage": 1, "totalPages": 1, "totalDocuments": 1}}
func (s *DocumentsService) List(ctx context.Context, p DocumentListParams) (*Page[Document], error) {
	return s.c.listDocuments(ctx, listDocuments, TypePDF, p)
}

// All yields every PDF document that matches, each once. It fetches pages of at most p.Limit documents (or 16, if that
// is more), by default 100. At the first error All yields that error and stops. The error matches [ErrIncomplete] if
// documents may be missing: see "Whole lists" in the package documentation, which also says what a list costs.
// Documents that were created or changed meanwhile may or may not be among those yielded.
func (s *DocumentsService) All(ctx context.Context, p DocumentListParams) iter.Seq2[*Document, error] {
	return s.c.allDocuments(ctx, listDocuments, TypePDF, p)
}

// Get returns one PDF document, or ErrNotFound when the service has none with this id. For a document made from a
// template, use [RespondentsService.Get]. The answer is a list, as for List.
func (s *DocumentsService) Get(ctx context.Context, documentID string) (*Document, error) {
	return s.c.getDocument(ctx, getDocument, TypePDF, "documentID", documentID)
}

// VoidResult is the answer to Void.
type VoidResult struct {
	Message    string         `json:"message"`
	DocumentID string         `json:"documentId"` // not documented by the service
	Status     DocumentStatus `json:"status"`     // not documented by the service
	// AlreadyVoided is true when the message says "already" directly before or after "void" or "voided". An earlier
	// attempt of the same call may have voided it.
	AlreadyVoided bool `json:"-"`
	// Raw is the answer as received.
	Raw RawResponse `json:"-"`
}

// Void voids a document. Voiding it again succeeds too. The error matches ErrRefused when the document's status does
// not allow it: see [DocumentStatus.CanVoid]. It also does when an answer with HTTP status 200 has such a status. An
// answer with status 200 may leave a doubt: "not" in its message, or the status PENDING. Then Void repeats the request,
// which is harmless, and at last returns ErrUnavailable. An answer, of which only the HTTP status is documented:
//
//	{"message": "Document voided successfully", "documentId": "602c2631-2d49-4647-a609-75331ebb0338", "status": "VOID"}
func (s *DocumentsService) Void(ctx context.Context, ref DocumentRef) (*VoidResult, error) {
	in, err := ref.inputs(voidDocument)
	if err != nil {
		return nil, err
	}
	var answer wireVoid
	run, err := s.c.perform(ctx, request{method: voidDocument, in: in, again: voidInDoubt}, &answer)
	if err != nil {
		return nil, err
	}
	return &VoidResult{Message: answer.message(), DocumentID: answer.documentID(), Status: answer.status(),
		AlreadyVoided: answer.already(), Raw: run.last.Body}, nil
}

type wireDocuments struct {
	wirePage
	Documents []Document `json:"documents" fill:"list"`
}

func (w *wireDocuments) missing(r *run) string {
	return w.missingList("documents", w.Documents != nil, r)
}

func (c *caller) listDocuments(ctx context.Context, m method, t SigningType, p DocumentListParams) (*Page[Document], error) {
	in, err := p.inputs(m, t)
	if err != nil {
		return nil, err
	}
	var answer wireDocuments
	run, err := c.perform(ctx, request{method: m, in: in}, &answer)
	if err != nil {
		return nil, err
	}
	for i := range answer.Documents {
		answer.Documents[i].normalise()
	}
	return newPage(answer.Documents, p.Page, answer.wirePage, run), nil
}

func (c *caller) allDocuments(ctx context.Context, m method, t SigningType, p DocumentListParams) iter.Seq2[*Document, error] {
	return list[Document]{
		limit: cmp.Or(p.Limit, allLimit),
		id:    func(d *Document) string { return d.ID },
		at:    func(d *Document) time.Time { return d.CreatedAt },
		fetch: func(ctx context.Context, r paging.Request) (*Page[Document], error) {
			p := p
			p.Page, p.Limit = r.Page, r.Limit
			return c.listDocuments(ctx, m, t, p)
		},
	}.all(ctx)
}

func (c *caller) getDocument(ctx context.Context, m method, t SigningType, field, id string) (*Document, error) {
	var checked checks
	checked.uuid(field, id)
	if err := checked.err(m); err != nil {
		return nil, err
	}
	page, err := c.listDocuments(ctx, m, t, DocumentListParams{DocumentID: id})
	if err != nil {
		return nil, err
	}
	return page.only(id, func(d *Document) string { return d.ID })
}
