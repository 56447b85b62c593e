package signformstest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Server is a running service. Its methods are safe for concurrent use. Do not change the exported fields.
type Server struct {
	*refserver.Server

	t       reporter
	options Options
	budget  *clockedBudget // of clients
}

// reporter is the part of a test that every method needs.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

type panicker struct{}

func (panicker) Helper() {}

func (panicker) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// NewServer starts a server that closes with the test. A wrong use of its methods fails the test; an act that the service
// refuses returns an error. The log of a failed test ends with the requests that the server got and what it delivered,
// as [Request.String] describes them.
func NewServer(t testing.TB, opts *Options) *Server {
	t.Helper()
	internal, err := opts.internal()
	if err != nil {
		t.Fatalf("signformstest: %v", err)
	}
	return newServer(t, opts, refserver.NewServer(t, internal))
}

// Start starts a server outside a test. The caller closes it. A wrong use of the methods that would fail a test panics; methods
// with Try before their names return errors instead.
func Start(opts *Options) (*Server, error) {
	internal, err := opts.internal()
	if err != nil {
		return nil, err
	}
	service, err := refserver.Start(internal)
	if err != nil {
		return nil, err
	}
	return newServer(panicker{}, opts, service), nil
}

func newServer(t reporter, opts *Options, service *refserver.Server) *Server {
	s := &Server{Server: service, t: t}
	if opts != nil {
		s.options = *opts
	}
	s.budget = newClockedBudget(s)
	return s
}

func (s *Server) require(ok bool, format string, args ...any) {
	if !ok {
		s.t.Helper()
		s.t.Fatalf("signformstest: "+format, args...)
	}
}

// Advance moves the service's clock forward by d, which is 0 or more, up to 2262-04-11 at most. What falls due on the way (webhook
// retries, documents that expire, reminders that leave the limit's window) happens in order, each at its own time, before Advance
// returns. Then calls of the server's clients that wait to send a reminder look at the clock again.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	err := s.TryAdvance(context.Background(), d)
	s.require(err == nil || errors.Is(err, ErrClosed), "Advance: %v", err)
}

// TryAdvance is [Server.Advance], but returns an error.
func (s *Server) TryAdvance(ctx context.Context, d time.Duration) error {
	err := s.Server.TryAdvance(ctx, d)
	s.budget.clockMoved()
	return err
}

// Reset deletes everything but the workspace, its API keys and the webhook secret, and frees the reminder budget of clients.
func (s *Server) Reset() error {
	if err := s.Server.Reset(); err != nil {
		return err
	}
	s.budget.reset()
	return nil
}

// Format prints the URL for every verb.
func (s *Server) Format(w fmt.State, _ rune) { fmt.Fprintf(w, "signformstest.Server(%s)", s.URL) }

// LogValue returns what Format prints.
func (s *Server) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }
