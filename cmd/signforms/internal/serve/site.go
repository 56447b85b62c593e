package serve

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"

	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
)

// site stands in front of the workspaces. The first one listens before all of them have started. Until then all paths but /livez
// answer 503.
type site struct {
	hosts   hostCheck
	tokens  tokenCheck
	origins *http.CrossOriginProtection
	open    atomic.Pointer[workspaces] // nil until begin
	ending  context.Context            // its end ends the streams of events
	end     context.CancelFunc
}

func newSite(hosts hostCheck, tokens tokenCheck, publicURL string) *site {
	s := &site{hosts: hosts, tokens: tokens, origins: http.NewCrossOriginProtection()}
	s.ending, s.end = context.WithCancel(context.Background())
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		s.origins.AddTrustedOrigin(u.Scheme + "://" + u.Host) // a proxy may send another Host than the browser
	}
	s.origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control.WriteError(w, &wire.Error{Status: http.StatusForbidden, Code: "origin", Message: "a page of another site may not change anything here"})
	}))
	return s
}

// middleware puts the site in place of the first workspace's service. It is for Options.Middleware.
func (s *site) middleware(http.Handler) http.Handler {
	var routed http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := s.open.Load()
		switch {
		case r.URL.Path == "/livez":
			w.WriteHeader(http.StatusOK)
		case open == nil:
			control.WriteError(w, &wire.Error{Status: http.StatusServiceUnavailable, Code: "starting", Message: "the sandbox has not started yet"})
		case r.URL.Path == "/readyz":
			ready(w, open)
		default:
			s.route(open, w, r)
		}
	})
	return safeByDefault(s.hosts.wrap(s.origins.Handler(s.tokens.wrap(bounded(routed)))))
}

// bounded bounds the bodies of requests, which are held in memory.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, wire.MaxBody)
		next.ServeHTTP(w, r)
	})
}

// safeByDefault sets security headers on every answer, and lets it go out early. Pages and their assets set policies of their own.
func safeByDefault(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // so that an early answer does not wait for the body
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if !forPeople(r.URL.Path) || control.Holds(r.URL.Path) {
			look.SecureFile(w.Header())
		}
		next.ServeHTTP(w, r)
	})
}

// ready answers /readyz with 200, or with 503 and the reason why changes cannot be saved.
func ready(w http.ResponseWriter, open *workspaces) {
	if err := open.checkStorage(); err != nil {
		control.WriteError(w, &wire.Error{Status: http.StatusServiceUnavailable, Code: "storage", Message: err.Error()})
	}
}

func (s *site) route(open *workspaces, w http.ResponseWriter, r *http.Request) {
	asked := r.URL.EscapedPath()
	if isOwn(r.URL.Path) && !clean(r.URL.Path) {
		nothingHere(w, r, refusal(http.StatusNotFound, "not_found", "there is no %s: a path has no empty parts, and no . or .. as a part", asked))
		return
	}
	workspace, found, err := open.find(r)
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
		defer context.AfterFunc(s.ending, cancel)()
	}
	workspace.ServeHTTP(w, r.WithContext(ctx))
}

// clean reports whether no part of a path is empty, "." or "..". [http.ServeMux] would redirect others, out of the workspace.
func clean(name string) bool {
	short := path.Clean(name)
	return name == short || name == short+"/"
}

// nothingHere answers a request for what is not there: for a page with a page. It has the part that a page which updates itself shows.
func nothingHere(w http.ResponseWriter, r *http.Request, err *wire.Error) {
	look.SecureFile(w.Header())
	if !forPeople(r.URL.Path) || control.Holds(r.URL.Path) || control.Holds(path.Clean(r.URL.Path)) {
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
	io.WriteString(w, plainPage(text))
}

// isOwn reports whether a path is the program's and not the service's.
func isOwn(path string) bool { return forPeople(path) || strings.HasPrefix(path, control.RelayPrefix) }

// begin lets requests through to the workspaces.
func (s *site) begin(all *workspaces) { s.open.Store(all) }
