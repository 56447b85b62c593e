package signformstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Server is a running service. Its methods are safe for concurrent use. Do not change the exported fields.
type Server struct {
	URL           string // base URL for a client: http://127.0.0.1:port, without a slash at the end
	APIKey        string // value of x-api-key
	WorkspaceID   string // value of the header workspaceid
	WebhookSecret string // secret of the deliveries; a webhook with a rotated secret uses its own

	t       reporter
	service *refserver.Server
	profile Profile
	budget  *clockedBudget // the reminder budget of clients

	mu      sync.Mutex
	refused []string // the newest acts that the service refused
}

// reporter has the methods of a test that this package needs.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

type panicker struct{}

func (panicker) Helper() {}

func (panicker) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// NewServer starts a server that closes with the test. A wrong use of its methods fails the test.
// An act that the service refuses returns an error. The log of a failed test ends with the requests
// to the server, as [Request.String] describes them, and with its deliveries.
func NewServer(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := start(t, opts)
	if err != nil {
		t.Fatalf("signformstest: %v", err)
	}
	t.Cleanup(func() {
		s.Close()
		if t.Failed() {
			t.Log(s.history())
		}
	})
	return s
}

// Start starts a server outside a test. The caller closes it. A wrong use of its methods panics.
func Start(opts *Options) (*Server, error) { return start(panicker{}, opts) }

func start(t reporter, opts *Options) (*Server, error) {
	internal, err := opts.internal()
	if err != nil {
		return nil, err
	}
	service, err := refserver.Start(internal)
	if err != nil {
		return nil, asSDK(err)
	}
	s := &Server{
		URL: service.URL, APIKey: service.APIKey, WorkspaceID: service.WorkspaceID, WebhookSecret: service.WebhookSecret,
		t: t, service: service, budget: newClockedBudget(service.Now),
	}
	if opts != nil {
		s.profile = opts.Profile
	}
	return s, nil
}

// must returns a function that returns its id, or fails the test and names the method.
func (s *Server) must(method string) func(id string, err error) string {
	return func(id string, err error) string {
		s.t.Helper()
		if err != nil {
			s.t.Fatalf("signformstest: %s: %v", method, err)
		}
		return id
	}
}

// Close stops the server. It interrupts requests and webhook attempts. It closes the port; moments
// later, no goroutine is left. Close may be called more than once.
//
// The methods that read logs and records still work on a closed server. A method that would change
// something returns an error that matches [ErrClosed], or fails the test if it returns no error.
// Advance does nothing. The functions that Fail and FailWebhooks returned do nothing either.
func (s *Server) Close() { s.service.Close() }

// Now returns the service's time: the wall clock or Options.StartTime, plus the sum of all
// advances. Now can be used as VerifierOptions.Now.
func (s *Server) Now() time.Time { return s.service.Now() }

// Advance moves the service's clock forward by d, which is 0 or more, to 2262-04-11 at most.
// Everything that falls due in that time happens in order, each at its time, before Advance
// returns: webhook retries, the expiry of documents, and the release of the reminder limit. Then
// clients of the server that wait to send a reminder check the clock again.
//
// Advance waits for receivers, so a receiver must not call it. If a receiver does not respond to an
// attempt for 10 seconds of the wall clock, Advance stops waiting for this receiver until it
// responds. On a closed server, Advance does nothing and does not fail the test, because a
// goroutine that advances may outlive the server.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	err := asSDK(s.service.Advance(context.Background(), d))
	s.budget.clockMoved()
	if err != nil && !errors.Is(err, ErrClosed) {
		s.t.Fatalf("signformstest: Advance: %v", err)
	}
}

// WaitDeliveries returns when no webhook delivery is due or being sent. A delivery that waits for
// its next attempt, as after an error, does not count. If ctx ends first, WaitDeliveries returns
// ctx's error. If the server is closed first, it returns [ErrClosed].
func (s *Server) WaitDeliveries(ctx context.Context) error { return asSDK(s.service.Settle(ctx)) }

// Format prints the URL for every verb, because a server contains keys, signing links and personal
// data.
func (s *Server) Format(w fmt.State, _ rune) { io.WriteString(w, "signformstest.Server("+s.URL+")") }
