package signformstest

import (
	"net/http"
	"time"

	"github.com/signforms/signforms-go"
)

// Client returns a client of this server with the options of [Server.ClientOptions].
//
// RemindAll of the client waits when the reminder budget is used up, so let another goroutine call
// [Server.Advance]. A slot frees 15 minutes and one second after its response, which is a second
// later than at the service. Advance by 16 minutes to free all five slots.
func (s *Server) Client() *signforms.Client {
	s.t.Helper()
	client, err := signforms.New(s.URL, s.APIKey, s.ClientOptions())
	if err != nil {
		s.t.Fatalf("signformstest: Client: %v", err)
	}
	return client
}

// ClientOptions returns the options that [Server.Client] uses, for a program that builds its own
// client. Change the options that a test needs:
//
//	opts := srv.ClientOptions()
//	opts.MaxAttempts = 1
//	client, err := signforms.New(srv.URL, srv.APIKey, opts)
//
// The options contain the workspace, a Transport that reaches the server, retry waits of at most 1
// ms, and the endpoints of Options.Profile. They also contain a reminder budget that follows the
// server's clock and that all clients of this server share.
func (s *Server) ClientOptions() *signforms.Options {
	return &signforms.Options{
		WorkspaceID:  s.WorkspaceID,
		Transport:    s.HTTPClient().Transport,
		RetryWaitMin: time.Millisecond,
		RetryWaitMax: time.Millisecond,
		LimitStore:   s.budget,
		Endpoints:    s.profile.Endpoints,
	}
}

// HTTPClient returns an HTTP client that reaches the server, through Options.Network if it is set.
// The connections of the client end with the server.
func (s *Server) HTTPClient() *http.Client { return s.service.HTTPClient() }
