package reminderlimit_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// outcome says how a request fares on its way to the service, and of its response on the way back.
type outcome int

const (
	passes       outcome = iota
	lostThere            // the request vanishes and the connection stays open
	lostBack             // the answer vanishes and the connection stays open
	resetThere           // the connection breaks before the request has arrived
	resetBack            // the connection breaks when the service answers
	cutBack              // the connection breaks in the middle of the answer
	gatewayFirst         // a gateway answers 504 at once, and the request arrives later, within the minute
	late                 // the request arrives long after it was given up
)

// passage is one request's way: how long it takes there and back, and its outcome.
type passage struct {
	outcome     outcome
	there, back time.Duration
	pause       time.Duration // between the halves of the answer
}

// wire is the way between clients and a service. It has its own idea of every passage, and ends with all its goroutines.
type wire struct {
	service func(ctx context.Context, network, addr string) (net.Conn, error)
	dialing func(context.Context) error // takes its time, may fail
	passage func() passage
	running sync.WaitGroup
}

func (w *wire) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if err := w.dialing(ctx); err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	c := &wireConn{
		wire: w, addr: addr, there: make(chan crossing, 8), back: make(chan []byte),
		ended: make(chan struct{}), hungUp: make(chan struct{}), broken: make(chan struct{}),
	}
	w.running.Go(c.carryThere)
	return c, nil
}

// wireConn is the client's end of a connection. As with a socket, what was written crosses even after Close.
type wireConn struct {
	wire     *wire
	addr     string
	there    chan crossing
	back     chan []byte
	rest     []byte // of what came back, not yet read
	crossing atomic.Pointer[passage]

	mu       sync.Mutex
	isClosed bool
	hungUp   chan struct{} // closed by the client
	ended    chan struct{} // closed by the service
	once     sync.Once
	broken   chan struct{} // closed by the wire
}

func (c *wireConn) LocalAddr() net.Addr              { return &net.UnixAddr{Name: "client"} }
func (c *wireConn) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: c.addr} }
func (c *wireConn) SetDeadline(time.Time) error      { return nil }
func (c *wireConn) SetReadDeadline(time.Time) error  { return nil }
func (c *wireConn) SetWriteDeadline(time.Time) error { return nil }

type crossing struct {
	passage
	at   time.Time
	data []byte
}

var errReset = errors.New("connection reset by peer")

// Write takes everything at once, as the buffers of a socket do. A client writes a request of this size in one piece.
func (c *wireConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.broken:
		return 0, errReset
	default:
	}
	if c.isClosed {
		return 0, net.ErrClosed
	}
	p := c.wire.passage()
	c.crossing.Store(&p)
	c.there <- crossing{p, time.Now().Add(p.there), append([]byte(nil), b...)}
	return len(b), nil
}

func (c *wireConn) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		select {
		case c.rest = <-c.back:
		case <-c.ended:
			return 0, io.EOF
		case <-c.hungUp:
			return 0, net.ErrClosed
		case <-c.broken:
			return 0, errReset
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *wireConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isClosed {
		c.isClosed = true
		close(c.there)
		close(c.hungUp)
	}
	return nil
}

// carryThere connects to the service when something arrives there: an open connection on which nothing comes would not
// last.
func (c *wireConn) carryThere() {
	var service net.Conn
	defer func() {
		if service != nil {
			service.Close()
		}
	}()
	for x := range c.there {
		time.Sleep(time.Until(x.at))
		switch x.outcome {
		case lostThere:
			continue
		case resetThere:
			c.reset()
			continue
		case gatewayFirst:
			c.deliver([]byte("HTTP/1.1 504 Gateway Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"))
			time.Sleep(55 * time.Second)
		}
		if service == nil {
			var err error
			if service, err = c.wire.service(context.Background(), "tcp", c.addr); err != nil {
				c.reset()
				continue
			}
			c.wire.running.Go(func() { c.carryBack(service) })
		}
		service.Write(x.data)
	}
}

func (c *wireConn) carryBack(service net.Conn) {
	defer close(c.ended)
	buf := make([]byte, 4<<10)
	for {
		n, err := service.Read(buf)
		if err != nil {
			return
		}
		p, data := c.crossing.Load(), append([]byte(nil), buf[:n]...)
		time.Sleep(p.back)
		switch p.outcome {
		case lostBack, late, gatewayFirst:
			continue
		case resetBack:
			c.reset()
			continue
		}
		c.deliver(data[:n/2])
		time.Sleep(p.pause)
		if p.outcome == cutBack {
			c.reset()
			continue
		}
		c.deliver(data[n/2:])
	}
}

func (c *wireConn) deliver(data []byte) {
	select {
	case c.back <- data:
	case <-c.ended:
	case <-c.hungUp:
	case <-c.broken:
	}
}

func (c *wireConn) reset() { c.once.Do(func() { close(c.broken) }) }
