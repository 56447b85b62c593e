package signformstest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Server is a running service. Its methods may be called from several goroutines. The exported fields are not to be
// changed.
//
// It keeps every record, audit entry, message and delivery in memory for as long as it runs, and of API requests the newest
// 100,000: a program that runs for days should start another one now and then.
type Server struct {
	URL           string // base URL for a client: http://127.0.0.1:port, without a slash at the end
	APIKey        string // for x-api-key
	WorkspaceID   string // for the workspaceid header
	WebhookSecret string // signs the deliveries of every webhook

	ref       *refserver.Server
	t         reporter
	transport *http.Transport             // of clients
	budget    *signforms.MemoryLimitStore // of clients
	endpoints map[signforms.Operation]signforms.Endpoint
}

// reporter is the part of a test that every method needs.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// NewServer starts a server that closes with the test. What its methods cannot do, other than acts that the service
// refuses, fails the test. When the test has failed, its log ends with what the server was asked and what it delivered,
// without any value that a client sent.
func NewServer(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := start(t, opts)
	if err != nil {
		t.Fatalf("signformstest: %v", err)
	}
	t.Cleanup(func() {
		s.Close()
		if opts != nil && opts.FailOnUnusedFaults {
			for _, unused := range s.ref.UnusedFaults() {
				t.Errorf("signformstest: FailOnUnusedFaults: %s; make what it waits for, or take it back", unused)
			}
		}
		if t.Failed() {
			t.Log(s.history())
		}
	})
	return s
}

// Start starts a server outside a test, for programs that show or try something. The caller closes it. What its methods
// cannot do, other than acts that the service refuses, is a programming error and panics.
func Start(opts *Options) (*Server, error) { return start(panicker{}, opts) }

// maxIdle is how many connections a server's clients keep; net/http's own 2 makes parallel tests dial for each request.
const maxIdle = 64

func start(t reporter, opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	o, err := opts.internal()
	if err != nil {
		return nil, err
	}
	ref, err := refserver.Start(o)
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL: ref.URL, APIKey: ref.APIKey, WorkspaceID: ref.WorkspaceID, WebhookSecret: ref.WebhookSecret, ref: ref, t: t,
		transport: &http.Transport{MaxIdleConnsPerHost: maxIdle}, budget: signforms.NewMemoryLimitStore(ref.Now),
		endpoints: opts.Profile.Endpoints,
	}
	if opts.Network != nil {
		s.transport.DialContext = opts.Network.ref.DialContext
	}
	return s, nil
}

// Close stops the server: it breaks off requests and webhook attempts, and leaves no goroutine and no port behind. It
// may be called more than once.
func (s *Server) Close() { s.ref.Close() }

// Now returns the service's time: the wall clock, or Options.Start, plus what was advanced. It has the form of a
// Verifier's clock.
func (s *Server) Now() time.Time { return s.ref.Now() }

// Advance moves the service's clock forward by d, which is 0 or more. What falls due on the way (webhook retries, documents
// that expire, reminders that leave the limit's window) happens in order, each at its own time, before Advance returns. Then
// calls of the server's clients that wait to send a reminder look at the clock again. Advance waits for receivers, up to 10
// seconds of the wall clock for an attempt that is not answered, and so must not be called from one.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.require(d >= 0, "Advance: %v would move the clock back", d)
	s.ref.Advance(d)
	s.budget.ClockMoved()
}

// Settle returns when no webhook delivery is due or under way; one that waits for its next attempt does not count. It
// returns ctx's error when that ends first, and another when the server is closed first.
func (s *Server) Settle(ctx context.Context) error { return s.ref.Settle(ctx) }

// require fails the test, or panics outside of one, when a condition on what the caller gave does not hold.
func (s *Server) require(ok bool, format string, args ...any) {
	if !ok {
		s.t.Helper()
		s.t.Fatalf("signformstest: "+format, args...)
	}
}

type panicker struct{}

func (panicker) Helper() {}

func (panicker) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
