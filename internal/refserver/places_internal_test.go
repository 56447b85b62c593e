package refserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// world is a service with the same records every time.
type world struct {
	*Server
	documents []string // Lease 0 to Lease 3, two days apart; 1 is archived, 2 is void
	template  string
	form      string
	responses []string
	endpoints map[signforms.Operation]signforms.Endpoint
}

// Client returns a client that writes inputs where the service reads them.
func (w *world) Client() *signforms.Client {
	c, err := signforms.New(w.URL, w.APIKey, &signforms.Options{WorkspaceID: w.WorkspaceID, Transport: w.HTTPClient().Transport, Endpoints: w.endpoints,
		RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond, LimitStore: signforms.NewMemoryLimitStore(w.Now)})
	if err != nil {
		panic(err)
	}
	return c
}

func newWorld(t *testing.T, op signforms.Operation, e signforms.Endpoint) *world {
	t.Helper()
	var place api.Place
	require.NoError(t, place.UnmarshalText([]byte(e.Inputs)))
	srv, err := Start(&Options{Start: time.Date(2026, 11, 20, 12, 0, 0, 1e6, time.UTC),
		Profile: Profile{Endpoints: map[Operation]Route{Operation(op): {Method: e.Method, Path: e.Path, Inputs: place}}}})
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	w := &world{Server: srv, endpoints: map[signforms.Operation]signforms.Endpoint{op: e}}
	w.template, err = w.AddTemplate(Template{Name: "Offer", Roles: []Role{{Title: "Buyer"}}, Variables: []string{"[fee]"}})
	require.NoError(t, err)
	w.form, err = w.AddForm(Form{Title: "Intake", Fields: []Field{{Question: "Name?"}}})
	require.NoError(t, err)
	for i := range 4 {
		id, err := w.AddDocument(Document{Name: fmt.Sprintf("Lease %d", i), Signers: []Signer{{Name: "Ann", Email: "ann@example.com"}}})
		require.NoError(t, err)
		w.documents = append(w.documents, id)
		response, err := w.SubmitForm(w.form, Submission{RespondentEmail: fmt.Sprintf("%d@example.com", i)})
		require.NoError(t, err)
		w.responses = append(w.responses, response)
		require.NoError(t, w.Advance(t.Context(), 48*time.Hour))
	}
	require.NoError(t, w.Archive(w.documents[1]))
	require.NoError(t, w.Void(w.documents[2]))
	return w
}

var buyer = signforms.Receiver{Name: "Bob", Email: "bob@example.com", RoleTitle: "Buyer", RoleColor: "#112233", Subject: "For Bob", Message: "Dear Bob"}

// offer makes a document from the template, by the service's own means.
func (w *world) offer(t *testing.T) (id string) {
	t.Helper()
	require.NoError(t, w.store.Update(func(tx *store.Tx) error {
		template, err := tx.Template(w.template)
		require.NoError(t, err)
		change, err := template.Instantiate(signing.SendParams{Receivers: []signing.Receiver{{Name: "Bob", Email: "bob@example.com", RoleTitle: "Buyer"}}}, w.ids, tx.Now)
		tx.Apply(change)
		id = change.Document.ID
		return err
	}))
	return id
}

// effects holds for each operation calls with every input, so that each has an effect of its own on the result.
var effects = map[signforms.Operation]func(*testing.T, *world, *signforms.Client) []string{
	signforms.OpListDocuments: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		lists := []signforms.DocumentListParams{
			{DocumentID: w.documents[3]}, {Query: "lease 0"}, {Page: 2, Limit: 3}, {Archived: new(true)}, {Archived: new(false)},
			{SortOrder: signforms.OldestFirst}, {SortOrder: signforms.NewestFirst},
			{DateFrom: w.Now().Add(-6 * 24 * time.Hour)}, {DateTo: w.Now().Add(-6*24*time.Hour + time.Hour)},
		}
		for _, s := range signing.Statuses {
			lists = append(lists, signforms.DocumentListParams{Status: signforms.DocumentStatus(s)})
		}
		for _, p := range lists {
			page, err := c.Documents.List(t.Context(), p)
			got = append(got, outcome(page, err, func(d signforms.Document) string { return d.Name }))
		}
		templates, err := c.Templates.List(t.Context(), signforms.TemplateListParams{})
		return append(got, outcome(templates, err, func(t signforms.Template) string { return t.Name }))
	},
	signforms.OpVoidDocument: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		for _, ref := range []signforms.DocumentRef{signforms.PDFDocument(w.documents[0]), signforms.TemplateDocument(w.template, w.offer(t))} {
			result, err := c.Documents.Void(t.Context(), ref)
			got = append(got, said(err, func() string { return result.Message }))
		}
		return got
	},
	signforms.OpRemind: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		for _, ref := range []signforms.DocumentRef{signforms.PDFDocument(w.documents[0]), signforms.TemplateDocument(w.template, w.offer(t))} {
			result, err := c.Documents.Remind(t.Context(), ref)
			got = append(got, said(err, func() string { return fmt.Sprint(*result.RemindersSent) }))
		}
		return got
	},
	signforms.OpSend: func(t *testing.T, w *world, c *signforms.Client) []string {
		sent, err := c.Templates.Send(t.Context(), signforms.TemplateSendParams{
			TemplateID: w.template, Receivers: []signforms.Receiver{buyer}, Mail: signforms.Mail{Subject: "Offer <1>", Message: "Please sign"},
			Variables: []signforms.Variable{{Name: "[fee]", Value: "10 €"}}, PDF: []byte("%PDF-1.7 of the offer"),
		})
		_, formErr := c.Forms.Send(t.Context(), signforms.FormSendParams{FormID: w.form, Receivers: []signforms.Receiver{buyer}})
		return []string{said(err, func() string { return w.sent(t, sent.DocumentID) }), said(formErr, func() string { return "form" })}
	},
	signforms.OpListRespondents: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		first := w.offer(t)
		require.NoError(t, w.Advance(t.Context(), time.Minute))
		second := w.offer(t)
		number := map[string]string{first: "first", second: "second"}
		for _, p := range []signforms.RespondentListParams{
			{TemplateID: w.template}, {TemplateID: w.template, Page: 2, Limit: 1},
		} {
			page, err := c.Respondents.List(t.Context(), p)
			got = append(got, outcome(page, err, func(r signforms.Respondent) string { return number[r.ID] }))
		}
		one, err := c.Respondents.Get(t.Context(), first)
		got = append(got, said(err, func() string { return number[one.ID] }))
		return got
	},
	signforms.OpListFormResponses: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		for _, p := range []signforms.FormResponseListParams{
			{FormID: w.form}, {FormID: w.form, Page: 2, Limit: 1},
		} {
			page, err := c.FormResponses.List(t.Context(), p)
			got = append(got, outcome(page, err, func(r signforms.FormResponse) string { return r.RespondentEmail }))
		}
		one, err := c.FormResponses.Get(t.Context(), w.responses[2])
		got = append(got, said(err, func() string { return one.RespondentEmail }))
		return got
	},
}

// refused is the result of a call that the service did not understand.
const refused = "refused"

func said(err error, result func() string) string {
	if err != nil {
		return refused
	}
	return result()
}

func outcome[T any](page *signforms.Page[T], err error, name func(T) string) string {
	return said(err, func() string {
		var names []string
		for _, item := range page.Items {
			names = append(names, name(item))
		}
		return fmt.Sprint(names)
	})
}

// sent returns what the service has of a send, without what it made up.
func (w *world) sent(t *testing.T, id string) string {
	t.Helper()
	var d signing.Document
	require.NoError(t, w.store.View(func(tx *store.Tx) (err error) {
		d, err = tx.Document(id)
		return err
	}))
	s := d.Signers[0]
	return fmt.Sprint(s.Name, s.Email, s.RoleTitle, s.RoleColour, s.Subject, s.Message, d.Mail, d.Variables, d.PDF.SHA256)
}

// TestAPI_everyInputInPathQueryAndBody: each input works as it does by default, in each place.
func TestAPI_everyInputInPathQueryAndBody(t *testing.T) {
	places := []signforms.Endpoint{
		{Method: "POST", Inputs: signforms.InputsQuery}, {Method: "POST", Inputs: signforms.InputsBody},
		{Method: "POST", Inputs: signforms.InputsBoth},
	}
	for op, effect := range effects {
		plain := newWorld(t, op, signforms.Endpoint{})
		want := effect(t, plain, plain.Client())
		require.NotContains(t, want, refused, op)
		for _, place := range places {
			t.Run(fmt.Sprint(place), func(t *testing.T) {
				if op == signforms.OpSend && place.Inputs != signforms.InputsBody {
					return
				}
				w := newWorld(t, op, place)
				require.Equal(t, want, effect(t, w, w.Client()), "%s %d", op, place.Inputs)
				require.Empty(t, notes(w), "nothing was ignored")
			})
		}
	}
}

// notes returns every note in the log of requests.
func notes(w *world) (notes []string) {
	for _, r := range w.Requests() {
		notes = append(notes, r.Notes...)
	}
	return notes
}
