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

// documentFields are the fields of documents that questions are about.
var documentFields = []string{"documentId", "status", "createdAt", "isArchived"}

func (r *run) documents(p signforms.DocumentListParams, edit func(*http.Request), fields ...string) {
	if len(fields) == 0 {
		fields = documentFields
	}
	r.ask(edit, fields, func(ctx context.Context, c *signforms.Client) error {
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

func askPageSize(r *run) { r.documents(signforms.DocumentListParams{}, nil, "documentId") }

func askLargestLimit(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 100}, nil, "documentId")
	r.documents(signforms.DocumentListParams{Limit: 100}, set("limit", "101"), "documentId")
}

func askSecondPage(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 2, Page: 1}, nil, "documentId")
	r.documents(signforms.DocumentListParams{Limit: 2, Page: 2}, nil, "documentId")
}

func askTotals(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 2, Page: 1}, nil, beside)
}

func askOrder(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 5}, nil, "createdAt")
	r.documents(signforms.DocumentListParams{Limit: 5, SortOrder: signforms.OldestFirst}, nil, "createdAt")
}

func askStatus(r *run) {
	r.documents(signforms.DocumentListParams{Status: signforms.StatusPending}, nil, "status")
	r.documents(signforms.DocumentListParams{Status: signforms.StatusSigned}, nil, "status")
}

// noSuchStatus is a status that the service does not have.
const noSuchStatus = "NO_SUCH_STATUS"

func askUnknownStatus(r *run) {
	r.documents(signforms.DocumentListParams{Status: noSuchStatus}, nil, "status")
}

func askArchive(r *run) {
	r.documents(signforms.DocumentListParams{Archived: new(true)}, nil, "isArchived")
	r.documents(signforms.DocumentListParams{Archived: new(false)}, nil, "isArchived")
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
	r.documents(from, nil, "createdAt")
	r.documents(to, nil, "createdAt")
	r.documents(from, set("dateFrom", day), "createdAt")
	r.documents(to, set("dateTo", day), "createdAt")
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
	r.ask(nil, []string{"documentId", "totalRespondants"}, func(ctx context.Context, c *signforms.Client) error {
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
	r.ask(nil, []string{"respondentDocumentId", "templateId", "status"}, func(ctx context.Context,
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
	r.ask(nil, []string{"responseId", "formId", "submittedAt"}, func(ctx context.Context, c *signforms.Client) error {
		_, err := c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: form, Limit: 5})
		return err
	})
}

func askFormats(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 1}, nil, shapeOf("documentId"), shapeOf("createdAt"),
		shapeOf("updatedAt"))
}

func askKey(r *run) {
	r.documents(signforms.DocumentListParams{Limit: 1}, key(""), "documentId")
	r.documents(signforms.DocumentListParams{Limit: 1}, key(r.stranger), "documentId")
}

// shapeOf requests the forms of a field's values in place of the values.
func shapeOf(field string) string { return shapeMark + field }

// shapeMark precedes the name of a field for which the forms of the values are printed. beside is
// not a field; it selects the values next to the list.
const (
	shapeMark = "#"
	beside    = "&"
)
