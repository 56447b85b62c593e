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

// serve serves h on l until closed. readTimeout is how long a request may take to arrive with its
// body; 0 means no limit.
func serve(l net.Listener, h http.Handler, readTimeout time.Duration) *serving {
	// ctx is the parent of the requests' contexts and ends when the server closes. Otherwise a
	// handler that never reads the body would not notice that the server closes, because net/http
	// does not watch its connection.
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{cancel: cancel, server: http.Server{
		BaseContext:       func(net.Listener) context.Context { return ctx },
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       readTimeout,
		ErrorLog:          log.New(io.Discard, "", 0), // broken connections are part of every test
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

// bodyTime is how long a request to a server may take to arrive with its body. A handler that has
// read the whole request may take longer.
const bodyTime = time.Minute

// finish accepts no more requests. It returns when no request is running. If ctx ends first, it
// returns ctx's error.
func (s *serving) finish(ctx context.Context) error { return s.server.Shutdown(ctx) }

// close breaks every connection and returns when no goroutine of the server is left, including the
// goroutines of handlers.
func (s *serving) close() {
	s.cancel()
	s.server.Close()
	s.wait.Wait()
}
