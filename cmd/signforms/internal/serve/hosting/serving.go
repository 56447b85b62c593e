package hosting

import (
	"context"
	"html"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve/guard"
)

// ServeHTTP passes a request to its workspace. Before Open, all paths except /livez return 503.
func (ws *Workspaces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, wire.MaxBody) // bodies are kept in memory
	if r.ContentLength < 0 || r.ContentLength > smallBody {
		body := &upload{ReadCloser: r.Body, ctx: r.Context(), turns: ws.turns, dir: ws.uploadDir()}
		defer body.end()
		r.Body = body
	}
	switch {
	case r.URL.Path == "/livez":
		w.WriteHeader(http.StatusOK)
	case !ws.ready.Load():
		control.WriteError(w, refusal(http.StatusServiceUnavailable, "starting", "the sandbox has not started yet"))
	case r.URL.Path == "/readyz":
		if err := ws.first.server.Stopped(); err != nil { // another workspace reports this itself
			control.WriteError(w, refusal(http.StatusServiceUnavailable, "storage", "%v", err))
		}
	default:
		ws.route(w, r)
	}
}

func (ws *Workspaces) route(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.EscapedPath()
	if isOwn(r.URL.Path) && !clean(r.URL.Path) {
		nothingHere(w, r, refusal(http.StatusNotFound, "not_found", "there is no %s: a path has no empty parts, and no . or .. as a part", asked))
		return
	}
	workspace, found, err := ws.find(r)
	if err != nil {
		nothingHere(w, r, err)
		return
	}
	r = found
	if r.URL.Path == "/_" { // the console of a workspace
		look.SecureFile(w.Header())
		http.Redirect(w, r, asked+"/", http.StatusSeeOther)
		return
	}
	if !isOwn(r.URL.Path) {
		workspace.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, wire.Prefix+"/clock/") { // streams of events, advances and waits
		defer context.AfterFunc(ws.ending, cancel)()
	}
	workspace.ServeHTTP(w, r.WithContext(ctx))
}

// isOwn reports whether a path belongs to the program and not to the service.
func isOwn(path string) bool {
	return guard.ForPeople(path) || strings.HasPrefix(path, control.RelayPrefix)
}

// clean reports whether no part of a path is empty, "." or "..". [http.ServeMux] would redirect
// other paths to a path outside of the workspace.
func clean(name string) bool {
	short := path.Clean(name)
	return name == short || name == short+"/"
}

// nothingHere responds to a request for something that does not exist. If a page was requested, the
// response is a page. It contains the part that a self-updating page displays.
func nothingHere(w http.ResponseWriter, r *http.Request, err *wire.Error) {
	look.SecureFile(w.Header())
	if !guard.ForPeople(r.URL.Path) || control.Holds(r.URL.Path) || control.Holds(path.Clean(r.URL.Path)) {
		control.WriteError(w, err)
		return
	}
	text := `<p role="alert">` + html.EscapeString(err.Message) + `.</p>`
	if strings.HasPrefix(r.URL.Path, console.Prefix) {
		text += `
<p><a href="` + console.Prefix + `">The first workspace</a> leads to the others.</p>`
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(err.Status)
	io.WriteString(w, look.PlainPage(text))
}
