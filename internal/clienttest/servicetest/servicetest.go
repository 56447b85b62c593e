// Package servicetest is the reference service in a test that needs more of it than package signformstest shows.
package servicetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Server is the service itself, with all that package signformstest does not show. Its methods fail the test where
// those of [refserver.Server] return an error that no test expects.
type Server struct {
	*refserver.Server
	t testing.TB
}

// Start starts a service that closes with the test.
func Start(t testing.TB, opts *refserver.Options) *Server {
	t.Helper()
	srv, err := refserver.Start(opts)
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	return Of(t, srv)
}

// Of is for a service that the test has started and closes.
func Of(t testing.TB, srv *refserver.Server) *Server { return &Server{srv, t} }

func (s *Server) added(id string, err error) string {
	s.t.Helper()
	require.NoError(s.t, err)
	return id
}

// AddTemplate adds a template.
func (s *Server) AddTemplate(t refserver.Template) (id string) {
	s.t.Helper()
	return s.added(s.Server.AddTemplate(t))
}

// AddForm adds a form.
func (s *Server) AddForm(f refserver.Form) (id string) {
	s.t.Helper()
	return s.added(s.Server.AddForm(f))
}

// AddDocument adds a document.
func (s *Server) AddDocument(d refserver.Document) (id string) {
	s.t.Helper()
	return s.added(s.Server.AddDocument(d))
}

// AddWebhook adds a webhook.
func (s *Server) AddWebhook(w refserver.Webhook) (id string) {
	s.t.Helper()
	return s.added(s.Server.AddWebhook(w))
}

// TestWebhook tests a webhook.
func (s *Server) TestWebhook(webhookID string) (deliveryID string) {
	s.t.Helper()
	return s.added(s.Server.TestWebhook(webhookID))
}

// Fail makes API requests go wrong until remove is called.
func (s *Server) Fail(f refserver.Fault) (remove func()) {
	s.t.Helper()
	id := s.added(s.Server.Fail(f))
	return func() { s.RemoveFault(id) }
}

// FailWebhooks makes webhook attempts go wrong until remove is called.
func (s *Server) FailWebhooks(f refserver.WebhookFault) (remove func()) {
	s.t.Helper()
	id := s.added(s.Server.FailWebhooks(f))
	return func() { s.RemoveFault(id) }
}

// Advance moves the clock, unless the server is closed.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	if err := s.Server.Advance(context.Background(), d); !errors.Is(err, refserver.ErrClosed) {
		require.NoError(s.t, err)
	}
}

// Client returns a client of the service.
func (s *Server) Client(change ...func(*signforms.Options)) *signforms.Client {
	s.t.Helper()
	o := &signforms.Options{
		WorkspaceID: s.WorkspaceID, Transport: s.HTTPClient().Transport, RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond,
		LimitStore: signforms.NewMemoryLimitStore(s.Now),
	}
	for _, f := range change {
		f(o)
	}
	client, err := signforms.New(s.URL, s.APIKey, o)
	require.NoError(s.t, err)
	return client
}
