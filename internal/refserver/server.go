package refserver

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Server is a running service. Its methods are safe for concurrent use. Do not change the exported
// fields.
//
// A Server keeps every template, form, document and response in memory while it runs. It keeps only
// the newest requests, deliveries, messages and audit entries; see [Keep].
type Server struct {
	URL           string // base URL for a client: http://127.0.0.1:port, without a slash at the end
	PublicURL     string // beginning of the URLs in links and payloads: Options.PublicURL, or the URL
	APIKey        string // value of x-api-key
	WorkspaceID   string // value of the header workspaceid
	WebhookSecret string // secret of the deliveries; a webhook with a rotated secret uses its own

	options    Options
	clock      clock
	ids        *signing.IDs
	store      *store.Store
	links      signing.Links
	sender     *delivery.Sender
	outgoing   *http.Transport // transport of the sender
	transport  *http.Transport // transport of clients
	requests   requestLog
	faults     *faults
	http       *serving // nil: the server is reached through another server
	service    *api.API
	finishing  finishing
	keeper     *keeper // nil: nothing is kept
	happenings happenings
	watching   sync.Once // guards the registration of the callback for changes
	logger     *slog.Logger

	advancing chan struct{}   // has a value while the clock is moved; a Mutex would stop the time of a testing/synctest bubble
	ctx       context.Context // ends when the server closes
	stop      context.CancelFunc

	stopSaving context.CancelFunc // interrupts a Save
	running    sync.WaitGroup
	closing    sync.Once
}

// maxIdle is how many idle connections the clients of a server keep. With the default of net/http,
// which is 2, parallel tests would dial for each request.
const maxIdle = 64

// Start starts a server. The caller closes it.
func Start(opts *Options) (*Server, error) {
	if opts == nil {
		opts = &Options{}
	}
	limit, err := opts.check()
	if err != nil {
		return nil, err
	}
	if opts.Behind != nil {
		own := *opts
		own.Network, own.PublicURL = opts.Behind.options.Network, opts.Behind.PublicURL
		return startWith(own, nil, opts.Behind.URL, limit)
	}
	listener, url, err := listen(opts.Network, opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("starting the reference service: %w", err)
	}
	return startWith(*opts, listener, url, limit)
}

// startWith starts a server that serves on a listener, unless that is nil.
func startWith(opts Options, listener net.Listener, url string, limit api.Limit) (*Server, error) {
	s := newServer(opts, url)
	if err := s.open(); err != nil {
		if listener != nil {
			listener.Close()
		}
		s.stop()
		return nil, fmt.Errorf("starting the reference service: %w", err)
	}
	s.service = s.newAPI(limit)
	s.running.Go(func() { s.sender.Run(s.ctx) })
	if listener == nil {
		return s, nil
	}
	handler := http.Handler(s)
	if s.options.Middleware != nil {
		handler = s.options.Middleware(handler)
	}
	s.http = serve(listener, handler, bodyTime)
	return s, nil
}

// receiverIdle is how long a connection to a receiver stays open without a request. If two
// deliveries dial at the same time, one connection may never carry a request. The method
// server.close of Node waits forever for such a connection, and http.Server.Shutdown for 5 s.
const receiverIdle = time.Second

// maxReceiverHeader is the maximum size of the header of a receiver's response, in bytes. The
// delivery log stores it.
const maxReceiverHeader = 64 << 10

func newServer(opts Options, url string) *Server {
	public := strings.TrimRight(cmp.Or(opts.PublicURL, url), "/")
	keep := opts.Keep.withDefaults()
	s := &Server{
		URL:       url,
		PublicURL: public,
		options:   opts,
		logger:    opts.Logger,
		clock:     clock{start: opts.Start},
		ids:       signing.NewIDs(opts.Seed),
		faults:    newFaults(opts.Seed),
		links:     signing.Links{Base: public, Prefix: opts.Prefix},
		requests:  requestLog{most: keep.Requests},
		advancing: make(chan struct{}, 1),
		outgoing: &http.Transport{
			MaxIdleConnsPerHost: 16, IdleConnTimeout: receiverIdle, DisableCompression: true, MaxResponseHeaderBytes: maxReceiverHeader,
		},
		transport: &http.Transport{MaxIdleConnsPerHost: maxIdle},
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	s.ids.Prefix = opts.Prefix
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.store = store.New(s.Now)
	s.store.SetBounds(store.Bounds{Deliveries: keep.Deliveries, Audit: keep.Audit, Messages: keep.Messages})
	s.store.SetFinishes(opts.Finish != nil)
	if opts.DialWebhook != nil {
		s.outgoing.DialContext = opts.DialWebhook
	}
	if opts.Network != nil {
		s.outgoing.DialContext, s.transport.DialContext = opts.Network.DialContext, opts.Network.DialContext
	}
	timestamps := opts.Profile.Timestamps
	s.sender = delivery.NewSender(delivery.Config{
		Store: s.store, Client: delivery.NewHTTPClient(s.outgoing), Links: s.links,
		Frozen: s.clock.frozen(), Stamp: func() string { return timestamps.Format(s.stampClock()) }, Tamper: s.tamper, Once: opts.Profile.SignOnce,
	})
	return s
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

// reachable returns the address at which this machine reaches a listener. A listener on every
// address is reachable on loopback.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return a.String()
}

// Shutdown stops the server as Close does, but first waits for running requests and webhook
// attempts, and starts no others. If ctx ends before they do, Shutdown interrupts them and returns
// ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.Close()
	if s.http != nil {
		if err := s.http.finish(ctx); err != nil {
			return err
		}
	}
	return s.sender.Quiesce(ctx)
}

// Close stops the server. It interrupts requests and webhook attempts. It closes the port, and no
// goroutine is left, except that of a call of Options.Finish that continues after its ctx has
// ended. Close may be called more than once.
//
// The methods that read logs and records still work on a closed server. The server writes nothing
// to its Storage. A method that would change something returns an error that matches [ErrClosed];
// ClearFaults does nothing.
func (s *Server) Close() {
	s.closing.Do(func() {
		defer s.boundSaving()() // handlers and the sender may wait for a Save
		if s.http != nil {
			s.http.close()
		}
		s.stop()
		s.running.Wait()
		s.finishing.close()
		s.outgoing.CloseIdleConnections()
		s.store.Close()
		s.happenings.close()
	})
}

// Now returns the service's time: the wall clock or Options.Start, plus the sum of all advances.
// Now can be used as VerifierOptions.Now.
func (s *Server) Now() time.Time { return s.clock.Now() }

// HTTPClient returns an HTTP client that reaches the server, through Options.Network if it is set.
// The connections of the client end with the server.
func (s *Server) HTTPClient() *http.Client { return &http.Client{Transport: s.transport} }

// stampClock returns the time for x-timestamp.
func (s *Server) stampClock() time.Time {
	if s.options.VirtualTimestamps {
		return s.Now()
	}
	return time.Now()
}
