package signformstest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
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
}

func newWorld(t *testing.T, op signforms.Operation, e signforms.Endpoint) *world {
	t.Helper()
	w := &world{Server: NewServer(t, &Options{Start: time.Date(2026, 11, 20, 12, 0, 0, 1e6, time.UTC),
		Profile: Profile{Endpoints: map[signforms.Operation]signforms.Endpoint{op: e}}})}
	w.template = w.AddTemplate(Template{Name: "Offer", Roles: []Role{{Title: "Buyer"}}, Variables: []string{"[fee]"}})
	w.form = w.AddForm(Form{Title: "Intake", Fields: []Field{{Question: "Name?"}}})
	for i := range 4 {
		w.documents = append(w.documents, w.AddDocument(Document{Name: fmt.Sprintf("Lease %d", i), Signers: []Signer{{Name: "Ann", Email: "ann@example.com"}}}))
		response, err := w.SubmitForm(w.form, Submission{RespondentEmail: fmt.Sprintf("%d@example.com", i)})
		require.NoError(t, err)
		w.responses = append(w.responses, response)
		w.Advance(48 * time.Hour)
	}
	require.NoError(t, w.Archive(w.documents[1]))
	require.NoError(t, w.Void(w.documents[2]))
	return w
}

func (w *world) client(t *testing.T, op signforms.Operation, e signforms.Endpoint) *signforms.Client {
	t.Helper()
	o := w.ClientOptions()
	o.Endpoints = map[signforms.Operation]signforms.Endpoint{op: e}
	c, err := signforms.New(w.URL, w.APIKey, o)
	require.NoError(t, err)
	return c
}

var buyer = signforms.Receiver{Name: "Bob", Email: "bob@example.com", RoleTitle: "Buyer", RoleColour: "#112233", Subject: "For Bob", Message: "Dear Bob"}

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

// effects holds for each operation calls with every input and every literal, so that each has an effect of its own on the result.
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
			got = append(got, outcome(page, err, func(d signforms.Document) string { return d.DocumentName }))
		}
		page, err := c.Templates.List(t.Context(), signforms.TemplateListParams{})
		return append(got, outcome(page, err, func(d signforms.Document) string { return d.DocumentName }))
	},
	signforms.OpVoidDocument: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		for _, ref := range []signforms.DocumentRef{signforms.PDFDocument(w.documents[0]), signforms.TemplateDocument(w.template, w.offer(t))} {
			result, err := c.Documents.Void(t.Context(), ref)
			got = append(got, said(err, func() string { return string(result.Status) }))
		}
		return got
	},
	signforms.OpSendReminder: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		for _, ref := range []signforms.DocumentRef{signforms.PDFDocument(w.documents[0]), signforms.TemplateDocument(w.template, w.offer(t))} {
			result, err := c.Documents.Remind(t.Context(), ref)
			got = append(got, said(err, func() string { return fmt.Sprint(*result.RemindersSent) }))
		}
		return got
	},
	signforms.OpSend: func(t *testing.T, w *world, c *signforms.Client) []string {
		sent, err := c.Templates.Send(t.Context(), signforms.TemplateSendParams{
			TemplateID: w.template, Receivers: []signforms.Receiver{buyer}, Mail: signforms.Mail{Subject: "Offer <1>", Message: "Please sign"},
			Variables: []signforms.CustomVariable{{Name: "[fee]", Value: "10 €"}}, PDF: []byte("%PDF-1.7 of the offer"),
		})
		_, formErr := c.Forms.Send(t.Context(), signforms.FormSendParams{FormID: w.form, Receivers: []signforms.Receiver{buyer}})
		return []string{said(err, func() string { return w.sent(t, sent.CreatedDocumentID) }), said(formErr, func() string { return "form" })}
	},
	signforms.OpListRespondents: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		first := w.offer(t)
		w.Advance(time.Minute)
		second := w.offer(t)
		number := map[string]string{first: "first", second: "second"}
		for _, p := range []signforms.RespondentListParams{
			{TemplateID: w.template}, {RespondentDocumentID: first}, {TemplateID: w.template, Page: 2, Limit: 1},
		} {
			page, err := c.Templates.Respondents(t.Context(), p)
			got = append(got, outcome(page, err, func(r signforms.Respondent) string { return number[r.RespondentDocumentID] }))
		}
		return got
	},
	signforms.OpListResponses: func(t *testing.T, w *world, c *signforms.Client) (got []string) {
		for _, p := range []signforms.ResponseListParams{
			{FormID: w.form}, {ResponseID: w.responses[2]}, {FormID: w.form, Page: 2, Limit: 1},
		} {
			page, err := c.Forms.Responses(t.Context(), p)
			got = append(got, outcome(page, err, func(r signforms.FormResponse) string { return r.RespondentEmail }))
		}
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

// mayHold returns what New lists for a wrong endpoint: every input of an operation, those with literals, or the literals.
func mayHold(t *testing.T, op signforms.Operation, wrong signforms.Endpoint) []string {
	t.Helper()
	_, err := signforms.New("http://service.test", "key", &signforms.Options{Endpoints: map[signforms.Operation]signforms.Endpoint{op: wrong}})
	require.Error(t, err)
	list := regexp.MustCompile(`it may hold (.*)`).FindStringSubmatch(err.Error())
	require.NotNil(t, list, err)
	return slices.DeleteFunc(strings.Split(list[1], ", "), func(s string) bool { return s == "nothing" })
}

// respellings returns every input under another name, every literal in another spelling, and pages from 0.
func respellings(t *testing.T, op signforms.Operation) map[string]signforms.Endpoint {
	t.Helper()
	all := map[string]signforms.Endpoint{}
	for _, input := range mayHold(t, op, signforms.Endpoint{Names: map[string]string{"?": "x"}}) {
		own := input[strings.LastIndex(input, ".")+1:]
		all["name of "+input] = signforms.Endpoint{Names: map[string]string{input: "the[" + own + "]é"}}
		if input == "page" {
			all["pages from 0"] = signforms.Endpoint{PagesFromZero: true}
		}
	}
	for _, input := range mayHold(t, op, signforms.Endpoint{Values: map[string]map[string]string{"?": nil}}) {
		for _, literal := range mayHold(t, op, signforms.Endpoint{Values: map[string]map[string]string{input: {"?": "x"}}}) {
			all["literal "+literal+" of "+input] = signforms.Endpoint{Values: map[string]map[string]string{input: {literal: "the[" + literal + "]é"}}}
		}
	}
	return all
}

// TestEveryInputCanBeSpelledOtherwise: in another spelling at both ends, each input works as it does by default, in each place. At one end
// alone, no input is understood.
func TestEveryInputCanBeSpelledOtherwise(t *testing.T) {
	places := []signforms.Endpoint{
		{Method: "POST", Inputs: signforms.InputsQuery}, {Method: "POST", Inputs: signforms.InputsBody},
		{Method: "POST", Inputs: signforms.InputsQuery | signforms.InputsBody},
	}
	for op, effect := range effects {
		for _, place := range places {
			if op == signforms.OpSend && place.Inputs != signforms.InputsBody {
				continue
			}
			run := func(service, client signforms.Endpoint) []string {
				w := newWorld(t, op, at(place, service))
				got := effect(t, w, w.client(t, op, at(place, client)))
				if reflect.DeepEqual(service, client) {
					require.Empty(t, notes(w), "nothing was ignored")
				}
				return got
			}
			want := run(signforms.Endpoint{}, signforms.Endpoint{})
			require.NotContains(t, want, refused, op)
			for name, e := range respellings(t, op) {
				t.Run(fmt.Sprintf("%s/%d/%s", op, place.Inputs, name), func(t *testing.T) {
					require.Equal(t, want, run(e, e))
					require.NotEqual(t, want, run(signforms.Endpoint{}, e), "the client alone")
					require.NotEqual(t, want, run(e, signforms.Endpoint{}), "the service alone")
				})
			}
		}
	}
}

// at returns e with the method and place of another endpoint.
func at(place, e signforms.Endpoint) signforms.Endpoint {
	e.Method, e.Inputs = place.Method, place.Inputs
	return e
}

// notes returns every note in the log of requests.
func notes(w *world) (notes []string) {
	for _, r := range w.Requests() {
		notes = append(notes, r.Notes...)
	}
	return notes
}

// TestEveryInputAtOnce gives all inputs of all operations other spellings together.
func TestEveryInputAtOnce(t *testing.T) {
	for op, effect := range effects {
		e := signforms.Endpoint{Names: map[string]string{}, Values: map[string]map[string]string{}}
		for _, one := range respellings(t, op) {
			maps.Copy(e.Names, one.Names)
			e.PagesFromZero = e.PagesFromZero || one.PagesFromZero
			for input, values := range one.Values {
				if e.Values[input] == nil {
					e.Values[input] = map[string]string{}
				}
				maps.Copy(e.Values[input], values)
			}
		}
		plain, respelled := newWorld(t, op, signforms.Endpoint{}), newWorld(t, op, e)
		require.Equal(t, effect(t, plain, plain.Client()), effect(t, respelled, respelled.Client()), op)
	}
}

// TestTimesCanHaveAnotherLayout: the bounds are 2 days apart from the next record, so that a layout of days selects the same.
func TestTimesCanHaveAnotherLayout(t *testing.T) {
	for layout, alone := range map[string][2]string{ // what comes of it where the client alone has it, and the service alone
		signforms.UnixSeconds:         {refused, refused},
		signforms.UnixMilliseconds:    {refused, refused},
		"02.01.2006 15:04":            {refused, refused},
		time.DateOnly:                 {"[Lease 2 Lease 1]", refused}, // by default the service takes days too
		"2006-01-02T15:04:05.000000Z": {"[Lease 2 Lease 1]", refused},
		"2006-01-02T15:04:05+00:00":   {"[Lease 2 Lease 1]", refused},
	} {
		for _, place := range []signforms.Endpoint{{}, {Method: "POST", Inputs: signforms.InputsBody}} {
			e := at(place, signforms.Endpoint{TimeLayout: layout})
			run := func(service, client signforms.Endpoint) string {
				w := newWorld(t, signforms.OpListDocuments, service)
				// The records are of 12:00:00.001 on four days.
				page, err := w.client(t, signforms.OpListDocuments, client).Documents.List(t.Context(), signforms.DocumentListParams{
					DateFrom: w.Now().Add(-6 * 24 * time.Hour), DateTo: w.Now().Add(-4 * 24 * time.Hour),
				})
				return outcome(page, err, func(d signforms.Document) string { return d.DocumentName })
			}
			require.Equal(t, "[Lease 2 Lease 1]", run(e, e), layout)
			require.Equal(t, alone[0], run(place, e), layout)
			require.Equal(t, alone[1], run(e, place), layout)
		}
	}
}

// TestAllFromPageZero reads several pages of each list that is counted from 0, and finds less where one end alone counts so.
func TestAllFromPageZero(t *testing.T) {
	lists := map[signforms.Operation]func(context.Context, *world, *signforms.Client) (int, error){
		signforms.OpListDocuments: func(ctx context.Context, _ *world, c *signforms.Client) (n int, err error) {
			for _, err := range c.Documents.All(ctx, signforms.DocumentListParams{Limit: 2}) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		},
		signforms.OpListRespondents: func(ctx context.Context, w *world, c *signforms.Client) (n int, err error) {
			for _, err := range c.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: w.template, Limit: 2}) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		},
		signforms.OpListResponses: func(ctx context.Context, w *world, c *signforms.Client) (n int, err error) {
			for _, err := range c.Forms.AllResponses(ctx, signforms.ResponseListParams{FormID: w.form, Limit: 2}) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		},
	}
	zero := signforms.Endpoint{PagesFromZero: true}
	for op, count := range lists {
		run := func(service, client signforms.Endpoint) (int, error) {
			w := newWorld(t, op, service)
			for range 4 {
				w.offer(t)
			}
			return count(t.Context(), w, w.client(t, op, client))
		}
		n, err := run(zero, zero)
		require.NoError(t, err, op)
		require.Equal(t, 4, n, op)
		_, err = run(signforms.Endpoint{}, zero)
		require.ErrorIs(t, err, signforms.ErrInvalid, "page 0 where pages begin at 1")
		n, _ = run(zero, signforms.Endpoint{})
		require.Less(t, n, 4, op)
	}
	w := newWorld(t, signforms.OpListDocuments, zero)
	page, err := w.Client().Documents.List(t.Context(), signforms.DocumentListParams{Page: 2, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, 1, page.Pagination.CurrentPage, "as the service reports it")
}
