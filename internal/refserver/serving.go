package refserver

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// serving is an HTTP server together with its goroutines.
type serving struct {
	server http.Server
	wait   sync.WaitGroup // the accept loop and every connection
	cancel context.CancelFunc
}

// serve serves h on l until closed. A request has readTimeout to arrive with its body; 0: as long as it takes.
func serve(l net.Listener, h http.Handler, readTimeout time.Duration) *serving {
	// Handlers learn from their context that the server closes, even those that never read the body, for which net/http
	// does not watch the connection.
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{cancel: cancel, server: http.Server{
		BaseContext:       func(net.Listener) context.Context { return ctx },
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       readTimeout,
		ErrorLog:          log.New(io.Discard, "", 0), // connections that clients break are part of every test
	}}
	s.server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.wait.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.wait.Done()
		}
	}
	s.wait.Go(func() { s.server.Serve(l) }) // ends with ErrServerClosed
	return s
}

// bodyTime is how long a request to a server may take to arrive with its body. A handler with it all may take longer.
const bodyTime = time.Minute

// finish accepts nothing more and returns when no request is under way, or with ctx's error when that ends first.
func (s *serving) finish(ctx context.Context) error { return s.server.Shutdown(ctx) }

// close breaks every connection and returns when no goroutine of the server is left, which includes those of handlers.
func (s *serving) close() {
	s.cancel()
	s.server.Close()
	s.wait.Wait()
}
