// Package refserver is the reference service: everything that the interface of the Signing and Forms Service describes,
// stateful, in memory, in one process. It wires the rooms below it together: signing (the rules), store (the records), api
// (the HTTP interface) and delivery (the webhook sender). Tests use it through package signformstest.
package refserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Options configure a [Server]. The zero value serves on loopback, with random ids and the wall clock.
type Options struct {
	Seed              uint64    // of ids and secrets; 0: random
	Start             time.Time // where the clock starts and, between advances, stands still; zero: it follows the wall clock
	Network           *Network  // serve and deliver in it; nil: on loopback
	VirtualTimestamps bool      // x-timestamp follows Now; false: the wall clock
	Profile           api.Profile
	Reminders         api.Limit // nil: 5 in any 15 minutes
	Timestamps        delivery.TimestampFormat
	UntypedSamples    bool // "Test Webhook" leaves webhookEvent out, as the interface's own sample does
}

// Server is a running reference service. It is safe for concurrent use.
type Server struct {
	URL           string // without a slash at the end
	APIKey        string
	WorkspaceID   string
	WebhookSecret string

	options   Options
	clock     clock
	ids       *signing.IDs
	store     *store.Store
	links     signing.Links
	sender    *delivery.Sender
	transport *http.Transport // of the sender
	requests  recent[api.Record]
	refused   recent[string]
	faults    *faults
	http      *serving

	advancing chan struct{} // holds a value while the clock is moved; a Mutex would stop the time of a testing/synctest bubble
	stop      context.CancelFunc
	running   sync.WaitGroup
	closing   sync.Once
}

// Start starts a service with one workspace and one API key. The caller closes it.
func Start(o Options) (*Server, error) {
	listener, url, err := listen(o.Network)
	if err != nil {
		return nil, fmt.Errorf("starting the reference service: %w", err)
	}
	ids := signing.NewIDs(o.Seed)
	s := &Server{
		URL:           url,
		WebhookSecret: ids.Token(),
		options:       o,
		clock:         clock{start: o.Start},
		ids:           ids,
		faults:        newFaults(o.Seed),
		links:         signing.Links{Base: url},
		advancing:     make(chan struct{}, 1),
		transport:     &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
	}
	s.store = store.New(s.Now)
	if o.Network != nil {
		s.transport.DialContext = o.Network.DialContext
	}
	s.WorkspaceID = s.AddWorkspace()
	s.APIKey = s.AddKey(s.WorkspaceID)
	s.sender = delivery.NewSender(delivery.Config{
		Store: s.store, Client: delivery.NewHTTPClient(s.transport), Links: s.links,
		Frozen: s.clock.frozen(), Stamp: func() string { return o.Timestamps.Format(s.stampClock()) }, Tamper: s.tamper,
	})
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.sender.Run(ctx) })
	s.http = serve(listener, s.handler())
	return s, nil
}

// listen returns a listener on a free loopback port, or under a free name of the network, and its URL.
func listen(n *Network) (net.Listener, string, error) {
	if n == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, "", err
		}
		return l, "http://" + l.Addr().String(), nil
	}
	for i := 1; ; i++ {
		host := "service.test"
		if i > 1 {
			host = fmt.Sprintf("service-%d.test", i)
		}
		l, err := n.Listen(host)
		if err == nil || n.isClosed() {
			return l, "http://" + host, err
		}
	}
}

// Close stops the service. It waits for handlers and for webhook attempts, which it breaks off, and leaves no goroutine
// and no port behind. It may be called more than once.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.http.close()
		s.stop()
		s.running.Wait()
		s.transport.CloseIdleConnections()
	})
}

// Now returns the service's time.
func (s *Server) Now() time.Time { return s.clock.Now() }

// stampClock is the time that x-timestamp tells.
func (s *Server) stampClock() time.Time {
	if s.options.VirtualTimestamps {
		return s.Now()
	}
	return time.Now()
}

// Settle returns when no delivery is due or under way. It returns ctx's error when that ends first, and
// [delivery.ErrClosed] when the service is closed meanwhile.
func (s *Server) Settle(ctx context.Context) error { return s.sender.Settle(ctx) }

// Advance moves the clock by d and makes the deliveries that fall due on the way, each at its own time, before it returns.
// Expiry needs no step: every transaction of the store begins with it. Called from a
// webhook receiver, Advance waits for itself, until the attempt runs into its time-out.
func (s *Server) Advance(d time.Duration) {
	s.advancing <- struct{}{}
	defer func() { <-s.advancing }()
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
