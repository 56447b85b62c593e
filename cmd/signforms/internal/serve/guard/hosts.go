package guard

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// hostCheck refuses requests from browsers under an unknown host name. Otherwise a page of another site could read the
// console and act in it, by DNS rebinding. Names are compared as text, without DNS.
type hostCheck struct{ names []string }

// CheckHosts refuses values of --allow-host that can never be equal to a Host header.
func CheckHosts(names []string) error {
	for _, name := range names {
		if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err != nil && (name == "" || strings.ContainsAny(name, "*:/ ")) {
			return cli.UsageError("--allow-host %q is not a host name: write it without scheme, port and wildcard, as in sandbox.example.com", name)
		}
	}
	return nil
}

// newHostCheck allows loopback, the host of the public URL and the names of --allow-host.
func newHostCheck(publicURL string, allowed []string) hostCheck {
	var names []string
	for _, name := range allowed {
		names = append(names, strings.Trim(name, "[]"))
	}
	if u, err := url.Parse(publicURL); err == nil && u.Host != "" {
		names = append(names, u.Hostname())
	}
	return hostCheck{names}
}

// allows reports whether a Host header contains one of the allowed names. It ignores the port.
func (c hostCheck) allows(header string) bool {
	host := header
	if name, _, err := net.SplitHostPort(header); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	return loopback(host) || slices.ContainsFunc(c.names, func(name string) bool { return strings.EqualFold(name, host) })
}

func (c hostCheck) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.allows(r.Host) {
			control.WriteError(w, &wire.Error{
				Status: http.StatusMisdirectedRequest, Code: "host",
				Message: "the name in the request's Host header is not allowed: start the sandbox with --token, and with that name as --allow-host or in --public-url",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}
