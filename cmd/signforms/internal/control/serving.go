package control

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), apiKey{}, a)))
}

// apiKey is the key of the API in the context of a request.
type apiKey struct{}

// mux returns the routes. The workspaces share them, because they take more memory than a workspace.
var mux = sync.OnceValue(func() *http.ServeMux {
	m := http.NewServeMux()
	add := func(pattern string, handle rawHandler) {
		method, path, _ := strings.Cut(pattern, " ")
		m.HandleFunc(method+" "+wire.Prefix+path, func(w http.ResponseWriter, r *http.Request) {
			handle(r.Context().Value(apiKey{}).(*API), w, r)
		})
	}
	for _, route := range routes {
		add(route.pattern, func(a *API, w http.ResponseWriter, r *http.Request) { a.answer(w, r, route.handle) })
	}
	for pattern, handle := range streams {
		add(pattern, handle)
	}
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { noRoute(m, w, r) })
	return m
})

// streams are the operations whose responses are not JSON.
var streams = map[string]rawHandler{
	"GET /events":                  (*API).events,
	"GET /templates/{id}/pdf":      servePDF((*refserver.Server).TemplatePDF),
	"GET /documents/{id}/pdf":      servePDF((*refserver.Server).DocumentPDF),
	"GET /documents/{id}/finished": servePDF((*refserver.Server).FinishedPDF),
	"GET /relays/{id}/attempts":    (*API).relayStream,
}

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
	if err != nil && a.Removed != nil && a.Removed.Err() != nil { // whatever the error was, the removal of the workspace is the reason
		err = failure(http.StatusNotFound, "not_found", "the workspace was removed")
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
	case late:
		writeJSON(w, http.StatusRequestTimeout, result.body)
	default:
		writeJSON(w, http.StatusOK, result)
	}
}

// noRoute responds to requests that no route matches.
func noRoute(m *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	asked, _, _ := strings.Cut(r.RequestURI, "?") // the mux gets the path without the workspace
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(context.Background())
		other.Method = method
		if _, pattern := m.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		WriteError(w, failure(http.StatusNotFound, "not_found", "there is no %s; docs/control.yaml lists the paths", asked))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	WriteError(w, failure(http.StatusMethodNotAllowed, "method", "%s allows %s", asked, strings.Join(allowed, ", ")))
}
