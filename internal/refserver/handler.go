package refserver

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

// handler serves the links that signers follow, and else the API. It is not a ServeMux because that redirects paths it
// finds unclean, where the API says what was probably meant.
func (s *Server) handler() http.Handler {
	service := api.New(api.Options{
		Store: s.store, IDs: s.ids, Now: s.Now, Links: s.links, Profile: s.options.Profile,
		Reminders: s.options.Reminders, Intercept: s.intercept, Log: s.requests.add,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, ok := strings.CutPrefix(r.URL.Path, "/sign/"); ok {
			s.openSigningLink(w, r, token)
			return
		}
		service.ServeHTTP(w, r)
	})
}

// Requests returns the newest 100,000 API requests, in the order in which they were answered.
func (s *Server) Requests() []api.Record { return s.requests.all() }

// recent keeps the newest entries of a log, so that a service that runs for long does not grow without end.
type recent[T any] struct {
	mu      sync.Mutex
	entries []T
}

const maxRecent = 100_000

func (l *recent[T]) add(entry T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) >= 2*maxRecent {
		l.entries = slices.Clone(l.entries[maxRecent:])
	}
	l.entries = append(l.entries, entry)
}

func (l *recent[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries[max(0, len(l.entries)-maxRecent):])
}
