package refserver

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// newHandler serves pages and the API. It is not a ServeMux because that redirects unclean paths, for which the API says what was
// probably meant.
func (s *Server) newHandler(limit api.Limit) http.Handler {
	s.service = api.New(api.Options{
		Store: s.store, IDs: s.ids, Links: s.links, Profile: s.options.Profile.internal(),
		Reminders: limit, Intercept: s.intercept, Log: s.logRequest,
	})
	s.service.RestoreLimits()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.service.Serves(r.URL) && s.servePage(w, r) {
			return
		}
		late := &lateWriter{ResponseWriter: w}
		defer late.close()
		s.service.ServeHTTP(late, r)
		late.send()
	})
}

// unlessStopped answers every request with the reason once the service has stopped.
func (s *Server) unlessStopped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.store.Stopped() == nil {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"message":%q,"code":"unavailable"}`, store.ErrStopped.Error()) // which JSON writes as Go does
	})
}

// logRequest keeps the record of a request and tells watchers.
func (s *Server) logRequest(r api.Record) {
	s.requests.add(r)
	s.watchers.tell(Happening{Kind: RequestHappening, At: r.At})
}

// lateWriter holds an answer back until the request is in the log, so that a client that has its answer finds it there.
type lateWriter struct {
	http.ResponseWriter
	body []byte
	conn net.Conn // after Hijack
}

func (w *lateWriter) Write(b []byte) (int, error) {
	w.body = append(w.body, b...)
	return len(b), nil
}

// FlushError sends what was written so far: a fault that answers slowly needs it.
func (w *lateWriter) FlushError() error {
	w.send()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack hands the connection to a fault, which must leave closing it to the handler.
func (w *lateWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.conn = conn
	return conn, buf, err
}

func (w *lateWriter) send() {
	if len(w.body) > 0 {
		w.ResponseWriter.Write(w.body) // the service does not care about a client that is gone
		w.body = nil
	}
}

func (w *lateWriter) close() {
	if w.conn != nil {
		w.conn.Close()
	}
}

// recent keeps the newest entries of a log, so that its size is bounded.
type recent[T any] struct {
	most    int // how many
	mu      sync.Mutex
	entries []T
}

func (l *recent[T]) add(entry T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) >= l.most+l.most/8+1 {
		l.entries = slices.Clone(l.entries[len(l.entries)-l.most+1:])
	}
	l.entries = append(l.entries, entry)
}

func (l *recent[T]) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

func (l *recent[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries[max(0, len(l.entries)-l.most):])
}
