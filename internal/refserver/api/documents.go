package api

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

const (
	typePDF      = "PDF"
	typeTemplate = "PDF_TEMPLATE"
	typeForm     = "FORM_TEMPLATE"
)

// listDocuments handles GET /get-documents.
func (a *API) listDocuments(c *Call) (any, error) {
	q, documentType, id := a.documentQuery(c)
	if err := c.inputError(); err != nil {
		return nil, err
	}
	body := documentsBody{Message: "Documents fetched successfully"}
	var documents store.Found[signing.Document]
	var templates store.Found[signing.Template]
	a.Store.View(func(tx *store.Tx) error {
		body.FormCount = tx.CountForms()
		if documentType == typeTemplate {
			templates = oneOrPage(id, q, tx.Template, tx.Templates, templateMatches)
		} else {
			documents = oneOrPage(id, q, tx.Document, tx.Documents, documentMatches)
		}
		return nil
	})
	if documentType == typeTemplate {
		page, total := templates()
		body.DocumentsCount, body.Documents = total, a.templateBodies(page)
	} else {
		page, total := documents()
		body.DocumentsCount, body.Documents = total, a.documentBodies(page)
	}
	if !a.Profile.NoPagination {
		body.Pagination = pagination(q.Page, body.DocumentsCount)
		body.Pagination.TotalDocuments = new(body.DocumentsCount)
	}
	if a.Profile.CountPage {
		body.DocumentsCount = len(body.Documents)
	}
	return body, nil
}

// documentQuery reads the filters, the paging and the sorting of a list of documents.
func (a *API) documentQuery(c *Call) (q store.Query, documentType, id string) {
	in := &c.input
	documentType = in.oneOf("documentType", typePDF, typeTemplate)
	id = in.uuid("documentId")
	q = store.Query{
		Status: a.statusFilter(in, documentType),
		Text:   in.text("query"),
		Page:   a.page(in, a.Profile.MaxLimit),
	}
	q.From, q.To = a.dates(in)
	if archive := in.scalar("archive"); archive != "" {
		q.Archived = new(in.choice("archive", archive, "true", "false") == "true")
	}
	q.Ascending = a.sortOrder(in) == "asc"
	return q, documentType, id
}

func (a *API) sortOrder(in *input) string {
	if a.Profile.OldestFirst {
		return in.oneOf("sortOrder", "asc", "desc")
	}
	return in.oneOf("sortOrder", "desc", "asc")
}

func (a *API) statusFilter(in *input, documentType string) signing.Status {
	s := in.text("status")
	if s == "" {
		return ""
	}
	if documentType == typeTemplate {
		in.problem("status must not be given with documentType %s", typeTemplate)
		return ""
	}
	var statuses []string
	for _, status := range signing.Statuses {
		statuses = append(statuses, a.statusText(status))
	}
	if text, ok := in.literal("status", s, statuses); ok {
		return signing.Statuses[slices.Index(statuses, text)]
	}
	in.problem("status must be one of %s", strings.Join(statuses, ", "))
	return ""
}

// statusText returns the status in the spelling of the service.
func (a *API) statusText(s signing.Status) string {
	if s == signing.StatusPending {
		return a.Profile.InProgress
	}
	return string(s)
}

// page reads page and limit. Only lists of documents have a documented maximum.
func (a *API) page(in *input, most int) store.Page {
	page, limit := in.number("page", 1, 1, math.MaxInt32), in.number("limit", a.Profile.PageSize, 1, most)
	limit = min(limit, most)
	return store.Page{Offset: int64(page-1) * int64(limit), Limit: limit}
}

// pagination returns the description of the page and the total.
func pagination(p store.Page, total int) *paginationBody {
	pages := total / p.Limit
	if total%p.Limit > 0 {
		pages++
	}
	return &paginationBody{CurrentPage: int(p.Offset/int64(p.Limit)) + 1, TotalPages: pages}
}

// oneOrPage returns the record with the id, if there is an id and the record matches the other
// filters. Without an id it returns a page.
func oneOrPage[T any](id string, q store.Query, get func(string) (T, error), list func(store.Query) store.Found[T], matches func(*T, store.Query) bool) store.Found[T] {
	if id == "" {
		return list(q)
	}
	v, err := get(id)
	return func() (page []*T, total int) {
		switch {
		case err != nil || !matches(&v, q):
			return nil, 0
		case q.Offset > 0:
			return nil, 1
		}
		return []*T{&v}, 1
	}
}

// documentMatches reports whether d matches the query. It need not check the kind, because the id
// of a document from a template is not a UUID.
func documentMatches(d *signing.Document, q store.Query) bool {
	return q.Matches(d.Name, d.Status, d.Archived, d.CreatedAt)
}

func templateMatches(t *signing.Template, q store.Query) bool {
	return q.Matches(t.Name, "", t.Archived, t.CreatedAt)
}

// documentBodies returns PDF documents as entries of a list.
func (a *API) documentBodies(documents []*signing.Document) []documentBody {
	out := make([]documentBody, len(documents))
	for i, d := range documents {
		out[i] = documentBody{
			DocumentID: d.ID, DocumentName: d.Name, DocumentURL: a.Links.Document(d.ID), FinishedPDFURL: a.finishedURL(d),
			AuthorEmail: d.AuthorEmail, Status: a.statusText(d.Status), SigningType: typePDF,
			IsSigningOrder: d.Ordered, IsArchived: d.Archived, IsAllSigned: d.AllSigned(), Signers: signerBodies(d),
			CreatedAt: timeText(d.CreatedAt), UpdatedAt: timeText(d.UpdatedAt),
		}
	}
	return out
}

// finishedURL returns the URL of the finished file, or "" until the document is completed.
func (a *API) finishedURL(d *signing.Document) string {
	if !d.Completed() {
		return ""
	}
	return a.Links.Finished(d.ID)
}

// voidDocument handles POST /void-document.
func (a *API) voidDocument(c *Call) (any, error) {
	change, err := a.act(c, signing.Document.Void)
	if err != nil {
		return nil, err
	}
	body := actBody{Message: "Document voided successfully", DocumentID: change.Document.SourceID(), Status: a.statusText(change.Document.Status)}
	if !change.Changed() {
		body.Message = "Document is already voided"
	}
	return body, nil
}

// sendReminder handles POST /send-reminder. The arrival of the request was counted before.
func (a *API) sendReminder(c *Call) (any, error) {
	change, err := a.act(c, signing.Document.Remind)
	if err != nil {
		return nil, err
	}
	body := actBody{
		Message: "Reminder sent successfully", DocumentID: change.Document.SourceID(), Status: a.statusText(change.Document.Status),
		RemindersSent: new(len(change.Messages)),
	}
	if len(change.Messages) == 0 {
		body.Message = "No signer is pending"
	}
	return body, nil
}

// act reads the reference to a document and runs the command on the document.
func (a *API) act(c *Call, command signing.Command) (signing.Change, error) {
	ref, err := a.documentRef(c)
	if err != nil {
		return signing.Change{}, err
	}
	return a.Store.Act(ref.id, func(d signing.Document, at time.Time) (signing.Change, error) {
		if !ref.names(&d) {
			return signing.Change{}, &store.Missing{What: "document", ID: ref.id, Instead: ": it is of another template"}
		}
		return command(d, at)
	})
}

// documentRef reads the reference to the document of a request.
func (a *API) documentRef(c *Call) (documentRef, error) {
	in := &c.input
	id := in.given("documentId", in.uuid("documentId"))
	ref := documentRef{id: id}
	if in.oneOf("documentType", typePDF, typeTemplate) == typeTemplate {
		ref.templateID, ref.id = id, in.given("responseId", in.objectID("responseId"))
	}
	return ref, c.inputError()
}

// documentRef is the reference to a document in a request.
type documentRef struct {
	id         string
	templateID string // empty: the document is a PDF
}

func (r documentRef) names(d *signing.Document) bool {
	return d.TemplateID == r.templateID
}
