package signforms

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"
)

// Document is a PDF document or a template. Fields that an answer lacks are zero; what else it holds is in Page.Raw. Most
// fields are not documented by the service, but agreed on by clients or seen live.
type Document struct {
	DocumentID     string         `json:"documentId"`
	DocumentName   string         `json:"documentName"` // also read from name
	DocumentURL    string         `json:"documentUrl"`
	FinishedPDFURL string         `json:"finishedPdfUrl"`
	AuthorEmail    string         `json:"authorEmail"`
	Status         DocumentStatus `json:"status"`
	SigningType    SigningType    `json:"signingType"`    // also read from signType
	IsSigningOrder bool           `json:"isSigningOrder"` // also read from isSigningOrderData
	IsArchived     bool           `json:"isArchived"`
	IsAllSigned    bool           `json:"isAllSigned"`
	Signers        []Signer       `json:"signers"`
	// Roles, Respondents and the two totals are set for templates only.
	Roles       []Role               `json:"roles"`
	Respondents []TemplateRespondent `json:"templateRespondents"` // also read from respondentsOfDoc
	// TotalRespondents and TotalSignedRespondents are spelled totalRespondants on the wire.
	TotalRespondents       int       `json:"totalRespondants"`
	TotalSignedRespondents int       `json:"totalSignedRespondants"`
	CreatedAt              time.Time `json:"createdAt"`
	UpdatedAt              time.Time `json:"updatedAt"`
}

// Ref returns the reference by which a PDF document is voided or reminded. A template has none: its documents do, see
// [TemplateRespondent.Ref].
func (d *Document) Ref() DocumentRef {
	if d.SigningType == TypePDFTemplate {
		return TemplateDocument(d.DocumentID, "")
	}
	return PDFDocument(d.DocumentID)
}

// Signer is somebody who signs. Documents, respondents and send results fill different fields.
type Signer struct {
	// SignerID is, in send results, taken to be that of the webhook's events. Not documented by the service.
	SignerID       string       `json:"signerId"`
	Name           string       `json:"name"`
	Email          string       `json:"email"`
	Status         SignerStatus `json:"status"`
	RoleTitle      string       `json:"roleTitle"`
	SignerIP       string       `json:"signerIp"`
	HasDeclined    bool         `json:"hasDeclined"`
	SigningOrderNo int          `json:"signingOrderNo"` // from 1; 0 when there is no order
	// SentURL is the signer's link, in send results only.
	SentURL SigningLink `json:"sentUrl"`
}

// Role is a role of a template. Its content is not documented by the service.
type Role struct {
	RoleTitle  string `json:"roleTitle"`
	RoleColour string `json:"roleColour"`
}

// TemplateRespondent is a document made from a template, as the template lists it. Its content is not documented by the
// service; [TemplatesService.Respondent] has the whole record.
type TemplateRespondent struct {
	RespondentDocumentID string         `json:"respondentDocumentId"`
	Status               DocumentStatus `json:"status"`
	CreatedAt            time.Time      `json:"createdAt"`
	Signers              []Signer       `json:"signers"`

	templateID string
}

// Ref returns the reference by which the document is voided or reminded.
func (r *TemplateRespondent) Ref() DocumentRef {
	return TemplateDocument(r.templateID, r.RespondentDocumentID)
}

// documentAnswer is a Document with the other spellings that clients have met.
type documentAnswer struct {
	Document
	Name               string               `json:"name"`
	SignType           SigningType          `json:"signType"`
	IsSigningOrderData bool                 `json:"isSigningOrderData"`
	RespondentsOfDoc   []TemplateRespondent `json:"respondentsOfDoc"`
}

func (a *documentAnswer) record() Document {
	d := a.Document
	d.DocumentName = cmp.Or(d.DocumentName, a.Name)
	d.SigningType = cmp.Or(d.SigningType, a.SignType)
	d.IsSigningOrder = d.IsSigningOrder || a.IsSigningOrderData
	d.Status = d.Status.normal()
	if d.Respondents == nil {
		d.Respondents = a.RespondentsOfDoc
	}
	for i := range d.Respondents {
		r := &d.Respondents[i]
		r.Status, r.templateID = r.Status.normal(), d.DocumentID
	}
	return d
}

// DocumentListParams filters a list of documents. The zero value lists all, newest first, ten to a page.
type DocumentListParams struct {
	Status     DocumentStatus // any text is sent as it is
	DocumentID string         // UUID
	// DateFrom and DateTo bound the creation, both inclusive, to the millisecond. Their format on the wire is not documented
	// by the service.
	DateFrom, DateTo time.Time
	// Archived lists only archived documents or only others; nil does not filter. That absence does not filter is not
	// documented by the service.
	Archived  *bool
	SortOrder SortOrder // default: NewestFirst
	// Page is from 1; 0 means the first. All starts at the first, whatever it is.
	Page int
	// Limit is how many to a page, 1 to 100. Default: 100 for All, and for List the service's own, which is taken to be 10
	// (not documented by the service).
	Limit int
	// Query is free text that the name must hold.
	Query string
}

func (p DocumentListParams) inputs(t SigningType) (inputs, error) {
	var c checks
	if p.DocumentID != "" {
		c.uuid("DocumentID", p.DocumentID)
	}
	if !p.DateFrom.IsZero() && !p.DateTo.IsZero() && p.DateFrom.After(p.DateTo) {
		c.add("DateFrom", "must not be after DateTo")
	}
	if p.SortOrder != "" && p.SortOrder != OldestFirst && p.SortOrder != NewestFirst {
		c.add("SortOrder", "must be OldestFirst or NewestFirst")
	}
	c.text("Status", string(p.Status))
	c.text("Query", p.Query)
	c.page(p.Page, p.Limit, 100)
	if len(c) > 0 {
		return nil, c.err(OpListDocuments)
	}
	var in inputs
	in.str("documentType", string(t))
	in.str("status", string(p.Status))
	in.str("documentId", p.DocumentID)
	in.time("dateFrom", p.DateFrom)
	in.time("dateTo", p.DateTo)
	in.flag("archive", p.Archived)
	in.str("sortOrder", string(p.SortOrder))
	in.num("page", p.Page)
	in.num("limit", p.Limit)
	in.str("query", p.Query)
	return in, nil
}

// List returns one page of PDF documents: that with the number p.Page. For all of them, range over All.
func (s *DocumentsService) List(ctx context.Context, p DocumentListParams) (*Page[Document], error) {
	return s.c.listDocuments(ctx, TypePDF, p)
}

// All yields every PDF document that matches, in pages of 100 unless p.Limit says otherwise; the next page is fetched
// while the caller works on this one. It stops at the first error, which it yields. See the package documentation for what
// it does about lists that move while they are read; without a reported total it cannot see records vanish, so collect a
// filtered list before acting on it.
func (s *DocumentsService) All(ctx context.Context, p DocumentListParams) iter.Seq2[*Document, error] {
	return s.c.allDocuments(ctx, TypePDF, p)
}

// Get returns one PDF document. ErrNotFound when the service has none with this id. A document made from a template is read
// with [TemplatesService.Respondent] instead.
func (s *DocumentsService) Get(ctx context.Context, documentID string) (*Document, error) {
	return s.c.getDocument(ctx, TypePDF, "documentID", documentID)
}

// VoidResult is what voiding did.
type VoidResult struct {
	Message    string         `json:"message"`
	DocumentID string         `json:"documentId"` // not documented by the service
	Status     DocumentStatus `json:"status"`     // not documented by the service
	// AlreadyVoided is true when the message says so. An earlier attempt of the same call may have done it.
	AlreadyVoided bool `json:"-"`
	// Raw is the answer as it came.
	Raw RawAnswer `json:"-"`
}

// Void voids a document. Voiding it again is no error. ErrRefused: the status forbids it, see [DocumentStatus.CanVoid].
func (s *DocumentsService) Void(ctx context.Context, ref DocumentRef) (*VoidResult, error) {
	in, err := ref.inputs(OpVoidDocument)
	if err != nil {
		return nil, err
	}
	var res VoidResult
	if res.Raw, err = s.c.do(ctx, call{op: OpVoidDocument, in: in}, &res); err != nil {
		return nil, err
	}
	res.Status = res.Status.normal()
	res.AlreadyVoided = strings.Contains(strings.ToLower(res.Message), "already")
	return &res, nil
}

type documentsAnswer struct {
	Message        string           `json:"message"`
	Documents      []documentAnswer `json:"documents"`
	DocumentsCount int              `json:"documentsCount"`
	FormCount      int              `json:"formCount"`
	Pagination     *paginationField `json:"pagination"`
}

func (c *caller) listDocuments(ctx context.Context, t SigningType, p DocumentListParams) (*Page[Document], error) {
	in, err := p.inputs(t)
	if err != nil {
		return nil, err
	}
	answer := documentsAnswer{Documents: make([]documentAnswer, 0, cmp.Or(p.Limit, 10))} // saves growing and copying
	run, err := c.carryOut(ctx, call{op: OpListDocuments, in: in}, &answer)
	if err != nil {
		return nil, err
	}
	records := make([]Document, len(answer.Documents))
	for i := range answer.Documents {
		records[i] = answer.Documents[i].record()
	}
	page := newPage(records, p.Page, answer.Message, answer.Pagination, run)
	page.DocumentsCount, page.FormCount = answer.DocumentsCount, answer.FormCount
	return page, nil
}

func (c *caller) allDocuments(ctx context.Context, t SigningType, p DocumentListParams) iter.Seq2[*Document, error] {
	if p.Limit == 0 {
		p.Limit = allLimit
	}
	return func(yield func(*Document, error) bool) {
		p := p // a sequence may be ranged over again
		list := lister[Document]{id: func(d *Document) string { return d.DocumentID }}
		list.fetch = func(ctx context.Context, number int) (*Page[Document], error) {
			p.Page = number
			page, err := c.listDocuments(ctx, t, p)
			if err == nil && number == 1 && p.DateTo.IsZero() && p.SortOrder != OldestFirst {
				p.DateTo = newest(page.Items, p.DateFrom) // what is created from now on would move every later page
			}
			return page, err
		}
		list.all(ctx)(yield)
	}
}

// newest returns the creation of a list's first document, rounded up so that a bound sent with milliseconds includes it.
// It is zero where that would be no bound for the rest: the service sorts in another order, or gives no times or odd ones.
func newest(docs []Document, from time.Time) time.Time {
	var bound time.Time
	for i, d := range docs {
		if i == 0 {
			bound = d.CreatedAt
		}
		if d.CreatedAt.After(bound) || d.CreatedAt.Before(from) {
			return time.Time{}
		}
	}
	if ms := bound.Truncate(time.Millisecond); ms.Before(bound) {
		return ms.Add(time.Millisecond)
	}
	return bound
}

func (c *caller) getDocument(ctx context.Context, t SigningType, field, id string) (*Document, error) {
	var checked checks
	checked.uuid(field, id)
	if err := checked.err(OpListDocuments); err != nil {
		return nil, err
	}
	page, err := c.listDocuments(ctx, t, DocumentListParams{DocumentID: id})
	if err != nil {
		return nil, err
	}
	return page.only(id, func(d *Document) string { return d.DocumentID })
}
