// Package guard refuses requests of people who may not use a sandbox. It checks the host name, the
// site from which a request comes, and the token. It also decides which targets of webhooks are
// public.
//
// Start with [New].
package guard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
)

// Options are the flags of serve that decide who may use the sandbox.
type Options struct {
	Addr, PublicURL, Token string
	AllowHosts             []string
}

// Closed reports whether the console and the control API refuse everybody, because other machines
// can reach them and there is no token. A name of --allow-host that is not loopback is the name of
// a proxy.
func (o Options) Closed() bool {
	return o.Token == "" && (!loopbackOnly(o.Addr) || namedForOthers(o.PublicURL) ||
		slices.ContainsFunc(o.AllowHosts, func(name string) bool { return !loopback(strings.Trim(name, "[]")) }))
}

// New returns the middleware in front of all workspaces.
func New(o Options) func(http.Handler) http.Handler {
	hosts, tokens, origins := newHostCheck(o.PublicURL, o.AllowHosts), tokenCheck{token: o.Token, closed: o.Closed()}, http.NewCrossOriginProtection()
	if u, err := url.Parse(o.PublicURL); err == nil && u.Host != "" {
		origins.AddTrustedOrigin(u.Scheme + "://" + u.Host) // a proxy may send another Host than the browser
	}
	origins.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control.WriteError(w, &wire.Error{Status: http.StatusForbidden, Code: "origin", Message: "a page of another site may not change anything here"})
	}))
	return func(next http.Handler) http.Handler {
		people := hosts.wrap(origins.Handler(tokens.wrap(next)))
		return safeByDefault(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if ForPeople(r.URL.Path) {
				people.ServeHTTP(w, r)
			} else {
				next.ServeHTTP(w, r)
			}
		}))
	}
}

// safeByDefault sets security headers on every response. Pages and their assets set their own
// policies.
func safeByDefault(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if !ForPeople(r.URL.Path) || control.Holds(r.URL.Path) {
			look.SecureFile(w.Header())
		}
		// Handlers get a copy of the request and wrap the body of the copy. net/http uses the body
		// of its own request to decide whether to read the rest before the response. So nobody
		// waits for a large body, or for a body that waits for 100 Continue.
		next.ServeHTTP(w, r.WithContext(r.Context()))
	})
}

// ForPeople reports whether a path is for browsers. The other paths need no check of host and origin,
// because they need a secret that no page has, or return nothing of value. Containers call them under
// their own names, and back ends pass on the origin of their pages.
func ForPeople(path string) bool {
	return strings.HasPrefix(path, "/_/") || strings.HasPrefix(path, "/sign/") || strings.HasPrefix(path, "/form/")
}
