package refserver_test

import (
	"fmt"
	"net/http"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// restart closes a server and starts another on the saved records.
func restart(t *testing.T, srv *servicetest.Server, storage *memory, opts refserver.Options) (*servicetest.Server, *memory) {
	t.Helper()
	srv.Close()
	storage = storage.Copy()
	opts.Storage = storage
	return servicetest.Start(t, &opts), storage
}

// state is everything that a server shows, except its log of requests.
type state struct {
	APIKey, WorkspaceID, WebhookSecret string

	Templates  []refserver.TemplateState
	Forms      []refserver.FormState
	Documents  []refserver.DocumentState
	Made       []refserver.DocumentState // from templates
	Responses  []refserver.ResponseState
	Webhooks   []refserver.WebhookState
	Deliveries []refserver.Delivery
	Messages   []refserver.Message
	Audit      map[string][]refserver.AuditEntry
}

func stateOf(srv *servicetest.Server) state {
	s := state{APIKey: srv.APIKey, WorkspaceID: srv.WorkspaceID, WebhookSecret: srv.WebhookSecret, Audit: map[string][]refserver.AuditEntry{}}
	s.Templates, s.Forms = srv.Templates(), srv.Forms()
	s.Documents, _ = srv.FindDocuments(refserver.DocumentFilter{Limit: 1e6})
	s.Made, _ = srv.FindDocuments(refserver.DocumentFilter{FromTemplates: true, Limit: 1e6})
	for _, f := range s.Forms {
		s.Responses = append(s.Responses, srv.Responses(f.ID)...)
		s.Audit[f.ID] = srv.Audit(f.ID)
	}
	for _, d := range append(s.Documents, s.Made...) {
		s.Audit[d.ID] = srv.Audit(d.ID)
	}
	s.Webhooks, s.Deliveries, s.Messages = srv.Webhooks(), srv.Deliveries(), srv.Messages()
	return s
}

// publicURL is the base of links. Without it links would contain the port, which changes after a restart.
const publicURL = "https://sandbox.test"

func TestRestart_changesNothing(t *testing.T) {
	storage, endpoint := &memory{}, newReceiver(t, 500)
	opts := refserver.Options{Seed: 7, Start: start, PublicURL: publicURL, Storage: storage}
	srv := servicetest.Start(t, &opts)
	template := srv.AddTemplate(refserver.Template{
		Name: "Offer", Roles: []refserver.Role{{Title: "Buyer", Colour: "#fff"}}, Variables: []string{"[v1]"}, PDF: []byte("%PDF-template"),
		Fields: []refserver.TemplateField{{Name: "Name", Role: "Buyer", Kind: refserver.TextField, Page: 1, X: 0.5, Y: 0.25, Width: 0.125, Height: 0.1}},
	})
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?", Required: true}}})
	srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.TemplateResponse, Documents: []string{template}})
	srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.FormResponse, Object: true})
	lease := srv.AddDocument(refserver.Document{
		Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}}, ExpiresFor: 100 * time.Hour, PDF: []byte("%PDF-lease"),
	})
	srv.AddDocument(refserver.Document{Name: "Draft", Draft: true})
	made := sendTemplate(t, srv, template, "Buyer", "ann@example.com")
	require.NoError(t, srv.Signer(made, "ann@example.com").View())
	srv.Advance(72 * time.Hour)
	require.NoError(t, srv.Signer(made, "ann@example.com").Sign(refserver.FieldValue{Name: "Name", Value: "Ann"}))
	require.NoError(t, srv.Signer(lease, "ben@example.com").Decline("no"))
	_, err := srv.SubmitForm(form, refserver.Submission{RespondentEmail: "ann@example.com", Answers: map[string]string{"Name?": "Ann"}})
	require.NoError(t, err)
	_, err = srv.Client().Forms.Send(t.Context(), signforms.FormSendParams{FormID: form, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}}})
	require.NoError(t, err)
	require.NoError(t, srv.Settle(t.Context()))
	secret, err := srv.RotateWebhookSecret(srv.Webhooks()[0].ID)
	require.NoError(t, err)
	before, now := stateOf(srv), srv.Now()

	for range 2 { // the second time from records that a restarted server has saved
		srv, storage = restart(t, srv, storage, refserver.Options{Seed: 7, Start: start, PublicURL: publicURL})
		require.Equal(t, before, stateOf(srv))
		require.Equal(t, now, srv.Now())
		require.Equal(t, secret, srv.Webhooks()[0].Secret)
		pdf, err := srv.DocumentPDF(t.Context(), lease)
		require.NoError(t, err)
		require.Equal(t, "%PDF-lease", string(pdf))
		sent, receiver, ok := srv.FormLink(path.Base(string(before.Messages[len(before.Messages)-1].Link)))
		require.True(t, ok)
		require.Equal(t, []string{form, "ann@example.com"}, []string{sent.ID, receiver})
	}
	for range 30 {
		another := srv.AddDocument(refserver.Document{Name: "Another", Draft: true})
		require.NotContains(t, show(before), another, "the same seed gives other ids")
	}
}

// TestRestart_keepsTheReminderLimit sends five reminders, of which some are refused, and restarts the service. The sixth reminder
// is refused until the window is over.
func TestRestart_keepsTheReminderLimit(t *testing.T) {
	storage := &memory{}
	opts := refserver.Options{Start: start, Storage: storage}
	srv := servicetest.Start(t, &opts)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	remind := func(id string) int {
		status, _ := call(t, srv, http.MethodPost, "/send-reminder?documentType=PDF&documentId="+id, "")
		return status
	}
	for range 2 {
		require.Equal(t, 200, remind(doc))
		require.Equal(t, 404, remind("33333333-3333-4333-8333-333333333333"), "it counts too")
	}
	srv, storage = restart(t, srv, storage, opts)
	require.Equal(t, 200, remind(doc))
	srv, storage = restart(t, srv, storage, opts)
	require.Equal(t, 429, remind(doc))
	srv.Advance(15 * time.Minute)
	srv, _ = restart(t, srv, storage, opts)
	require.Equal(t, 200, remind(doc))
}

// TestRemind_refusedIsNotSaved: one that comes too early changes nothing, so that it is refused while nothing can be saved, too.
func TestRemind_refusedIsNotSaved(t *testing.T) {
	storage := newFated()
	srv := servicetest.Start(t, &refserver.Options{
		Start: start, Storage: storage, ReminderLimit: refserver.ReminderLimit{Requests: 1},
	})
	path := "/send-reminder?documentType=PDF&documentId=" + srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	remind := func() int {
		status, _ := call(t, srv, http.MethodPost, path, "")
		return status
	}
	require.Equal(t, 200, remind())
	var saved []refserver.Record
	storage.Decide = func(records []refserver.Record) saveOutcome {
		saved = append(saved, records...)
		return saveOutcome(storage.outcome.Load())
	}
	require.Equal(t, 429, remind())
	storage.setOutcome(saveFails)
	require.Equal(t, 429, remind())
	require.Empty(t, saved)
	storage.setOutcome(saveDone)
	srv.Advance(15 * time.Minute)
	require.Equal(t, 200, remind())
}

func TestRemind_notCountedIsNotSent(t *testing.T) {
	storage := newFated()
	srv := servicetest.Start(t, &refserver.Options{Start: start, Storage: storage})
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	storage.setOutcome(saveFails)
	for range 10 {
		status, _ := call(t, srv, http.MethodPost, "/send-reminder?documentType=PDF&documentId="+doc, "")
		require.Equal(t, 503, status)
	}
	require.False(t, srv.Requests()[0].Counted)
	storage.setOutcome(saveDone)
	for i := range 6 {
		status, _ := call(t, srv, http.MethodPost, "/send-reminder?documentType=PDF&documentId="+doc, "")
		require.Equal(t, map[bool]int{true: 200, false: 429}[i < 5], status)
	}
}

// TestRestart_clockNotBeforeAnAdvance: the process ends right after an advance returned, and then the machine's clock is set back.
func TestRestart_clockNotBeforeAnAdvance(t *testing.T) {
	storage := &memory{}
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage})
		defer srv.Close()
		time.Sleep(1000 * time.Hour)
		srv.Advance(72 * time.Hour)
		advanced, cut := srv.Now(), storage.Copy()
		again := servicetest.Start(t, &refserver.Options{Network: network, Storage: cut, Start: time.Now().Add(-900 * time.Hour)})
		defer again.Close()
		require.Equal(t, advanced, again.Now())
	})
}

// TestRestart_clockContinues restarts with a clock that was set back.
func TestRestart_clockContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that no real time passes
		network, storage := refserver.NewNetwork(), &memory{}
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage})
		srv.Advance(72 * time.Hour)
		time.Sleep(time.Minute)
		advanced := srv.Now()
		srv, storage = restart(t, srv, storage, refserver.Options{Network: network})
		require.Equal(t, advanced, srv.Now())

		time.Sleep(time.Hour)
		srv.AddDocument(refserver.Document{Name: "Lease", Draft: true}) // saves the time too
		latest := srv.Now()
		for range 2 {
			srv, storage = restart(t, srv, storage, refserver.Options{Network: network, Start: time.Now().Add(-200 * time.Hour)})
			require.Equal(t, latest, srv.Now())
			srv.Advance(time.Minute)
			latest = latest.Add(time.Minute)
			require.Equal(t, latest, srv.Now())
		}
		srv.Close()
	})
}

// TestRestart_otherOptions restarts with another key and secret, which replace the saved ones, and with another workspace, which is
// refused.
func TestRestart_otherOptions(t *testing.T) {
	storage, endpoint := &memory{}, newReceiver(t)
	srv := servicetest.Start(t, &refserver.Options{Start: start, Storage: storage})
	hook := srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.SignatureCompleted})
	rotated := srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.FormResponse})
	own, err := srv.RotateWebhookSecret(rotated)
	require.NoError(t, err)
	old := srv.APIKey
	_, err = refserver.Start(&refserver.Options{Storage: storage.Copy(), WorkspaceID: "another"})
	require.EqualError(t, err, fmt.Sprintf(`starting the reference service: Options.WorkspaceID: the storage holds the workspace %q, not "another"`, srv.WorkspaceID))

	opts := refserver.Options{Start: start, APIKey: "another-key", WebhookSecret: "another-secret", WorkspaceID: srv.WorkspaceID}
	srv, storage = restart(t, srv, storage, opts)
	srv, _ = restart(t, srv, storage, refserver.Options{Start: start})
	require.Equal(t, []string{"another-key", "another-secret"}, []string{srv.APIKey, srv.WebhookSecret})
	client, err := signforms.New(srv.URL, old, nil)
	require.NoError(t, err)
	_, err = client.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.ErrorIs(t, err, signforms.ErrForbidden)
	srv.TestWebhook(hook)
	srv.TestWebhook(rotated)
	require.NoError(t, srv.Settle(t.Context()))
	genuine := map[string]int{}
	for _, d := range endpoint.all() {
		for _, secret := range []string{"another-secret", own} {
			if d.genuine(secret) {
				genuine[secret]++
			}
		}
	}
	require.Equal(t, map[string]int{"another-secret": 1, own: 1}, genuine)
}

func TestRestart_unreadableState(t *testing.T) {
	for _, row := range []struct {
		want    string
		records []refserver.Record
	}{
		{want: `loading the state: a record of the kind "folder", which this version of the program does not know`, records: []refserver.Record{
			{Kind: "folder", ID: "x", Data: []byte("{}")},
		}},
		{want: "loading the state: reading form f: it has version 99, and this version of the program reads 4: use the one that wrote it, or start with an empty file", records: []refserver.Record{
			{Kind: "form", ID: "f", Data: []byte(`{"v":99}`)},
		}},
		{want: "the storage has records, but no record of the service itself: it is damaged, or belongs to another program", records: []refserver.Record{
			{Kind: "form", ID: "f", Data: []byte(`{"v":4,"at":1,"d":{"ID":"f"}}`)},
		}},
	} {
		t.Run(row.want, func(t *testing.T) {
			storage := &memory{}
			require.NoError(t, storage.Save(t.Context(), row.records))
			_, err := refserver.Start(&refserver.Options{Storage: storage})
			require.EqualError(t, err, "starting the reference service: "+row.want)
		})
	}
	broken := newFated()
	broken.loadFail.Store(true)
	_, err := refserver.Start(&refserver.Options{Storage: broken})
	require.EqualError(t, err, "starting the reference service: loading the state: no loading")
}

// TestRestart_keepsBounds exceeds each bound and restarts. Old entries are gone in memory and in the storage, numbers continue, and pending
// work is kept.
func TestRestart_keepsBounds(t *testing.T) {
	storage, endpoint := &memory{}, newReceiver(t)
	opts := refserver.Options{Start: start, Storage: storage, Keep: refserver.Keep{Requests: 8, Deliveries: 8, Messages: 8, Audit: 8}}
	srv := servicetest.Start(t, &opts)
	hook := srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.SignatureCompleted})
	remove := srv.FailWebhooks(refserver.WebhookFault{Drop: true})
	pending := srv.TestWebhook(hook)
	require.NoError(t, srv.Settle(t.Context()))
	remove()
	var last string
	for range 50 {
		srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
		last = srv.TestWebhook(hook)
		require.NoError(t, srv.Settle(t.Context()))
		call(t, srv, "GET", "/get-documents?documentType=PDF", "")
	}
	check := func() {
		deliveries, messages := srv.Deliveries(), srv.Messages()
		require.LessOrEqual(t, len(deliveries), 1+9)
		require.GreaterOrEqual(t, len(deliveries), 1+8)
		require.Equal(t, pending, deliveries[0].ID)
		require.Equal(t, last, deliveries[len(deliveries)-1].ID)
		require.LessOrEqual(t, len(messages), 9)
		require.Equal(t, int64(50), messages[len(messages)-1].ID)
	}
	check()
	require.Len(t, srv.Requests(), 8)
	srv, storage = restart(t, srv, storage, opts)
	check()
	require.LessOrEqual(t, storage.Count("delivery"), 1+10)
	require.LessOrEqual(t, storage.Count("audit"), 10)
	next := srv.TestWebhook(hook)
	require.Greater(t, next, last)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	require.Equal(t, int64(101), srv.Audit(doc)[0].ID)
}
