package refserver

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Options configure a [Server]. The zero value, like nil, serves on loopback with random ids and the wall clock.
type Options struct {
	// Seed, unless 0, makes ids, keys and secrets the same on every run that makes the same calls in the same order, and
	// makes faults with a probability happen on the same matches. Most ids begin with the time, so set Start as well for
	// ids that are the same. Golden files that hold x-timestamp or x-signature need VirtualTimestamps too, and those with
	// URLs a Network, because a loopback port differs on each run.
	Seed uint64

	// Start, unless zero, is when the server's clock starts, from 1970 to 2262-04-11. Then only [Server.Advance] moves it,
	// so that times are the same on every run. By default the clock is the wall clock plus what was advanced.
	Start time.Time

	// Network, unless nil, replaces loopback: clients reach the server in it, and the server reaches webhooks in it. It is
	// for tests in a [testing/synctest] bubble.
	Network *Network

	// VirtualTimestamps makes the x-timestamp of deliveries follow [Server.Now], for receivers whose Verifier has
	// Now: srv.Now. By default it follows the wall clock, whatever was advanced.
	VirtualTimestamps bool

	// ReminderLimit is how many reminders the service accepts. The zero value is the documented limit.
	ReminderLimit ReminderLimit

	// Profile chooses what the interface leaves open. The zero value is what the SDK's documentation assumes.
	Profile Profile

	// Addr is the host and port to listen on; default "127.0.0.1:0", a free port of loopback. Unused with a Network.
	Addr string

	// PublicURL is what links and webhook payloads begin with. Set it when clients and browsers reach the server by
	// another URL than [Server.URL], such as a proxy's or that of a container. Default: the URL.
	PublicURL string

	// Behind, unless nil, is the server at whose address this one is reached: another workspace of the same service. This
	// one does not listen: the Middleware of Behind passes it requests by [Server.ServeHTTP]. Its URL, PublicURL and
	// Network are those of Behind, and it has no Middleware. Close it before Behind.
	Behind *Server

	// Prefix begins the API keys, secrets and tokens of links that the server makes, and the names of its PDFs in URLs. A
	// Middleware can tell by it whose request it has. It may hold letters, digits and underscores of ASCII, at most 100.
	Prefix string

	// APIKey, WorkspaceID and WebhookSecret are those of the server's own workspace. An empty one is read from the
	// Storage; on the first start it is random. An APIKey or WebhookSecret that differs from the stored one replaces it,
	// even for the webhooks that use the stored secret. A WorkspaceID that differs is refused.
	APIKey        string
	WorkspaceID   string
	WebhookSecret string

	// Storage, unless nil, keeps the server's state over restarts. A change is saved before it is answered or returned.
	// When it cannot be saved, a request is answered 503 and a method returns an error that matches [ErrStorage]. The log
	// of requests and the faults are not kept. With nil nothing is kept.
	Storage Storage

	// Keep limits how many requests, deliveries, messages and audit entries are kept.
	Keep Keep

	// Finish, unless nil, makes the finished file of a completed document, a PDF with its signatures, when that is first
	// asked for. It gets the document with its PDF, and may be called for several documents concurrently. Its ctx ends
	// after 20 seconds, or when the server closes.
	Finish func(ctx context.Context, d DocumentState) ([]byte, error)

	// CheckValues, unless nil, refuses what a signer has filled in before it is kept. d is the document with the values,
	// and without those that others have filled in. An error that matches [ErrInvalid] tells the signer why.
	CheckValues func(d DocumentState) error

	// DialWebhook, unless nil, makes the connections over which webhooks are delivered, as [net.Dialer.DialContext] does.
	// It can refuse targets or reach them in another way. When it returns an error, the attempt fails with it. It is not
	// used with a Network.
	DialWebhook func(ctx context.Context, network, addr string) (net.Conn, error)

	// Middleware, unless nil, gets the server's handler and returns the handler to serve. A program adds pages and
	// interfaces of its own with it.
	Middleware func(http.Handler) http.Handler

	// Logger, unless nil, gets a line for each failure of the Storage and of Finish. Lines contain no secret and no
	// personal data.
	Logger *slog.Logger
}

// ReminderLimit is how many reminders of an API key are accepted in any window of time.
type ReminderLimit struct {
	Requests int           // in any Window; default 5
	Window   time.Duration // default 15 minutes
}

// check refuses invalid options and returns the limit of reminders.
func (o *Options) check() (api.Limit, error) {
	limit, err := o.ReminderLimit.internal()
	if err != nil {
		return nil, err
	}
	if err := o.checkTexts(); err != nil {
		return nil, err
	}
	if !o.Start.IsZero() && (o.Start.Before(firstTime) || o.Start.After(lastTime)) {
		return nil, invalid("Options.Start", "%s is not from %s to %s", o.Start.Format(time.DateOnly), firstTime.Format(time.DateOnly), lastTime.Format(time.DateOnly))
	}
	if k := o.Keep; min(k.Requests, k.Deliveries, k.Messages, k.Audit) < 0 {
		return nil, invalid("Options.Keep", "%+v must hold no negative number", k)
	}
	return limit, o.Profile.Check()
}

// checkTexts looks at what ends up in headers and links.
func (o *Options) checkTexts() error {
	if err := signing.CheckLength("Options.PublicURL", o.PublicURL, MaxURL); err != nil {
		return err
	}
	if o.PublicURL != "" {
		u, err := url.Parse(o.PublicURL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
			return invalid("Options.PublicURL", "%q must be like https://sandbox.example.com", o.PublicURL)
		}
	}
	if len(o.Prefix) > 100 || strings.Trim(o.Prefix, prefixLetters) != "" {
		return invalid("Options.Prefix", "%.100q must hold letters, digits and underscores of ASCII, and 100 at most", o.Prefix)
	}
	for _, field := range [...]struct{ name, value string }{
		{"APIKey", o.APIKey}, {"WorkspaceID", o.WorkspaceID}, {"WebhookSecret", o.WebhookSecret},
	} {
		if err := signing.CheckLength("Options."+field.name, field.value, MaxName); err != nil {
			return err
		}
		if strings.ContainsFunc(field.value, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return invalid("Options."+field.name, "must hold visible ASCII characters and no spaces")
		}
	}
	return nil
}

const prefixLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// withDefaults returns the bounds with the documented defaults in place of zeros. The logs exceed a bound for a while,
// so none may be near the largest int.
func (k Keep) withDefaults() Keep {
	bound := func(n, fallback int) int { return min(cmp.Or(n, fallback), math.MaxInt/2) }
	return Keep{
		Requests: bound(k.Requests, 100_000), Deliveries: bound(k.Deliveries, 20_000),
		Messages: bound(k.Messages, 100_000), Audit: bound(k.Audit, 1_000_000),
	}
}

func (l ReminderLimit) internal() (api.Limit, error) {
	if l.Requests == 0 {
		l.Requests = api.DefaultReminders
	}
	if l.Window == 0 {
		l.Window = api.DefaultReminderWindow
	}
	if l.Requests < 0 || l.Window < 0 {
		return nil, invalid("Options.ReminderLimit", "Requests %d and Window %v must be more than 0, or 0 for the default", l.Requests, l.Window)
	}
	return api.SlidingWindow(l.Requests, l.Window), nil
}
