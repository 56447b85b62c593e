package serve

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
)

// site serves everything except the service itself. The service listens before the control API and the pages exist. Until they
// do, their paths and /readyz answer 503.
type site struct {
	hosts   hostCheck
	tokens  tokenCheck
	origins *http.CrossOriginProtection
	bodies  bodies
	own     atomic.Pointer[http.ServeMux] // the control API and the pages; nil until begin
	storage func() error                  // returns why changes cannot be saved; set before own
	ending  context.Context               // its end ends the streams of events
	end     context.CancelFunc
}

func newSite(hosts hostCheck, tokens tokenCheck, publicURL string) *site {
	s := &site{hosts: hosts, tokens: tokens, origins: http.NewCrossOriginProtection()}
	s.ending, s.end = context.WithCancel(context.Background())
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		s.origins.AddTrustedOrigin(u.Scheme + "://" + u.Host) // a proxy may send another Host than the browser
	}
	s.origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control.WriteError(w, &control.Error{Status: http.StatusForbidden, Code: "origin", Message: "a page of another site may not change anything here"})
	}))
	return s
}

// middleware puts the site in front of the service. It is for Options.Middleware.
func (s *site) middleware(service http.Handler) http.Handler {
	var routed http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := s.own.Load()
		switch {
		case r.URL.Path == "/livez":
			w.WriteHeader(http.StatusOK)
		case r.URL.Path == "/readyz" && own != nil:
			s.ready(w)
		case own == nil && (forPeople(r.URL.Path) || r.URL.Path == "/readyz"):
			control.WriteError(w, &control.Error{Status: http.StatusServiceUnavailable, Code: "starting", Message: "the sandbox has not started yet"})
		case own == nil:
			service.ServeHTTP(w, r)
		default:
			s.route(own, service, w, r)
		}
	})
	return safeByDefault(s.hosts.wrap(s.origins.Handler(s.tokens.wrap(s.bodies.wrap(routed)))))
}

// safeByDefault sets security headers on every answer. Pages and their assets set policies of their own.
func safeByDefault(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if !forPeople(r.URL.Path) || strings.HasPrefix(r.URL.Path, control.Prefix) {
			look.SecureFile(w.Header())
		}
		next.ServeHTTP(w, r)
	})
}

// ready answers /readyz with 200, or with 503 and the reason why changes cannot be saved.
func (s *site) ready(w http.ResponseWriter) {
	if err := s.storage(); err != nil {
		control.WriteError(w, &control.Error{Status: http.StatusServiceUnavailable, Code: "storage", Message: err.Error()})
	}
}

func (s *site) route(own *http.ServeMux, service http.Handler, w http.ResponseWriter, r *http.Request) {
	if _, pattern := own.Handler(r); pattern == "" {
		service.ServeHTTP(w, r) // not as a handler of the mux, which would redirect paths that the service itself must answer
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if r.Method == http.MethodGet || strings.HasPrefix(r.URL.Path, control.Prefix+"/clock/") { // streams of events, advances and waits
		defer context.AfterFunc(s.ending, cancel)()
	}
	own.ServeHTTP(w, r.WithContext(ctx))
}

// begin opens the control API and the pages, each below a prefix of its own.
func (s *site) begin(api *control.API, storage func() error, pages func(*http.ServeMux)) {
	own := http.NewServeMux()
	own.Handle(control.Prefix+"/", api)
	own.Handle(control.RelayPrefix, api.Relay())
	pages(own)
	s.storage = storage
	s.own.Store(own)
}
