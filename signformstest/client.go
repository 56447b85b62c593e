package signformstest

import (
	"net/http"
	"time"

	"github.com/signforms/signforms-go"
)

// Client returns a client of this server with the options of [Server.ClientOptions].
//
// Its RemindAll waits when the budget is used up: let another goroutine call [Server.Advance]. A slot frees 15 minutes
// and one second after its answer, a second later than at the service, so advance by 16 minutes to free all five.
func (s *Server) Client() *signforms.Client {
	s.t.Helper()
	client, err := signforms.New(s.URL, s.APIKey, s.ClientOptions())
	if err != nil {
		s.t.Fatalf("signformstest: Client: %v", err)
	}
	return client
}

// ClientOptions returns what [Server.Client] uses, for a program that builds its own client. Change what a test needs:
//
//	opts := srv.ClientOptions()
//	opts.MaxAttempts = 1
//	client, err := signforms.New(srv.URL, srv.APIKey, opts)
//
// The options have the workspace, a Transport that reaches the server, retry waits of at most 1 ms, the endpoints of
// Options.Profile, and a reminder budget that all clients of this server share and that follows its clock.
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

// HTTPClient returns an HTTP client that reaches the server, over Options.Network where there is one. Its connections
// end with the server.
func (s *Server) HTTPClient() *http.Client { return s.service.HTTPClient() }
