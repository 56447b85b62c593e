package signforms

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
)

// Document is a PDF document or a template. Fields that an answer lacks, or has as another kind, are zero; what else it
// holds is in Page.Raw. Most fields are not documented by the service, but agreed on by clients or seen live. A fill tag
// names another key from which a field is read.
type Document struct {
	DocumentID     string         `json:"documentId"`
	DocumentName   string         `json:"documentName" fill:"also=name"`
	DocumentURL    string         `json:"documentUrl"`
	FinishedPDFURL string         `json:"finishedPdfUrl"`
	AuthorEmail    string         `json:"authorEmail"`
	Status         DocumentStatus `json:"status"`
	SigningType    SigningType    `json:"signingType" fill:"also=signType"`
	IsSigningOrder bool           `json:"isSigningOrder" fill:"also=isSigningOrderData"`
	IsArchived     bool           `json:"isArchived"`
	IsAllSigned    bool           `json:"isAllSigned"`
	Signers        []Signer       `json:"signers"`
	// Roles, Respondents and the two totals are set for templates only.
	Roles       []Role               `json:"roles"`
	Respondents []TemplateRespondent `json:"templateRespondents" fill:"also=respondentsOfDoc"`
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
	RespondentDocumentID string `json:"respondentDocumentId"`
	// TemplateID is that of the template, which need not be in the answer.
	TemplateID string         `json:"templateId"`
	Status     DocumentStatus `json:"status"`
	CreatedAt  time.Time      `json:"createdAt"`
	Signers    []Signer       `json:"signers"`
}

// Ref returns the reference by which the document is voided or reminded.
func (r *TemplateRespondent) Ref() DocumentRef {
	return TemplateDocument(r.TemplateID, r.RespondentDocumentID)
}

// normalise brings what an answer leaves open into one form.
func (d *Document) normalise() {
	d.Status = d.Status.normal()
	for i := range d.Respondents {
		r := &d.Respondents[i]
		r.Status, r.TemplateID = r.Status.normal(), cmp.Or(r.TemplateID, d.DocumentID)
	}
}

// DocumentListParams filters a list of documents. The zero value lists all, newest first, ten to a page.
type DocumentListParams struct {
	Status     DocumentStatus // any text is sent as it is
	DocumentID string         // UUID
	// DateFrom and DateTo bound the creation, to the millisecond. They are taken to include their own instant; neither that
	// nor their format on the wire is documented by the service. All cannot check a DateTo that the caller sets: a service
	// that reads it otherwise leaves documents out in silence.
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

func (p DocumentListParams) inputs(m method, t SigningType) (inputs, error) {
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
		return nil, c.err(m)
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
	return s.c.listDocuments(ctx, listDocuments, TypePDF, p)
}

// All yields every PDF document that matches, in pages of 100 unless p.Limit says otherwise; the next page is fetched
// while the caller works on this one. A list of several pages takes one request more. All stops at the first error, which
// it yields.
//
// See the package documentation for what it does about lists that move while they are read. Without a reported total it
// cannot see records vanish, so collect a filtered list before acting on it.
func (s *DocumentsService) All(ctx context.Context, p DocumentListParams) iter.Seq2[*Document, error] {
	return s.c.allDocuments(ctx, listDocuments, TypePDF, p)
}

// Get returns one PDF document. ErrNotFound when the service has none with this id. A document made from a template is read
// with [TemplatesService.Respondent] instead.
func (s *DocumentsService) Get(ctx context.Context, documentID string) (*Document, error) {
	return s.c.getDocument(ctx, getDocument, TypePDF, "documentID", documentID)
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
	in, err := ref.inputs(voidDocument)
	if err != nil {
		return nil, err
	}
	var res VoidResult
	if res.Raw, err = s.c.do(ctx, call{method: voidDocument, in: in}, &res); err != nil {
		return nil, err
	}
	res.Status = res.Status.normal()
	res.AlreadyVoided = strings.Contains(strings.ToLower(res.Message), "already")
	return &res, nil
}

func (r *VoidResult) setMessage(m string) { r.Message = m }

type wireDocuments struct {
	wirePage
	Documents []Document `json:"documents" fill:"list"`
	FormCount int        `json:"formCount"`
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
	run, err := c.carryOut(ctx, call{method: m, in: in}, &answer)
	if err != nil {
		return nil, err
	}
	for i := range answer.Documents {
		answer.Documents[i].normalise()
	}
	page := newPage(answer.Documents, p.Page, answer.wirePage, run)
	page.DocumentsCount, page.FormCount = value(answer.DocumentsCount), answer.FormCount
	return page, nil
}

func (c *caller) allDocuments(ctx context.Context, m method, t SigningType, p DocumentListParams) iter.Seq2[*Document, error] {
	p.Limit = cmp.Or(p.Limit, allLimit)
	return func(yield func(*Document, error) bool) {
		reader := documentReader{p: p, list: func(ctx context.Context, p DocumentListParams) (*Page[Document], error) {
			return c.listDocuments(ctx, m, t, p)
		}} // a sequence may be ranged over again
		lister[Document]{id: func(d *Document) string { return d.DocumentID }, fetch: reader.fetch}.all(ctx)(yield)
	}
}

// documentReader fetches the pages of one list for an All method.
type documentReader struct {
	p    DocumentListParams
	list func(context.Context, DocumentListParams) (*Page[Document], error)
	// bound is to keep what is created from now on out of the list, where it would move every later page. It is zero where it
	// is not wanted or was settled. first is the id of the document that it was made of.
	bound time.Time
	first string
	// counted is set when documentsCount is known to count the whole list.
	counted bool
}

func (r *documentReader) fetch(ctx context.Context, number int) (*Page[Document], error) {
	if err := r.settleBound(ctx); err != nil {
		return nil, err
	}
	p := r.p
	p.Page = number
	page, err := r.list(ctx, p)
	if err != nil {
		return nil, err
	}
	if r.first == "" && number == 1 && p.DateTo.IsZero() && p.SortOrder != OldestFirst && len(page.Items) > 0 {
		r.bound, r.first = newest(page.Items, p.DateFrom), page.Items[0].DocumentID
	}
	r.count(page)
	return page, nil
}

// settleBound asks for the first page once more, with the bound, and keeps the bound only if the document that it was made
// of is still there. That dateTo includes its own instant is an assumption: a service that does not, or that cuts it to the
// day, would leave out documents that nobody has seen yet.
func (r *documentReader) settleBound(ctx context.Context) error {
	if r.bound.IsZero() || r.first == "" {
		return nil
	}
	p := r.p
	p.Page, p.DateTo = 1, r.bound
	r.bound = time.Time{}
	page, err := r.list(ctx, p)
	switch {
	case errors.Is(err, ErrInvalid): // the service takes no such time
		return nil
	case err != nil:
		return err
	}
	if slices.ContainsFunc(page.Items, func(d Document) bool { return d.DocumentID == r.first }) {
		r.p.DateTo = p.DateTo
	}
	return nil
}

// count takes documentsCount for the total where there is no pagination, once it was more than what a full page held:
// whether it counts the page or the list is not documented.
func (r *documentReader) count(page *Page[Document]) {
	n := page.count
	if n == nil || page.Pagination != nil {
		return
	}
	r.counted = r.counted || *n > len(page.Items) && len(page.Items) >= r.p.Limit
	if r.counted && *n >= len(page.Items) {
		page.total = n
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
	return page.only(id, func(d *Document) string { return d.DocumentID })
}
