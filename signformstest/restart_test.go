package signformstest_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/signformstest/storagetest"
)

// restart closes a server and starts one on what it saved.
func restart(t *testing.T, srv *signformstest.Server, storage *storagetest.Memory, opts signformstest.Options) *signformstest.Server {
	t.Helper()
	srv.Close()
	opts.Storage = storage.Copy()
	return signformstest.NewServer(t, &opts)
}

// state is all that a server tells, but its log of requests.
type state struct {
	APIKey, WorkspaceID, WebhookSecret string

	Templates  []signformstest.TemplateState
	Forms      []signformstest.FormState
	Documents  []signformstest.DocumentState
	Made       []signformstest.DocumentState // from templates
	Responses  []signformstest.ResponseState
	Webhooks   []signformstest.WebhookState
	Deliveries []signformstest.Delivery
	Messages   []signformstest.Message
	Audit      map[string][]signformstest.AuditEntry
}

func stateOf(srv *signformstest.Server) state {
	s := state{APIKey: srv.APIKey, WorkspaceID: srv.WorkspaceID, WebhookSecret: srv.WebhookSecret, Audit: map[string][]signformstest.AuditEntry{}}
	s.Templates, s.Forms = srv.Templates(), srv.Forms()
	s.Documents, _ = srv.FindDocuments(signformstest.DocumentFilter{Limit: 1e6})
	s.Made, _ = srv.FindDocuments(signformstest.DocumentFilter{FromTemplates: true, Limit: 1e6})
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

// without the base of links, which is another port after a restart
const publicURL = "https://sandbox.test"

func TestARestartChangesNothing(t *testing.T) {
	storage, endpoint := &storagetest.Memory{}, newReceiver(t, 500)
	opts := signformstest.Options{Seed: 7, Start: start, PublicURL: publicURL, Storage: storage}
	srv := signformstest.NewServer(t, &opts)
	template := srv.AddTemplate(signformstest.Template{
		Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer", Colour: "#fff"}}, Variables: []string{"[v1]"}, PDF: []byte("%PDF-template"),
		Fields: []signformstest.TemplateField{{Name: "Name", Role: "Buyer", Kind: signformstest.TextField, Page: 1, X: 0.5, Y: 0.25, Width: 0.125, Height: 0.1}},
	})
	form := srv.AddForm(signformstest.Form{Title: "Intake", Fields: []signformstest.Field{{Question: "Name?", Required: true}}})
	srv.AddWebhook(signformstest.Webhook{URL: endpoint.URL, Event: signformstest.TemplateResponse, Documents: []string{template}})
	srv.AddWebhook(signformstest.Webhook{URL: endpoint.URL, Event: signformstest.FormResponse, Object: true})
	lease := srv.AddDocument(signformstest.Document{
		Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}}, ExpiresFor: 100 * time.Hour, PDF: []byte("%PDF-lease"),
	})
	srv.AddDocument(signformstest.Document{Name: "Draft", Draft: true})
	made := sendTemplate(t, srv, template, "Buyer", "ann@example.com")
	require.NoError(t, srv.Signer(made, "ann@example.com").View())
	srv.Advance(72 * time.Hour)
	require.NoError(t, srv.Signer(made, "ann@example.com").Sign(signformstest.FieldValue{Name: "Name", Value: "Ann"}))
	require.NoError(t, srv.Signer(lease, "ben@example.com").Decline("no"))
	_, err := srv.SubmitForm(form, signformstest.Submission{RespondentEmail: "ann@example.com", Answers: map[string]string{"Name?": "Ann"}})
	require.NoError(t, err)
	_, err = srv.Client().Forms.Send(t.Context(), signforms.FormSendParams{FormID: form, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}}})
	require.NoError(t, err)
	require.NoError(t, srv.Settle(t.Context()))
	secret, err := srv.RotateWebhookSecret(srv.Webhooks()[0].ID)
	require.NoError(t, err)
	before, now := stateOf(srv), srv.Now()

	for range 2 { // the second time on what a server that loaded has saved
		srv = restart(t, srv, storage, signformstest.Options{Seed: 7, Start: start, PublicURL: publicURL})
		require.Equal(t, before, stateOf(srv))
		require.Equal(t, now, srv.Now())
		require.Equal(t, secret, srv.Webhooks()[0].Secret)
		pdf, err := srv.DocumentPDF(t.Context(), lease)
		require.NoError(t, err)
		require.Equal(t, "%PDF-lease", string(pdf))
		sent, receiver, ok := srv.FormLink(path.Base(before.Messages[len(before.Messages)-1].Link))
		require.True(t, ok)
		require.Equal(t, []string{form, "ann@example.com"}, []string{sent.ID, receiver})
	}
	another := srv.AddDocument(signformstest.Document{Name: "Another", Draft: true})
	for _, d := range before.Documents {
		require.NotEqual(t, d.ID, another, "the same seed gives other ids")
	}
}
