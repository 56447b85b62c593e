package guard

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
)

// tokenCheck guards the console and the control API. On loopback without a token, everybody may use
// them.
type tokenCheck struct {
	token  string // the value of --token; may be empty
	closed bool   // there is no token, and other machines could reach the console and the API
}

// loopbackOnly reports whether a listening address can be reached only from this machine.
func loopbackOnly(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && loopback(host)
}

// loopback reports whether a name is localhost or an address that only this machine can reach.
// Other names are not loopback, because they may resolve to any address.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}

// namedForOthers reports whether a public URL means that other machines can reach the sandbox, through a proxy.
func namedForOthers(publicURL string) bool {
	u, err := url.Parse(publicURL)
	return err != nil || publicURL != "" && !loopbackOnly(net.JoinHostPort(u.Hostname(), "0"))
}

func (c tokenCheck) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasPrefix(r.URL.Path, "/_/"), c.token == "" && !c.closed && !forwarded(r):
			next.ServeHTTP(w, r)
		case c.token == "":
			control.WriteError(w, &wire.Error{
				Status: http.StatusForbidden, Code: "token",
				Message: "console and control API are closed, because other machines or a proxy may reach this sandbox: start it with --token or $" +
					sandbox.Env + "TOKEN",
			})
		case r.URL.Path == loginPath:
			c.login(w, r)
		default:
			c.proved(next, w, r)
		}
	})
}

// proxyHeader matches the names of headers that proxies and content delivery networks add.
var proxyHeader = regexp.MustCompile("(?i)forwarded|client-ip|^x-(real|original|envoy|azure|appengine|cloud)-|^(via|proxy-connection|(cdn|cf|fastly|fly)-.*)$")

// forwarded reports whether a request came from another machine or through a proxy, as far as the
// request shows it. By default, nginx sends HTTP/1.0 and none of these headers. Forward proxies get
// the absolute form of the URL.
func forwarded(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr) // the address in a test's network in memory cannot be parsed
	if err == nil && !from.Addr().IsLoopback() || !r.ProtoAtLeast(1, 1) || !strings.HasPrefix(r.RequestURI, "/") {
		return true
	}
	for name := range r.Header {
		if proxyHeader.MatchString(name) {
			return true
		}
	}
	return false
}

// proved passes a request on if the request proves that its sender knows the token.
func (c tokenCheck) proved(next http.Handler, w http.ResponseWriter, r *http.Request) {
	given, right := c.proof(r)
	if given && !right {
		http.SetCookie(w, &http.Cookie{Name: loginCookie, Path: "/_/", MaxAge: -1}) // removes the cookie of an earlier token
	}
	switch {
	case right:
		next.ServeHTTP(w, r)
	case !control.Holds(r.URL.Path):
		http.Redirect(w, r, loginFor(r), http.StatusSeeOther)
	case given:
		w.Header().Set("WWW-Authenticate", `Bearer realm="signforms sandbox", error="invalid_token"`)
		control.WriteError(w, &wire.Error{
			Status: http.StatusUnauthorized, Code: "token",
			Message: "the token is wrong: send the one that the sandbox was started with, as --token or $" + sandbox.Env + "TOKEN",
		})
	default:
		w.Header().Set("WWW-Authenticate", `Bearer realm="signforms sandbox"`)
		control.WriteError(w, &wire.Error{
			Status: http.StatusUnauthorized, Code: "token",
			Message: "the token is missing: send what the sandbox was started with as --token, as Authorization: Bearer …",
		})
	}
}

// proof reports whether a request has a token or the console's cookie, and whether the token or
// cookie is right.
func (c tokenCheck) proof(r *http.Request) (given, right bool) {
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return true, c.is(token)
	}
	cookie, err := r.Cookie(loginCookie)
	return err == nil, err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(c.cookie())) == 1
}

func (c tokenCheck) is(token string) bool {
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(c.token)) // equal lengths, so that the time does not reveal the token's length
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// cookie returns the value of the console's cookie. It is not the token itself, which may be used elsewhere too.
func (c tokenCheck) cookie() string {
	mac := hmac.New(sha256.New, []byte(c.token))
	mac.Write([]byte("console of a signforms sandbox"))
	return hex.EncodeToString(mac.Sum(nil))
}
