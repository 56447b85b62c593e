package openapicheck_test

import (
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	signforms "github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/openapicheck"
	"github.com/signforms/signforms-go/signformstest"
)

const odd = "A & B <c> \"d\" \u2028 é 😀"

// setup is the client and the reference service with a Recorder between them.
type setup struct {
	t        *testing.T
	srv      *signformstest.Server
	recorder *openapicheck.Recorder
	client   *signforms.Client

	template, form, document string
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	w := &setup{t: t, srv: signformstest.NewServer(t, nil)}
	w.recorder = openapicheck.NewRecorder(load(t, openapicheck.Strict), nil)
	w.client = w.newClient(w.srv.APIKey)
	w.template = w.srv.AddTemplate(signformstest.Template{
		Name: "Engagement " + odd, Roles: []signformstest.Role{{Title: "Client " + odd, Colour: "#1F6FEB"}, {Title: "Counsel"}},
		SigningOrder: true, Variables: []string{"[fee]"},
	})
	w.form = w.srv.AddForm(signformstest.Form{Title: "Intake", Questions: []signformstest.Question{{Question: "Name", Required: true}}})
	w.document = w.addDocument()
	return w
}

// newClient returns a client with a reminder budget of its own.
func (w *setup) newClient(key string) *signforms.Client {
	w.t.Helper()
	client, err := signforms.New(w.srv.URL, key, &signforms.Options{
		WorkspaceID: w.srv.WorkspaceID,
		Transport:   w.recorder,
		LimitStore:  signforms.NewMemoryLimitStore(nil),
		MaxAttempts: 1,
	})
	require.NoError(w.t, err)
	return client
}

func (w *setup) addDocument() string {
	w.t.Helper()
	return w.srv.AddDocument(signformstest.Document{
		Name:    "Lease " + odd,
		Signers: []signformstest.Signer{{Name: "Ann " + odd, Email: "ann@example.com"}, {Name: "Ben", Email: "ben@example.com"}},
	})
}

func (w *setup) send() *signforms.TemplateSendResult {
	w.t.Helper()
	sent, err := w.client.Templates.Send(w.t.Context(), signforms.TemplateSendParams{
		TemplateID: w.template,
		Receivers: []signforms.Receiver{
			{Name: "Ann " + odd, Email: "ann@example.com", RoleTitle: "Client " + odd, RoleColor: "#1F6FEB", Subject: odd, Message: odd},
			{Name: "Ben", Email: "ben@example.com", RoleTitle: "Counsel"},
		},
		Mail:      signforms.Mail{Subject: "Please sign", Message: "By Friday."},
		Variables: []signforms.Variable{{Name: "[fee]", Value: odd}},
		PDF:       []byte("%PDF-1.4\n%%EOF\n"),
	})
	require.NoError(w.t, err)
	return sent
}

func (w *setup) sign(documentID string, emails ...string) {
	w.t.Helper()
	for _, email := range emails {
		require.NoError(w.t, w.srv.Signer(documentID, email).View())
		require.NoError(w.t, w.srv.Signer(documentID, email).Sign())
	}
}

// Every operation with every input, every answer that the client can bring about, both ends as they are: what goes
// over the wire keeps to the description, and nothing that is described goes unused.
func TestEndToEnd(t *testing.T) {
	w := newSetup(t)
	sent := w.send()
	w.sign(sent.DocumentID, "ann@example.com", "ben@example.com")
	w.sendForm()
	w.list()
	w.respondents(sent.DocumentID)
	w.responses()
	w.voidAndRemind()
	w.refusals()
	require.NoError(t, w.recorder.Err())
	requireCovered(t, w.recorder.Exchanges())
}

func (w *setup) sendForm() {
	w.t.Helper()
	_, err := w.client.Forms.Send(w.t.Context(), signforms.FormSendParams{
		FormID: w.form,
		Receivers: []signforms.Receiver{
			{Name: "Cy " + odd, Email: "cy@example.com", Subject: odd, Message: odd}, {Name: "Ann", Email: "ann@example.com"},
		},
		Mail:      signforms.Mail{Subject: "Intake", Message: "Five minutes."},
		Variables: []signforms.Variable{{Name: "[office]", Value: "Zürich"}},
	})
	require.NoError(w.t, err)
	_, err = w.srv.SubmitForm(w.form, signformstest.Submission{
		RespondentEmail: "cy@example.com", Answers: map[string]string{"Name": odd},
	})
	require.NoError(w.t, err)
}

func (w *setup) list() {
	ctx, t := w.t.Context(), w.t
	t.Helper()
	finished := w.addDocument()
	w.sign(finished, "ann@example.com", "ben@example.com")
	now := w.srv.Now()
	page, err := w.client.Documents.List(ctx, signforms.DocumentListParams{
		Status: signforms.StatusPending, DocumentID: w.document, DateFrom: now.Add(-time.Hour), DateTo: now.Add(time.Hour),
		Archived: new(false), SortOrder: signforms.OldestFirst, Page: 1, Limit: 25, Query: "Lease",
	})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	templates, err := w.client.Templates.List(ctx, signforms.TemplateListParams{
		TemplateID: w.template, DateFrom: now.Add(-time.Hour), DateTo: now.Add(time.Hour),
		Archived: new(false), SortOrder: signforms.NewestFirst, Page: 1, Limit: 100, Query: odd,
	})
	require.NoError(t, err)
	require.Len(t, templates.Items, 1)
	_, err = w.client.Documents.Get(ctx, finished)
	require.NoError(t, err)
	_, err = w.client.Templates.Get(ctx, w.template)
	require.NoError(t, err)
	require.Equal(t, 2, count(t, w.client.Documents.All(ctx, signforms.DocumentListParams{Limit: 1})))
	require.Equal(t, 1, count(t, w.client.Templates.All(ctx, signforms.TemplateListParams{})))
}

func (w *setup) respondents(documentID string) {
	ctx, t := w.t.Context(), w.t
	t.Helper()
	page, err := w.client.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: w.template, Page: 1, Limit: 5})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	_, err = w.client.Respondents.Get(ctx, documentID)
	require.NoError(t, err)
	require.Equal(t, 1, count(t, w.client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: w.template})))
}

func (w *setup) responses() {
	ctx, t := w.t.Context(), w.t
	t.Helper()
	page, err := w.client.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: w.form, Page: 1, Limit: 5})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	for _, id := range []string{page.Items[0].ID, page.Items[0].FormResponseID} {
		_, err = w.client.FormResponses.Get(ctx, id)
		require.NoError(t, err)
	}
	require.Equal(t, 1, count(t, w.client.FormResponses.All(ctx, signforms.FormResponseListParams{FormID: w.form})))
}

func (w *setup) voidAndRemind() {
	ctx, t := w.t.Context(), w.t
	t.Helper()
	for _, ref := range []signforms.DocumentRef{signforms.PDFDocument(w.document), w.send().Ref()} {
		_, err := w.client.Documents.Remind(ctx, ref)
		require.NoError(t, err)
		voided, err := w.client.Documents.Void(ctx, ref)
		require.NoError(t, err)
		require.False(t, voided.AlreadyVoided)
		voided, err = w.client.Documents.Void(ctx, ref)
		require.NoError(t, err)
		require.True(t, voided.AlreadyVoided)
	}
}

func (w *setup) refusals() {
	ctx, t := w.t.Context(), w.t
	t.Helper()
	const nobody = "fdb62a56-0061-40fc-9f41-f3ce0e39c36a"
	signed := w.addDocument()
	w.sign(signed, "ann@example.com", "ben@example.com")
	_, err := w.client.Documents.Void(ctx, signforms.PDFDocument(signed))
	require.ErrorIs(t, err, signforms.ErrRefused)
	_, err = w.client.Documents.Remind(ctx, signforms.PDFDocument(signed))
	require.ErrorIs(t, err, signforms.ErrRefused)
	_, err = w.client.Documents.Void(ctx, signforms.PDFDocument(nobody))
	require.ErrorIs(t, err, signforms.ErrNotFound)
	_, err = w.client.Documents.Remind(ctx, signforms.PDFDocument(nobody))
	require.ErrorIs(t, err, signforms.ErrNotFound)
	_, err = w.client.Documents.Get(ctx, nobody)
	require.ErrorIs(t, err, signforms.ErrNotFound)
	_, err = w.client.Forms.Send(ctx, signforms.FormSendParams{FormID: nobody, Receivers: []signforms.Receiver{{Name: "A", Email: "a@example.com"}}})
	require.ErrorIs(t, err, signforms.ErrNotFound)
	_, err = w.client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: w.template, Receivers: []signforms.Receiver{{Name: "A", Email: "a@example.com", RoleTitle: "no such role"}},
	})
	require.ErrorIs(t, err, signforms.ErrInvalid)

	stranger := w.newClient("another-key")
	_, err = stranger.Documents.List(ctx, signforms.DocumentListParams{})
	require.ErrorIs(t, err, signforms.ErrForbidden)
	other := w.newClient(w.srv.APIKey) // its budget does not know of the reminders above, so that the service has to refuse
	for range 5 {
		_, err = other.Documents.Remind(ctx, signforms.PDFDocument(signed))
	}
	require.ErrorIs(t, err, signforms.ErrRateLimited)
}

func count[T any](t *testing.T, all iter.Seq2[T, error]) int {
	t.Helper()
	n := 0
	for _, err := range all {
		require.NoError(t, err)
		n++
	}
	return n
}
