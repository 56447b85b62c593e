package control

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/relay"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Config is the configuration of the interface.
type Config struct {
	Server  *refserver.Server
	Version string     // version of the program
	Data    string     // location of the state: the path of a file, or "memory"
	Seed    *wire.Seed // the records after a reset; nil: no records

	Workspaces Workspaces      // the workspaces of the program
	Removed    context.Context // ends when the workspace is removed; nil: never
	Readers    *atomic.Int64   // number of clients that read events or wait, in all workspaces together
	Prefix     string          // beginning of the URLs of the server's relays; see Options.Prefix of the server

	// Inspect returns the content of an uploaded PDF, or why it is refused.
	Inspect func(ctx context.Context, data []byte) (pdf.Content, error)
}

// API is the interface of one workspace. It is an [http.Handler] for the paths below [Prefix].
type API struct {
	Config
	server *refserver.Server
	relays *relay.Relays

	advancing atomic.Int32 // number of requests that advance the clock or wait to advance it
}

// New returns the interface of a workspace.
func New(c Config) *API {
	c.Readers = cmp.Or(c.Readers, new(atomic.Int64))
	return &API{Config: c, server: c.Server, relays: relay.New()}
}

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

// rawHandler executes an operation and writes the response itself.
type rawHandler func(*API, http.ResponseWriter, *http.Request)

// streams are the operations whose responses are not JSON.
var streams = map[string]rawHandler{
	"GET /events":                  (*API).events,
	"GET /templates/{id}/pdf":      servePDF((*refserver.Server).TemplatePDF),
	"GET /documents/{id}/pdf":      servePDF((*refserver.Server).DocumentPDF),
	"GET /documents/{id}/finished": servePDF((*refserver.Server).FinishedPDF),
	"GET /relays/{id}/attempts":    (*API).relayStream,
}

// created is a response with status 201.
type created struct{ body any }

// handler executes an operation and returns its result. A nil result gives the status 204.
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
