package refserver

import (
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
}

// serve serves h on l until closed.
func serve(l net.Listener, h http.Handler) *serving {
	s := &serving{server: http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
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

// close breaks every connection and returns when no goroutine of the server is left, which includes those of handlers.
func (s *serving) close() {
	s.server.Close()
	s.wait.Wait()
}
