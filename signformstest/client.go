package signformstest

import (
	"net/http"
	"time"

	"github.com/signforms/signforms-go"
)

// Client returns a client of this server: with its key and workspace, retry waits of at most 1 ms, and a reminder budget
// that follows the server's clock. All clients that one server returns share that budget, and no other client does.
//
// Its RemindAll waits when the budget is used up, until another goroutine calls [Server.Advance]. A slot frees 15 minutes and
// one second after its answer, a second later than at the service, so advance by 16 minutes to free all five.
//
// For other settings, or another key, call signforms.New with the server's URL, the key, [Server.HTTPClient], and a LimitStore
// of the test's own: signforms.NewMemoryLimitStore(srv.Now), whose ClockMoved is to be called after each Advance.
func (s *Server) Client() *signforms.Client {
	s.t.Helper()
	client, err := signforms.New(s.URL, s.APIKey, &signforms.Options{
		WorkspaceID:  s.WorkspaceID,
		HTTPClient:   s.HTTPClient(),
		RetryWaitMin: time.Millisecond,
		RetryWaitMax: time.Millisecond,
		LimitStore:   s.budget,
		Endpoints:    s.endpoints,
	})
	s.require(err == nil, "Client: %v", err)
	return client
}

// HTTPClient returns an HTTP client that reaches the server, over Options.Network where there is one. Its connections end
// with the server.
func (s *Server) HTTPClient() *http.Client { return &http.Client{Transport: s.transport} }
