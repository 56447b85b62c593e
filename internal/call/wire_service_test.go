package call_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// wireService is a service one can see down to its connections, which are in memory: with it, real net/http can be watched
// in a bubble of testing/synctest, where time-outs take no time.
type wireService struct {
	// behave deals with one connection and then has it closed.
	behave func(*wireService, net.Conn)
	// done is closed at the end of the test.
	done chan struct{}

	mu    sync.Mutex
	dials int
	seen  []seenRequest
	conns []net.Conn
}

// seenRequest is a request that the service read to its end.
type seenRequest struct {
	id, method, path, body string
}

// dial is for http.Transport.
func (s *wireService) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	s.mu.Lock()
	s.dials++
	s.conns = append(s.conns, server)
	s.mu.Unlock()
	go func() {
		defer server.Close()
		s.behave(s, server)
	}()
	return client, nil
}

// read reads one request to its end.
func (s *wireService) read(from *bufio.Reader) (seenRequest, error) {
	req, err := http.ReadRequest(from)
	if err != nil {
		return seenRequest{}, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return seenRequest{}, err
	}
	seen := seenRequest{req.Header.Get("X-Request-Id"), req.Method, req.URL.Path, string(body)}
	s.mu.Lock()
	s.seen = append(s.seen, seen)
	s.mu.Unlock()
	return seen, nil
}

func (s *wireService) requests() []seenRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seenRequest(nil), s.seen...)
}

func (s *wireService) close() {
	close(s.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
}

// client returns a client with documented defaults, apart from its reminder budget, over a real http.Transport.
func (s *wireService) client(t *testing.T, scheme string, change ...func(*http.Transport, *signforms.Options)) *signforms.Client {
	t.Helper()
	s.done = make(chan struct{})
	transport := &http.Transport{DialContext: s.dial}
	o := &signforms.Options{Transport: transport, LimitStore: signforms.NewMemoryLimitStore(nil)}
	for _, f := range change {
		f(transport, o)
	}
	c, err := signforms.New(scheme+"://service.test", clienttest.APIKey, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.close()
	})
	return c
}

// answering keeps a connection, and answers each request on it with these bytes.
func answering(bytes string) func(*wireService, net.Conn) {
	return func(s *wireService, c net.Conn) {
		for r := bufio.NewReader(c); ; {
			if _, err := s.read(r); err != nil {
				return
			}
			if _, err := io.WriteString(c, bytes); err != nil {
				return
			}
		}
	}
}

// closingAfter reads n bytes of a request, or all for -1, writes these bytes and closes.
func closingAfter(n int64, bytes string) func(*wireService, net.Conn) {
	return func(s *wireService, c net.Conn) {
		if n < 0 {
			_, _ = s.read(bufio.NewReader(c))
		} else {
			_, _ = io.CopyN(io.Discard, c, n)
		}
		write(c, bytes)
	}
}

// silentAfter reads a request, writes these bytes and then waits for the client to hang up.
func silentAfter(bytes string) func(*wireService, net.Conn) {
	return func(s *wireService, c net.Conn) {
		r := bufio.NewReader(c)
		_, _ = s.read(r)
		write(c, bytes)
		_, _ = r.ReadByte()
	}
}

// write does not write nothing: on a net.Pipe that would wait for a reader.
func write(c net.Conn, bytes string) {
	if bytes != "" {
		_, _ = io.WriteString(c, bytes)
	}
}
