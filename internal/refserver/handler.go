package refserver

import (
	"fmt"
	"net/http"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// newAPI returns the API of the service, with the state of the limits that was kept.
func (s *Server) newAPI(limit api.Limit) *api.API {
	service := api.New(api.Options{
		Store: s.store, IDs: s.ids, Links: s.links, Profile: s.options.Profile,
		Reminders: limit, Intercept: s.intercept, Log: s.logRequest,
	})
	service.RestoreLimits()
	return service
}

// ServeHTTP answers a request as the server does that arrived at its address, but without [Options].Middleware: with a
// page or by the API, or with the reason once the service has stopped. It implements [http.Handler], for
// Options.Behind. There is no ServeMux: that redirects unclean paths, for which the API says what was probably meant.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.store.Stopped() != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"message":%q,"code":"unavailable"}`, store.ErrStopped.Error()) // which JSON writes as Go does
		return
	}
	if s.service.Serves(r.URL) || !s.servePage(w, r) {
		w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat)) // of the clock that createdAt follows
		w.Header().Set("Cache-Control", "no-store")
		s.service.ServeHTTP(w, r)
	}
}

// logRequest keeps the record of a request and tells watchers.
func (s *Server) logRequest(r api.Record) {
	s.requests.add(r)
	s.happenings.tell(Happening{Kind: RequestHappening, At: r.At})
}
