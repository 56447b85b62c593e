package control

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/signformstest"
)

// Config is what the interface serves.
type Config struct {
	Server  *signformstest.Server
	Version string // of the program
	Data    string // where the state is: a file's path, or "memory"
	Seed    *Seed  // the records after a reset; nil: none

	// Inspect returns the pages of an uploaded PDF, or why it is refused.
	Inspect func(ctx context.Context, data []byte) ([]pdf.Page, error)
}

// API is the interface of one sandbox. It is an [http.Handler] for the paths below [Prefix].
type API struct {
	Config
	server *signformstest.Server
	mux    *http.ServeMux
	relays *relays
	feeds  feeds

	advancing atomic.Int32 // requests that advance the clock, or wait to
}

// New returns the interface of a sandbox.
func New(c Config) *API {
	a := &API{Config: c, server: c.Server, mux: http.NewServeMux(), relays: newRelays()}
	for _, route := range routes {
		method, path, _ := strings.Cut(route.pattern, " ")
		a.mux.HandleFunc(method+" "+Prefix+path, func(w http.ResponseWriter, r *http.Request) { a.answer(w, r, route.handle) })
	}
	for pattern, handle := range a.streams() {
		method, path, _ := strings.Cut(pattern, " ")
		a.mux.HandleFunc(method+" "+Prefix+path, handle)
	}
	a.mux.HandleFunc("/", a.noRoute)
	return a
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// streams returns the operations that do not answer with JSON.
func (a *API) streams() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /events":                  a.events,
		"GET /templates/{id}/pdf":      servePDF(a.server.TemplatePDF),
		"GET /documents/{id}/pdf":      servePDF(a.server.DocumentPDF),
		"GET /documents/{id}/finished": servePDF(a.server.FinishedPDF),
		"GET /relays/{id}/attempts":    a.relayStream,
	}
}

// created is an answer with status 201.
type created struct{ body any }

// handler does an operation and returns its result. The status for a nil result is 204.
type handler func(*API, *http.Request) (any, error)

// answer handles a request and writes its result.
func (a *API) answer(w http.ResponseWriter, r *http.Request, handle handler) {
	var err error
	if r.Method != http.MethodGet {
		err = readQuery(r).check() // only GET requests may have query parameters
	}
	var result any
	if err == nil {
		result, err = handle(a, r)
	}
	if err != nil {
		WriteError(w, asError(err))
		return
	}
	switch result := result.(type) {
	case nil:
		w.WriteHeader(http.StatusNoContent)
	case created:
		writeJSON(w, http.StatusCreated, result.body)
	default:
		writeJSON(w, http.StatusOK, result)
	}
}

// noRoute answers requests that no route matches.
func (a *API) noRoute(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(context.Background())
		other.Method = method
		if _, pattern := a.mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		WriteError(w, failure(http.StatusNotFound, "not_found", "there is no %s; docs/control.yaml lists the paths", r.URL.Path))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	WriteError(w, failure(http.StatusMethodNotAllowed, "method", "%s allows %s", r.URL.Path, strings.Join(allowed, ", ")))
}
