package refserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
)

// Network is a network in memory, with names instead of ports, for a service, its client and its
// webhook receivers. A Network uses no socket, so all of them can run inside a [testing/synctest]
// bubble. The documentation of package signformstest has an example. A Network is safe for
// concurrent use.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener
	conns     map[net.Conn]struct{}
	servers   []*serving
	transport *http.Transport
	closed    bool
}

// NewNetwork returns an empty network. The caller closes it, after its servers.
func NewNetwork() *Network {
	n := &Network{listeners: make(map[string]*listener), conns: make(map[net.Conn]struct{})}
	n.transport = &http.Transport{DialContext: n.DialContext, MaxIdleConnsPerHost: 16}
	return n
}

// HTTPClient returns a client that reaches this network and nothing else.
func (n *Network) HTTPClient() *http.Client { return &http.Client{Transport: n.transport} }

// DialContext connects to the server that serves addr's host in this network. The port is ignored.
// If no server has this name, DialContext returns an error at once. It has the type of
// http.Transport.DialContext, for clients with their own settings.
func (n *Network) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	l := n.listeners[host]
	n.mu.Unlock()
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: memoryAddr(host), Err: n.unknown()}
	}
	near, far := net.Pipe()
	client, server := n.track(near), n.track(far)
	select {
	case l.accept <- server:
		return client, nil
	case <-l.done:
		err = net.ErrClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	client.Close()
	server.Close()
	return nil, &net.OpError{Op: "dial", Net: network, Addr: memoryAddr(host), Err: err}
}

// unknown returns the error for a name that no server has.
func (n *Network) unknown() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errors.New("the network is closed")
	}
	return fmt.Errorf("no server has this name in the network: it has %q", slices.Sorted(maps.Keys(n.listeners)))
}

// listen returns a listener for host, which no server may have yet.
func (n *Network) listen(host string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, errors.New("the network is closed")
	}
	if n.listeners[host] != nil {
		return nil, fmt.Errorf("%q is already served in this network", host)
	}
	l := &listener{network: n, host: host, accept: make(chan net.Conn), done: make(chan struct{})}
	n.listeners[host] = l
	return l, nil
}

// Serve serves h under a host name of this network, such as "app.test", until the network is
// closed. It returns the URL. Serve panics if the name is taken or the network is closed.
func (n *Network) Serve(host string, h http.Handler) (url string) {
	l, err := n.listen(host)
	if err != nil {
		panic("signformstest: " + err.Error())
	}
	n.mu.Lock()
	n.servers = append(n.servers, serve(l, h, 0))
	n.mu.Unlock()
	return "http://" + host
}

// Close breaks every connection and returns when no goroutine of the network is left. It may be called more than once.
func (n *Network) Close() {
	n.mu.Lock()
	n.closed = true
	servers, listeners, conns := n.servers, n.listeners, n.conns
	n.servers, n.listeners, n.conns = nil, nil, nil
	n.mu.Unlock()
	for _, l := range listeners {
		l.Close()
	}
	n.transport.CloseIdleConnections()
	for c := range conns {
		c.Close()
	}
	for _, s := range servers {
		s.close()
	}
}

func (n *Network) track(c net.Conn) net.Conn {
	t := &trackedConn{Conn: c, network: n}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		c.Close()
		return t
	}
	n.conns[t] = struct{}{}
	return t
}

type trackedConn struct {
	net.Conn
	network *Network
}

func (c *trackedConn) Close() error {
	c.network.mu.Lock()
	delete(c.network.conns, net.Conn(c))
	c.network.mu.Unlock()
	return c.Conn.Close()
}

type listener struct {
	network *Network
	host    string
	accept  chan net.Conn
	done    chan struct{}
	once    sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.network.mu.Lock()
		delete(l.network.listeners, l.host)
		l.network.mu.Unlock()
	})
	return nil
}

func (l *listener) Addr() net.Addr { return memoryAddr(l.host) }

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

func (n *Network) isClosed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}
