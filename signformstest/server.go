package signformstest

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Server is a running service. Its methods may be called from several goroutines. The exported fields are not to be
// changed.
//
// It keeps every record, audit entry, message and delivery in memory for as long as it runs, and of API requests the newest
// 100,000: a program that runs for days should start another one now and then.
type Server struct {
	URL           string // base URL for a client: http://127.0.0.1:port, without a slash at the end
	PublicURL     string // what links and payloads begin with: Options.PublicURL, or the URL
	APIKey        string // for x-api-key
	WorkspaceID   string // for the workspaceid header
	WebhookSecret string // signs the deliveries of every webhook

	options   Options
	t         reporter
	clock     clock
	ids       *signing.IDs
	store     *store.Store
	links     signing.Links
	sender    *delivery.Sender
	outgoing  *http.Transport             // of the sender
	transport *http.Transport             // of clients
	budget    *signforms.MemoryLimitStore // of clients
	requests  requestLog
	refused   recent[string]
	faults    *faults
	http      *serving

	advancing chan struct{} // holds a value while the clock is moved; a Mutex would stop the time of a testing/synctest bubble
	stop      context.CancelFunc
	running   sync.WaitGroup
	closing   sync.Once
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
		if s.options.FailOnUnusedFaults {
			for _, unused := range s.faults.unused() {
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
	limit, err := opts.check()
	if err != nil {
		return nil, err
	}
	listener, url, err := listen(opts.Network, opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("starting the reference service: %w", err)
	}
	public := strings.TrimRight(cmp.Or(opts.PublicURL, url), "/")
	ids := signing.NewIDs(opts.Seed)
	s := &Server{
		URL:           url,
		PublicURL:     public,
		WebhookSecret: cmp.Or(opts.WebhookSecret, ids.Token()),
		options:       *opts,
		t:             t,
		clock:         clock{start: opts.Start},
		ids:           ids,
		faults:        newFaults(opts.Seed),
		links:         signing.Links{Base: public},
		advancing:     make(chan struct{}, 1),
		outgoing:      &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
		transport:     &http.Transport{MaxIdleConnsPerHost: maxIdle},
	}
	s.store, s.budget = store.New(s.Now), signforms.NewMemoryLimitStore(s.Now)
	if opts.Network != nil {
		s.outgoing.DialContext, s.transport.DialContext = opts.Network.DialContext, opts.Network.DialContext
	}
	own := store.Workspace{ID: cmp.Or(opts.WorkspaceID, s.ids.UUID()), OwnerID: s.ids.UUID()}
	s.WorkspaceID, s.APIKey = own.ID, cmp.Or(opts.APIKey, s.ids.Token())
	s.addWorkspace(own, s.APIKey)
	s.run(listener, limit)
	return s, nil
}

// run starts the sender and serves.
func (s *Server) run(l net.Listener, limit api.Limit) {
	timestamps := delivery.TimestampFormat(s.options.Profile.Timestamps)
	s.sender = delivery.NewSender(delivery.Config{
		Store: s.store, Client: delivery.NewHTTPClient(s.outgoing), Links: s.links,
		Frozen: s.clock.frozen(), Stamp: func() string { return timestamps.Format(s.stampClock()) }, Tamper: s.tamper,
	})
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.sender.Run(ctx) })
	handler := s.handler(limit)
	if s.options.Middleware != nil {
		handler = s.options.Middleware(handler)
	}
	s.http = serve(l, handler)
}

// listen returns a listener on addr, or under a free name of the network, and its URL.
func listen(n *Network, addr string) (net.Listener, string, error) {
	if n == nil {
		l, err := net.Listen("tcp", cmp.Or(addr, "127.0.0.1:0"))
		if err != nil {
			return nil, "", err
		}
		return l, "http://" + reachable(l.Addr()), nil
	}
	for i := 1; ; i++ {
		host := "service.test"
		if i > 1 {
			host = fmt.Sprintf("service-%d.test", i)
		}
		l, err := n.listen(host)
		if err == nil || n.isClosed() {
			return l, "http://" + host, err
		}
	}
}

// reachable is the address by which this machine reaches a listener: one that listens on every address is on loopback too.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return a.String()
}

// Close stops the server: it breaks off requests and webhook attempts, and leaves no goroutine and no port behind. It
// may be called more than once.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.http.close()
		s.stop()
		s.running.Wait()
		s.outgoing.CloseIdleConnections()
	})
}

// Now returns the service's time: the wall clock, or Options.Start, plus what was advanced. It has the form of a
// Verifier's clock.
func (s *Server) Now() time.Time { return s.clock.Now() }

// stampClock is the time that x-timestamp tells.
func (s *Server) stampClock() time.Time {
	if s.options.VirtualTimestamps {
		return s.Now()
	}
	return time.Now()
}

// Advance moves the service's clock forward by d, which is 0 or more. What falls due on the way (webhook retries, documents
// that expire, reminders that leave the limit's window) happens in order, each at its own time, before Advance returns. Then
// calls of the server's clients that wait to send a reminder look at the clock again. Advance waits for receivers, up to 10
// seconds of the wall clock for an attempt that is not answered, and so must not be called from one.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	s.require(d >= 0, "Advance: %v would move the clock back", d)
	s.advancing <- struct{}{}
	defer func() { <-s.advancing }()
	s.advance(d)
	s.budget.ClockMoved()
}

// advance makes the deliveries that fall due on the way, each at its own time. Expiry needs no step: every transaction of the
// store begins with it.
func (s *Server) advance(d time.Duration) {
	for {
		s.sender.Wake()
		if s.Settle(context.Background()) != nil || d <= 0 {
			return
		}
		step := d
		if next, ok := s.nextDelivery(); ok {
			step = min(step, max(next.Sub(s.Now()), 0))
		}
		s.clock.advance(step)
		d -= step
	}
}

func (s *Server) nextDelivery() (at time.Time, ok bool) {
	s.store.View(func(tx *store.Tx) error {
		at, ok = tx.NextDeliveryAt()
		return nil
	})
	return at, ok
}

// Settle returns when no webhook delivery is due or under way; one that waits for its next attempt does not count. It
// returns ctx's error when that ends first, and another when the server is closed first.
func (s *Server) Settle(ctx context.Context) error { return s.sender.Settle(ctx) }

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
