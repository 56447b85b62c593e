package signformstest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

func TestServer_Client(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	sent, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	require.NoError(t, err)
	require.NoError(t, srv.Signer(sent.DocumentID, "ann@example.com").Sign())
	respondent, err := srv.Client().Respondents.Get(t.Context(), sent.DocumentID)
	require.NoError(t, err)
	require.Equal(t, signforms.StatusSigned, respondent.Status)
}

func TestServer_clientsShareABudget(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	doc := signforms.PDFDocument(srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}}))
	for range 5 {
		_, err := srv.Client().Documents.Remind(t.Context(), doc)
		require.NoError(t, err)
	}
	require.Equal(t, srv.WorkspaceID, srv.Requests()[0].Header.Get("workspaceid"))
	_, err := srv.Client().Documents.Remind(t.Context(), doc)
	require.ErrorIs(t, err, signforms.ErrRateLimited)
	require.Len(t, srv.Requests(), 5, "the sixth was not sent")

	srv.Advance(16 * time.Minute)
	_, err = srv.Client().Documents.Remind(t.Context(), doc)
	require.NoError(t, err)
}

// TestServer_Advance_endsWaitsOfReminders runs in a bubble, whose time shows whether a call waited for anything but the service's clock.
func TestServer_Advance_endsWaitsOfReminders(t *testing.T) {
	for _, row := range []struct {
		name  string
		began time.Time
	}{{name: "wall clock", began: time.Time{}}, {name: "still clock", began: start}} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := signformstest.NewNetwork()
				defer network.Close()
				srv := signformstest.NewServer(t, &signformstest.Options{Network: network, StartTime: row.began})
				defer srv.Close()
				remindAll(t, srv, 17)
			})
		})
	}
}

// remindAll sends this many reminders. It moves the clock when the budget is used up.
func remindAll(t *testing.T, srv *signformstest.Server, reminders int) {
	var refs []signforms.DocumentRef
	for range reminders {
		refs = append(refs, signforms.PDFDocument(srv.AddDocument(signformstest.Document{
			Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}},
		})))
	}
	began := time.Now()
	outcomes := make(chan error)
	go func() {
		defer close(outcomes)
		for _, err := range srv.Client().Documents.RemindAll(t.Context(), refs) {
			outcomes <- err
		}
	}()
	sent := 0
	for err := range outcomes {
		require.NoError(t, err)
		if sent++; sent%5 == 0 {
			synctest.Wait() // until the next reminder waits
			srv.Advance(16 * time.Minute)
		}
	}
	require.Equal(t, reminders, sent)
	require.Zero(t, time.Since(began), "a client that is not told looks at its clock every 10 seconds")
	require.Len(t, srv.Requests(), reminders)
}

func TestServer_ClientOptions(t *testing.T) {
	srv := signformstest.NewServer(t, &signformstest.Options{StartTime: start})
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	opts := srv.ClientOptions()
	opts.MaxAttempts = 1
	client, err := signforms.New(srv.URL, srv.APIKey, opts)
	require.NoError(t, err)
	for range 4 {
		_, err := client.Documents.Remind(t.Context(), signforms.PDFDocument(doc))
		require.NoError(t, err)
	}
	_, err = srv.Client().Documents.Remind(t.Context(), signforms.PDFDocument(doc))
	require.NoError(t, err)
	_, err = client.Documents.Remind(t.Context(), signforms.PDFDocument(doc))
	require.ErrorIs(t, err, signforms.ErrRateLimited)
	srv.Advance(16 * time.Minute)
	_, err = client.Documents.Remind(t.Context(), signforms.PDFDocument(doc))
	require.NoError(t, err)
	require.Len(t, srv.Requests(), 6, "the sixth was refused before the wire")
}

func TestServer_workspacesAndKeys(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	other := signformstest.NewServer(t, nil)
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	secondKey := srv.AddAPIKey()
	for _, c := range []struct {
		key, workspace string
		want           error
	}{
		{key: srv.APIKey, workspace: srv.WorkspaceID, want: nil},
		{key: secondKey, workspace: srv.WorkspaceID, want: nil},
		{key: other.APIKey, workspace: other.WorkspaceID, want: signforms.ErrForbidden},
		{key: other.APIKey, workspace: srv.WorkspaceID, want: signforms.ErrForbidden},
		{key: srv.APIKey, workspace: other.WorkspaceID, want: signforms.ErrForbidden},
		{key: "wrong", workspace: "", want: signforms.ErrForbidden},
	} {
		t.Run(c.key, func(t *testing.T) {
			client, err := signforms.New(srv.URL, c.key, &signforms.Options{
				WorkspaceID: c.workspace, Transport: srv.HTTPClient().Transport, LimitStore: signforms.NewMemoryLimitStore(srv.Now),
			})
			require.NoError(t, err)
			for range 5 { // each key has its own limit
				if _, err = client.Documents.Remind(t.Context(), signforms.PDFDocument(doc)); err != nil {
					break
				}
			}
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestServer_Requests_operation(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	for _, row := range []struct {
		path string
		want signforms.Operation
	}{
		{path: "GET /get-documents", want: signforms.OpListDocuments},
		{path: "POST /void-document", want: signforms.OpVoidDocument},
		{path: "POST /send-reminder", want: signforms.OpRemind},
		{path: "POST /pdf-template-lambda", want: signforms.OpSend},
		{path: "GET /get-template-respondent", want: signforms.OpListRespondents},
		{path: "GET /get-form-responses", want: signforms.OpListFormResponses},
		{path: "GET /get-forms", want: ""},
	} {
		t.Run(row.path, func(t *testing.T) {
			method, path, _ := strings.Cut(row.path, " ")
			call(t, srv, method, path, "")
			requests := srv.Requests()
			require.Equal(t, row.want, requests[len(requests)-1].Operation)
		})
	}
}
