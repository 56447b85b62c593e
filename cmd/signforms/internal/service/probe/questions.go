package probe

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go"
)

// question is one question about the service: the assumption of the SDK, and a function that makes
// the requests. It makes at most two requests; the question about dates makes four.
type question struct {
	title, assumed string
	ask            func(*run)
}

// The question about a wrong key is the last one, because a service may lock out a client with a
// wrong key.
var questions = []question{
	{"page size", "without a limit a page has 10 records", askPageSize},
	{"largest limit", "limit is at most 100, and more is refused with 400", askLargestLimit},
	{"page 2", "pages count from 1, and page 2 has other records than page 1", askSecondPage},
	{"totals", "pagination.totalDocuments counts the records of all pages, pagination.totalPages the pages", askTotals},
	{"order", "newest first by createdAt; with sortOrder=asc oldest first", askOrder},
	{"status filter", "only documents with the status asked for", askStatus},
	{"unknown status", "refused, or no documents", askUnknownStatus},
	{"archive", "archive=true shows archived documents alone, archive=false the others", askArchive},
	{"dates", "dateFrom and dateTo bound createdAt, each as a time in UTC with milliseconds or as a date", askDates},
	{"unknown id", "no record, or 404; what is no id is refused with 400", askUnknownID},
	{"respondents of a template", "GET /get-template-respondent lists the documents made from a template", askRespondents},
	{"responses to a form", "GET /get-form-responses lists the responses", askResponses},
	{"formats of times and ids", "times in UTC as 9999-99-99T99:99:99.999Z, ids as UUIDs or 24 hexadecimal digits",
		askFormats},
	{"key", "403 or 401, without a key and with a wrong one", askKey},
}

// shown is what is shown of a response.
type shown struct {
	fields  []string // of the records
	shapes  bool     // the forms of their values, in place of the values
	outside bool     // the values outside the list
}

// fields shows the values of some fields of the records.
func fields(names ...string) shown { return shown{fields: names} }

// documentFields are the fields of documents that questions are about.
var documentFields = fields("documentId", "status", "createdAt", "isArchived")

func (r *run) documents(p signforms.DocumentListParams, edit func(*http.Request), of shown) {
	r.ask(edit, of, func(ctx context.Context, c *signforms.Client) error {
		page, err := c.Documents.List(ctx, p)
		if err == nil {
			for i := range page.Items {
				r.saw(page.Items[i].CreatedAt)
			}
		}
		return err
	})
}

// saw records the creation time of a document.
func (r *run) saw(created time.Time) {
	if !created.IsZero() {
		r.created = append(r.created, created)
	}
}

func askPageSize(r *run) { r.documents(signforms.DocumentListParams{}, nil, fields("documentId")) }

func askLargestLimit(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 100}, nil, fields("documentId"))
	r.documents(signforms.DocumentListParams{Limit: 100}, set("limit", "101"), fields("documentId"))
}

func askSecondPage(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 2, Page: 1}, nil, fields("documentId"))
	r.documents(signforms.DocumentListParams{Limit: 2, Page: 2}, nil, fields("documentId"))
}

func askTotals(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 2, Page: 1}, nil, shown{outside: true})
}

func askOrder(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 5}, nil, fields("createdAt"))
	r.documents(signforms.DocumentListParams{Limit: 5, SortOrder: signforms.OldestFirst}, nil, fields("createdAt"))
}

func askStatus(r *run) {
	r.documents(signforms.DocumentListParams{Status: signforms.StatusPending}, nil, fields("status"))
	r.documents(signforms.DocumentListParams{Status: signforms.StatusSigned}, nil, fields("status"))
}

// noSuchStatus is a status that the service does not have.
const noSuchStatus = "NO_SUCH_STATUS"

func askUnknownStatus(r *run) {
	r.documents(signforms.DocumentListParams{Status: noSuchStatus}, nil, fields("status"))
}

func askArchive(r *run) {
	r.documents(signforms.DocumentListParams{Archived: new(true)}, nil, fields("isArchived"))
	r.documents(signforms.DocumentListParams{Archived: new(false)}, nil, fields("isArchived"))
}

// askDates requests the documents of a day in the middle of the observed days, as a time and as a
// date.
func askDates(r *run) {
	middle := time.Now().AddDate(0, -1, 0)
	if n := len(r.created); n > 0 {
		middle = r.created[n/2]
	}
	day := middle.UTC().Format(time.DateOnly)
	from, to := signforms.DocumentListParams{DateFrom: middle}, signforms.DocumentListParams{DateTo: middle}
	r.documents(from, nil, fields("createdAt"))
	r.documents(to, nil, fields("createdAt"))
	r.documents(from, set("dateFrom", day), fields("createdAt"))
	r.documents(to, set("dateTo", day), fields("createdAt"))
}

// notAnID is a text that is not an id.
const notAnID = "nothing"

func askUnknownID(r *run) {
	id := uuid.NewString()
	get := func(ctx context.Context, c *signforms.Client) error {
		_, err := c.Documents.Get(ctx, id)
		return err
	}
	r.ask(nil, documentFields, get)
	r.ask(set("documentId", notAnID), documentFields, get)
}

func askRespondents(r *run) {
	id := ""
	r.ask(nil, fields("documentId", "totalRespondants"), func(ctx context.Context, c *signforms.Client) error {
		page, err := c.Templates.List(ctx, signforms.TemplateListParams{Limit: 5})
		if err == nil && len(page.Items) > 0 {
			id = page.Items[0].ID
			for _, t := range page.Items { // a template with documents shows more
				if t.TotalRespondents > 0 {
					id = t.ID
					break
				}
			}
		}
		return err
	})
	if id == "" {
		r.note = "the SDK read no id of a template, so the documents of none were asked for"
		return
	}
	r.ask(nil, fields("respondentDocumentId", "templateId", "status"), func(ctx context.Context,
		c *signforms.Client) error {
		_, err := c.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: id, Limit: 5})
		return err
	})
}

func askResponses(r *run) {
	form := r.form
	if form == "" {
		form = uuid.NewString()
		r.note = "no form was named with --form: the id is a random one"
	}
	r.ask(nil, fields("responseId", "formId", "submittedAt"), func(ctx context.Context, c *signforms.Client) error {
		_, err := c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: form, Limit: 5})
		return err
	})
}

func askFormats(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 1}, nil, shown{fields: []string{"documentId", "createdAt", "updatedAt"}, shapes: true})
}

func askKey(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 1}, key(""), fields("documentId"))
	r.documents(signforms.DocumentListParams{Limit: 1}, key(r.stranger), fields("documentId"))
}
