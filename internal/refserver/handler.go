package refserver

import (
	"fmt"
	"net/http"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// newAPI returns the API of the service, with the saved state of the limits.
func (s *Server) newAPI(limit api.Limit) *api.API {
	service := api.New(api.Options{
		Store: s.store, IDs: s.ids, Links: s.links, Profile: s.options.Profile,
		Reminders: limit, Intercept: s.intercept, Log: s.logRequest,
	})
	service.RestoreLimits()
	return service
}

// ServeHTTP handles a request as the server at its address does, but without [Options].Middleware.
// The response is a page or comes from the API. After the service has stopped, it is the reason.
// ServeHTTP implements [http.Handler], for Options.Behind.
//
// There is no ServeMux, because it redirects unclean paths. The API responds to such a path with a
// hint about the probable path.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.store.Stopped() != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, `{"message":%q,"code":"unavailable"}`, store.ErrStopped.Error()) // JSON quotes this text as Go does
		return
	}
	if s.service.Serves(r.URL) || !s.servePage(w, r) {
		w.Header().Set("Date", s.Now().UTC().Format(http.TimeFormat)) // the clock that createdAt follows
		w.Header().Set("Cache-Control", "no-store")
		s.service.ServeHTTP(w, r)
	}
}

// logRequest logs the record of a request and notifies watchers.
func (s *Server) logRequest(r api.Record) {
	s.requests.add(r)
	s.happenings.publish(Happening{Kind: RequestHappening, At: r.At})
}
