package call_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/signforms/signforms-go/internal/clienttest"
)

type certificates = []tls.Certificate

// handlerFates are what a service of net/http makes of each request; a number is a status without the work.
var handlerFates = []string{"success", "success", "refused", "broken off at its head", "broken off", "never answered", "half an answer", "answer lost",
	"504 of a gateway", "429", "429 once", "503", "307", "404", "200 of a proxy"}

// frameFates are the ways in which HTTP/2 breaks off requests, which net/http's own service does not offer.
var frameFates = frameFateNames()

func frameFateNames() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(breakages)) {
		names = append(names, name, name+" at its head")
	}
	return append(names, "success")
}

var breakages = map[string]func(c *http2Conn, stream uint32){
	"PROTOCOL_ERROR":             func(c *http2Conn, stream uint32) { c.reset(stream, codeProtocolError) },
	"REFUSED_STREAM":             func(c *http2Conn, stream uint32) { c.reset(stream, codeRefusedStream) },
	"CANCEL":                     func(c *http2Conn, stream uint32) { c.reset(stream, codeCancel) },
	"INTERNAL_ERROR":             func(c *http2Conn, stream uint32) { c.reset(stream, codeInternalError) },
	"GOAWAY":                     func(c *http2Conn, stream uint32) { c.goAway(stream-1, 0) },
	"GOAWAY with PROTOCOL_ERROR": func(c *http2Conn, stream uint32) { c.goAway(stream-1, codeProtocolError) },
	"GOAWAY after it":            func(c *http2Conn, stream uint32) { c.goAway(stream, 0); c.hangUp() },
	"closed connection":          func(c *http2Conn, _ uint32) { c.hangUp() },
}

// enough is when a service that is sent request after request ends that with a success.
const enough = 50

// repeatService is the service of a run, over connections in memory. It counts the requests that arrived since it is armed,
// but for side requests, and those of them that it has or may have carried out.
type repeatService struct {
	run           repeatRun
	armed         atomic.Bool
	arrived, done atomic.Int64

	certificates certificates
	server       http.Server
	accepted     chan net.Conn
	ended        chan struct{}
	clients      []*http.Transport

	mu    sync.Mutex
	conns []net.Conn
}

func newRepeatService(r repeatRun, certificates certificates) *repeatService {
	s := &repeatService{run: r, certificates: certificates, accepted: make(chan net.Conn), ended: make(chan struct{})}
	s.server.Handler, s.server.ErrorLog = s, log.New(io.Discard, "", 0)
	switch r.protocol {
	case "HTTP/1.1":
		go func() { _ = s.server.Serve(s) }()
	case "TLS", "HTTP/2":
		s.server.TLSConfig = &tls.Config{Certificates: certificates}
		s.server.Protocols = new(http.Protocols)
		s.server.Protocols.SetHTTP1(r.protocol == "TLS")
		s.server.Protocols.SetHTTP2(r.protocol == "HTTP/2")
		go func() { _ = s.server.ServeTLS(s, "", "") }()
	}
	return s
}

func (s *repeatService) base() string {
	if s.run.protocol == "TLS" || s.run.protocol == "HTTP/2" {
		return "https://example.com"
	}
	return "http://example.com"
}

// transport returns a new one to the service.
func (s *repeatService) transport() *http.Transport {
	tr := &http.Transport{DialContext: s.dial, Protocols: new(http.Protocols), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	tr.Protocols.SetHTTP1(s.run.protocol == "HTTP/1.1" || s.run.protocol == "TLS")
	tr.Protocols.SetHTTP2(s.run.protocol == "HTTP/2")
	tr.Protocols.SetUnencryptedHTTP2(s.run.protocol == "frames")
	s.clients = append(s.clients, tr)
	return tr
}

func (s *repeatService) dial(ctx context.Context, _, address string) (net.Conn, error) {
	main := strings.HasPrefix(address, "example.com:")
	if strings.HasPrefix(address, "nobody.test:") || s.armed.Load() && main && s.run.fate == "refused" || s.arrived.Load() > enough {
		err := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.ConnectDone != nil {
			trace.ConnectDone("tcp", address, err) // as a net.Dialer tells it
		}
		return nil, err
	}
	client, server := net.Pipe()
	s.mu.Lock()
	s.conns = append(s.conns, server)
	s.mu.Unlock()
	switch {
	case s.run.protocol != "frames":
		select {
		case s.accepted <- server:
		case <-s.ended:
		}
	case main:
		go s.frames().serve(server)
	default:
		token := &http2Service{head: func(*http2Conn, uint32) {}, end: func(c *http2Conn, stream uint32) { c.answer(stream, "{}") }}
		go token.serve(server)
	}
	return client, nil
}

// Accept, Close and Addr make the service its own listener.
func (s *repeatService) Accept() (net.Conn, error) {
	select {
	case c := <-s.accepted:
		return c, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}

func (s *repeatService) Close() error   { return nil }
func (s *repeatService) Addr() net.Addr { return &net.TCPAddr{} }

// cut closes all connections.
func (s *repeatService) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
}

func (s *repeatService) close() {
	close(s.ended)
	for _, tr := range s.clients {
		tr.CloseIdleConnections()
	}
	_ = s.server.Close()
	s.cut()
}

// brokenOff tells of fates for which every attempt of a call that may be repeated fails.
func (s *repeatService) brokenOff() bool {
	_, frames := breakages[strings.TrimSuffix(s.run.fate, " at its head")]
	return frames || s.run.fate == "broken off" || s.run.fate == "answer lost" || s.run.fate == "503" || s.run.fate == "429"
}

// frames serves HTTP/2 frame by frame: a stream is a request.
func (s *repeatService) frames() *http2Service {
	name, early := strings.CutSuffix(s.run.fate, " at its head")
	breakOff := breakages[name]
	return &http2Service{
		head: func(c *http2Conn, stream uint32) {
			if !s.armed.Load() {
				return
			}
			n := s.arrived.Add(1)
			if n > enough || name != "GOAWAY" && name != "GOAWAY with PROTOCOL_ERROR" { // which exclude the stream
				s.done.Add(1)
			}
			if n <= enough && early {
				breakOff(c, stream)
			}
		},
		end: func(c *http2Conn, stream uint32) {
			if !s.armed.Load() || breakOff == nil || s.arrived.Load() > enough {
				c.answer(stream, clienttest.AnyAnswer)
			} else if !early {
				breakOff(c, stream)
			}
		},
	}
}

// ServeHTTP is the service but for frames.
func (s *repeatService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fate := s.run.fate
	if r.URL.Path == "/side" || !s.armed.Load() {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, clienttest.AnyAnswer)
		return
	}
	n := s.arrived.Add(1)
	status, err := strconv.Atoi(strings.TrimSuffix(fate, " once"))
	if strings.HasSuffix(fate, " once") && n > 1 || n > enough {
		fate, err = "success", errors.New("no status")
	}
	if err != nil {
		s.done.Add(1)
	}
	if fate == "broken off at its head" {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case err == nil:
		w.WriteHeader(status)
	case fate == "success" || fate == "refused":
		_, _ = io.WriteString(w, clienttest.AnyAnswer)
	case fate == "broken off":
		panic(http.ErrAbortHandler)
	case fate == "never answered":
		select {
		case <-r.Context().Done():
		case <-s.ended:
		}
	case fate == "504 of a gateway":
		w.WriteHeader(http.StatusGatewayTimeout)
	case fate == "200 of a proxy":
		_, _ = io.WriteString(w, "<html>")
	default: // half an answer, or none of a body that was announced
		w.Header().Set("Content-Length", "1000")
		if fate == "half an answer" {
			_, _ = io.WriteString(w, `{"message":`)
		}
		w.WriteHeader(http.StatusOK)
		panic(http.ErrAbortHandler)
	}
}
