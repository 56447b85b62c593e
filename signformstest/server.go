package signformstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Options configure a [Server]. The zero value, like nil, serves on loopback with random ids and the wall clock.
type Options struct {
	// Seed, unless 0, makes ids, keys and secrets the same on every run that makes the same calls in the same order.
	Seed uint64

	// Start, unless zero, is where the server's clock starts and stands still between calls of [Server.Advance], so that
	// times are the same on every run. By default the clock is the wall clock plus what was advanced.
	Start time.Time

	// Network, unless nil, is where the server is reached and reaches webhooks, in place of loopback: for tests in a
	// [testing/synctest] bubble.
	Network *Network

	// VirtualTimestamps makes the x-timestamp of deliveries follow [Server.Now], for receivers whose Verifier has
	// Now: srv.Now. By default it follows the wall clock, whatever was advanced.
	VirtualTimestamps bool

	// UntypedSamples makes [Server.TestWebhook] leave out webhookEvent, as the interface's own sample does.
	UntypedSamples bool
}

// Server is a running service. Its methods may be called from several goroutines. The exported fields are not to be
// changed.
type Server struct {
	URL           string // base URL for a client: http://127.0.0.1:port, without a slash at the end
	APIKey        string // for x-api-key
	WorkspaceID   string // for the workspaceid header
	WebhookSecret string // signs the deliveries of every webhook

	ref *refserver.Server
	t   reporter
}

// reporter is the part of a test that a server needs.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// NewServer starts a server that closes with the test. What its methods cannot do, other than acts that the service
// refuses, fails the test.
func NewServer(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := start(t, opts)
	if err != nil {
		t.Fatalf("signformstest: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server outside a test, for programs that show or try something. The caller closes it. What its methods
// cannot do, other than acts that the service refuses, is a programming error and panics.
func Start(opts *Options) (*Server, error) { return start(panicker{}, opts) }

func start(t reporter, opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	o := refserver.Options{
		Seed: opts.Seed, Start: opts.Start, VirtualTimestamps: opts.VirtualTimestamps, UntypedSamples: opts.UntypedSamples,
	}
	if opts.Network != nil {
		o.Network = opts.Network.ref
	}
	ref, err := refserver.Start(o)
	if err != nil {
		return nil, err
	}
	return &Server{
		URL: ref.URL, APIKey: ref.APIKey, WorkspaceID: ref.WorkspaceID, WebhookSecret: ref.WebhookSecret, ref: ref, t: t,
	}, nil
}

// Close stops the server: it breaks off requests and webhook attempts, and leaves no goroutine and no port behind. It
// may be called more than once.
func (s *Server) Close() { s.ref.Close() }

// Now returns the service's time: the wall clock, or Options.Start, plus what was advanced. It has the form of a
// Verifier's clock.
func (s *Server) Now() time.Time { return s.ref.Now() }

// Advance moves the service's clock forward by d. What falls due on the way (webhook retries, documents that expire)
// happens in order, each at its own time, before Advance returns. It must not be called from a webhook receiver, which
// it would wait for.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.require(d >= 0, "Advance: %v would move the clock back", d)
	s.ref.Advance(d)
}

// Settle returns when no webhook delivery is due or under way; one that waits for its next attempt does not count. It
// returns ctx's error when that ends first.
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
