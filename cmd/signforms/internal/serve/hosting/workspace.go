package hosting

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// workspace is a separate reference service with its own control interface and pages.
type workspace struct {
	id string // empty for the first workspace, whose server has the id
	saved
	server *refserver.Server
	store  *sqlitestore.Store // nil: the state is in memory
	api    *control.API
	people func() http.Handler // signing pages and forms
	pages  func() http.Handler // the console

	removed context.Context // ends the requests of the workspace
	end     context.CancelFunc

	// Guarded by the mutex of Workspaces.
	opened bool
	timer  *time.Timer // timer of its lifetime

	lastUse  atomic.Int64 // Unix time in milliseconds
	requests atomic.Int64 // number of running requests
}

func newWorkspace(id string, s saved) *workspace {
	w := &workspace{id: id, saved: s}
	w.removed, w.end = context.WithCancel(context.Background())
	w.used()
	return w
}

// used records that the workspace is in use now.
func (w *workspace) used() { w.lastUse.Store(time.Now().UnixMilli()) }

// usedAt returns when the workspace was last in use.
func (w *workspace) usedAt() time.Time {
	if w.requests.Load() > 0 {
		w.used()
	}
	return time.UnixMilli(w.lastUse.Load()).UTC()
}

// base returns the path of the console. The path of the control interface begins with it.
func (w *workspace) base() string {
	if w.id == "" {
		return console.Prefix
	}
	return wire.WorkspacePrefix + w.id + "/"
}

// ServeHTTP handles a request in the form that find returned. A request to a relay comes from the
// workspace itself, and does not count as a use.
func (w *workspace) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if !strings.HasPrefix(path, control.RelayPrefix) {
		w.requests.Add(1)
		defer w.requests.Add(-1)
		defer w.used()
	}
	if err := w.server.Stopped(); err != nil && isOwn(path) { // the service reports this itself
		nothingHere(out, r, refusal(http.StatusServiceUnavailable, "storage", "%v", err))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(w.removed, cancel)()
	r = r.WithContext(ctx)
	switch {
	case control.Holds(path):
		w.api.ServeHTTP(out, r)
	case strings.HasPrefix(path, control.RelayPrefix):
		w.api.Relay().ServeHTTP(out, r)
	case strings.HasPrefix(path, "/sign/"), strings.HasPrefix(path, "/form/"):
		w.people().ServeHTTP(out, r)
	case strings.HasPrefix(path, console.Prefix):
		w.pages().ServeHTTP(out, r)
	default:
		w.server.ServeHTTP(out, r)
	}
}

// prefixOf returns the prefix of the workspace with the id. Its API keys, tokens of links, names of
// PDFs and relays begin with the prefix, so that a request finds its workspace without a search.
// The first workspace has no prefix.
func prefixOf(id string) string {
	first, _, _ := strings.Cut(id, "-")
	return first + "_"
}

// linkPaths are the paths below which a name begins with the prefix of its workspace.
var linkPaths = []string{"/sign/", "/form/", "/documents/", "/finished/", control.RelayPrefix}

// find returns the workspace of a request, and the request without the workspace in its path. A
// request that names no workspace belongs to the first one, and so does a request with an unknown
// key or link.
func (ws *Workspaces) find(r *http.Request) (*workspace, *http.Request, *wire.Error) {
	if rest, ok := strings.CutPrefix(r.URL.Path, wire.WorkspacePrefix); ok {
		idOrName, _, _ := strings.Cut(rest, "/")
		w := ws.named(idOrName)
		if w == nil {
			return nil, nil, noWorkspace(idOrName)
		}
		return w, without(r, wire.WorkspacePrefix+idOrName), nil
	}
	name := r.Header.Get("x-api-key")
	if strings.HasPrefix(r.URL.Path, console.Prefix) {
		name = ""
	}
	for _, path := range linkPaths {
		if rest, ok := strings.CutPrefix(r.URL.Path, path); ok {
			name = rest
		}
	}
	prefix, _, ok := strings.Cut(name, "_")
	ws.mu.RLock()
	defer ws.mu.RUnlock()
	if w := ws.byPrefix[prefix+"_"]; ok && w != nil && w.opened {
		return w, r, nil
	}
	return ws.first, r, nil
}

// without converts a request for /_/w/ID/… to a request for /_/….
func without(r *http.Request, prefix string) *http.Request {
	out := new(http.Request)
	*out = *r
	out.URL = new(url.URL)
	*out.URL = *r.URL
	cut := func(path string) string { return "/_" + strings.TrimPrefix(path, prefix) }
	out.URL.Path = cut(r.URL.Path)
	if r.URL.RawPath != "" {
		out.URL.RawPath = cut(r.URL.RawPath)
	}
	return out
}
