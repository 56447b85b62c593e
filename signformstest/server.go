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
	APIKey        string // for x-api-key
	WorkspaceID   string // for the workspaceid header
	WebhookSecret string // signs the deliveries of webhooks without a rotated secret of their own

	t       reporter
	service *refserver.Server
	profile Profile
	budget  *clockedBudget // of clients

	mu      sync.Mutex
	refused []string // the newest acts that the service refused
}

// reporter is the part of a test that every method needs.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

type panicker struct{}

func (panicker) Helper() {}

func (panicker) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// NewServer starts a server that closes with the test. A wrong use of its methods fails the test; an act that the
// service refuses returns an error. The log of a failed test ends with the requests that the server got and what it
// delivered, as [Request.String] describes them.
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

// must returns a function that returns the id, or fails the test with the method's name.
func (s *Server) must(method string) func(id string, err error) string {
	return func(id string, err error) string {
		s.t.Helper()
		if err != nil {
			s.t.Fatalf("signformstest: %s: %v", method, err)
		}
		return id
	}
}

// Close stops the server: it breaks off requests and webhook attempts, and leaves no port and, moments later, no
// goroutine behind. It may be called more than once. A closed server can still be asked what happened and what there
// is. What would change something returns an error that matches [ErrClosed], or fails the test where it returns none;
// Advance, and the functions that Fail and FailWebhooks return, do nothing.
func (s *Server) Close() { s.service.Close() }

// Now returns the service's time: the wall clock, or Options.StartTime, plus what was advanced. It has the form of a
// Verifier's clock.
func (s *Server) Now() time.Time { return s.service.Now() }

// Advance moves the service's clock forward by d, which is 0 or more, to 2262-04-11 at most. What falls due on the way
// (webhook retries, documents that expire, reminders that leave the limit's window) happens in order, each at its time,
// before Advance returns. Then calls of the server's clients that wait to send a reminder look at the clock again.
//
// Advance waits for receivers, so a receiver must not call it. One that gives an attempt no answer for 10 seconds of
// the wall clock is not waited for again until it answers. A closed server is not advanced, and that fails no test: a
// goroutine that advances may outlive the server.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	err := asSDK(s.service.Advance(context.Background(), d))
	s.budget.clockMoved()
	if err != nil && !errors.Is(err, ErrClosed) {
		s.t.Fatalf("signformstest: Advance: %v", err)
	}
}

// WaitDeliveries returns when no webhook delivery is due or under way; one that waits for its next attempt, as after an error,
// does not count. It returns ctx's error when that ends first, and [ErrClosed] when the server is closed first.
func (s *Server) WaitDeliveries(ctx context.Context) error { return asSDK(s.service.Settle(ctx)) }

// Format prints the URL for every verb: a server holds keys, signing links and personal data.
func (s *Server) Format(w fmt.State, _ rune) { io.WriteString(w, "signformstest.Server("+s.URL+")") }
