package signformstest_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/signformstest"
)

// scriptedTB is a testing.TB for NewServer. It records failures, and ends when the test says so.
type scriptedTB struct {
	testing.TB
	log      string
	failed   bool
	cleanups []func()
}

func (s *scriptedTB) Helper()          {}
func (s *scriptedTB) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }
func (s *scriptedTB) Failed() bool     { return s.failed }
func (s *scriptedTB) Log(args ...any)  { s.log += fmt.Sprintln(args...) }
func (s *scriptedTB) Errorf(format string, args ...any) {
	s.failed = true
	s.log += fmt.Sprintf(format+"\n", args...)
}
func (s *scriptedTB) Fatalf(format string, args ...any) { s.Errorf(format, args...) }
func (s *scriptedTB) end() {
	for _, f := range s.cleanups {
		f()
	}
}

func TestServer_failedTestPrintsRequests(t *testing.T) {
	tb := &scriptedTB{TB: t}
	srv := signformstest.NewServer(tb, nil)
	endpoint := httptest.NewServer(http.NotFoundHandler())
	defer endpoint.Close()
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	srv.AddWebhook(signformstest.Webhook{URL: endpoint.URL, Event: signformstest.FamilySignatureCompleted})
	call(t, srv, "GET", "/get-documents?query=private&limit=1000", "")
	call(t, srv, "GET", "/get-document", "")
	require.NoError(t, srv.Signer(doc, "ann@example.com").View())
	require.Error(t, srv.Pay(doc))
	require.NoError(t, srv.WaitDeliveries(t.Context()))
	tb.failed = true
	tb.end()

	for _, want := range []string{
		`list documents: 400 invalid_input (rule: input): limit must be at most 100`,
		`"GET" "/get-document": 404 not_found (rule: path): No such path. Did you mean GET /get-documents?`,
		doc + ": cannot pay a document that is PENDING",
		"[new_signature_pdf_individual_viewed]",
		"pending, attempts: 1, last answer: 404\n",
	} {
		t.Run(want, func(t *testing.T) {
			require.Contains(t, tb.log, want)
		})
	}
	secrets := []string{srv.APIKey, srv.WebhookSecret, "private", "ann@example.com"}
	for _, m := range srv.Messages() {
		secrets = append(secrets, strings.TrimPrefix(string(m.Link), srv.URL))
	}
	for _, secret := range secrets {
		t.Run(secret, func(t *testing.T) {
			require.NotContains(t, tb.log, secret)
		})
	}
}

func TestServer_failedTestPrintsTheNewest(t *testing.T) {
	tb := &scriptedTB{TB: t}
	srv := signformstest.NewServer(tb, &signformstest.Options{StartTime: start})
	for range 201 {
		call(t, srv, "GET", "/get-documents", "")
		srv.Advance(time.Second)
	}
	tb.failed = true
	tb.end()
	require.Equal(t, 200, strings.Count(tb.log, "list documents: 200"))
	require.NotContains(t, tb.log, "2026-11-20T12:00:00.000Z")
	require.Contains(t, tb.log, "2026-11-20T12:03:20.000Z")
}

func TestServer_passedTestPrintsNothing(t *testing.T) {
	tb := &scriptedTB{TB: t}
	srv := signformstest.NewServer(tb, nil)
	srv.Fail(signformstest.Fault{Status: 500, Body: "{}"})
	call(t, srv, "GET", "/get-documents", "")
	srv.Fail(signformstest.Fault{Status: 500})() // taken back
	tb.end()
	require.Empty(t, tb.log)
}

// A wrong use fails the test, and panics without one.
func TestServer_wrongUse(t *testing.T) {
	const hook = "a2b0c1d4-0000-4000-8000-000000000000"
	srv, err := signformstest.Start(nil)
	require.NoError(t, err)
	defer srv.Close()
	tb := &scriptedTB{TB: t}
	tested := signformstest.NewServer(tb, nil)
	defer tested.Close()
	for _, row := range []struct {
		want string
		use  func(*signformstest.Server)
	}{
		{want: "AddTemplate: Name: is empty", use: func(s *signformstest.Server) { s.AddTemplate(signformstest.Template{}) }},
		{want: "AddForm: Title: is empty", use: func(s *signformstest.Server) { s.AddForm(signformstest.Form{}) }},
		{want: "AddDocument: Name: is empty", use: func(s *signformstest.Server) { s.AddDocument(signformstest.Document{}) }},
		{want: `TestWebhook: no webhook with id "` + hook + `"`, use: func(s *signformstest.Server) { s.TestWebhook(hook) }},
		{want: "Advance: -1s would move the clock back", use: func(s *signformstest.Server) { s.Advance(-time.Second) }},
		{want: "Fail: Status: 7 is not 200 to 599", use: func(s *signformstest.Server) { s.Fail(signformstest.Fault{Status: 7}) }},
		{want: "FailWebhooks: Delay: must not be negative", use: func(s *signformstest.Server) { s.FailWebhooks(signformstest.WebhookFault{Delay: -1}) }},
	} {
		t.Run(row.want, func(t *testing.T) {
			require.PanicsWithValue(t, "signformstest: "+row.want, func() { row.use(srv) })
			tb.log = ""
			row.use(tested)
			require.Equal(t, "signformstest: "+row.want+"\n", tb.log)
		})
	}
}

// TestServer_printsOnlyItsAddress: no verb prints more of a server than its address.
func TestServer_printsOnlyItsAddress(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	token := path.Base(string(srv.Messages()[0].Link))
	var printed bytes.Buffer
	for _, value := range []any{
		srv, []any{srv}, map[string]*signformstest.Server{"a": srv}, struct{ Server *signformstest.Server }{srv},
		srv.Signer(doc, "ann@example.com"),
	} {
		for verb := rune('A'); verb <= 'z'; verb++ {
			if verb == 'w' {
				continue // for errors alone: fmt calls no methods
			}
			for _, flags := range []string{"", "+", "#", "-5", "0", " "} {
				fmt.Fprintf(&printed, "%"+flags+string(verb)+"\n", value)
			}
		}
	}
	for _, secret := range []string{token, srv.APIKey, srv.WebhookSecret} {
		t.Run(secret, func(t *testing.T) {
			require.NotContains(t, printed.String(), secret)
		})
	}
	require.Equal(t, "signformstest.Server("+srv.URL+")", fmt.Sprint(srv))
}
