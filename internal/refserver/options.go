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
	// Seed, unless 0, makes ids, keys and secrets the same in every run that makes the same calls
	// in the same order. Faults with a probability then apply to the same matches.
	//
	// Most ids begin with the time, so set Start too if ids must be the same. Golden files that
	// contain x-timestamp or x-signature also need VirtualTimestamps. Golden files with URLs also
	// need a Network, because a loopback port differs in each run.
	Seed uint64

	// Start, unless zero, is the time at which the server's clock starts, from 1970 to 2262-04-11.
	// Then only [Server.Advance] moves the clock, so that times are the same in every run. By
	// default the clock is the wall clock plus the sum of all advances.
	Start time.Time

	// Network, unless nil, replaces loopback: clients reach the server in it, and the server reaches webhooks in it. It is
	// for tests in a [testing/synctest] bubble.
	Network *Network

	// VirtualTimestamps makes the x-timestamp of deliveries follow [Server.Now], for receivers
	// whose VerifierOptions.Now is srv.Now. By default x-timestamp follows the wall clock, even
	// after [Server.Advance].
	VirtualTimestamps bool

	// ReminderLimit is how many reminders the service accepts. The zero value is the documented limit.
	ReminderLimit ReminderLimit

	// Profile selects the behaviours that the interface leaves open. The zero value is the
	// behaviour that the SDK's documentation assumes.
	Profile Profile

	// Addr is the host and port to listen on; default "127.0.0.1:0", a free port of loopback. With
	// a Network, Addr is not used.
	Addr string

	// PublicURL is the beginning of links and of the URLs in webhook payloads. Set it if clients
	// and browsers reach the server by another URL than [Server.URL], such as the URL of a proxy or
	// a container. The default is Server.URL.
	PublicURL string

	// Behind, unless nil, is the server at whose address this server is reached. This server is
	// then another workspace of the same service. It does not listen: the Middleware of Behind
	// passes requests to its [Server.ServeHTTP]. Its URL, PublicURL and Network are those of
	// Behind, and it has no Middleware. Close this server before Behind.
	Behind *Server

	// Prefix is the beginning of the API keys, secrets and tokens of links that the server makes,
	// and of the names of its PDFs in URLs. With it, a Middleware can recognise the server to which
	// a request belongs. Prefix may contain ASCII letters, digits and underscores, at most 100.
	Prefix string

	// APIKey, WorkspaceID and WebhookSecret are those of the server's own workspace. An empty value
	// is read from the Storage; at the first start it is random. An APIKey or WebhookSecret that
	// differs from the stored value replaces it, even for the webhooks that use the stored secret.
	// A WorkspaceID that differs is refused.
	APIKey        string
	WorkspaceID   string
	WebhookSecret string

	// Storage, unless nil, keeps the server's state over restarts. A change is saved before the
	// response is sent or the method returns. If the change cannot be saved, a request gets a 503,
	// and a method returns an error that matches [ErrStorage]. The log of requests and the faults
	// are not kept. If Storage is nil, nothing is kept.
	Storage Storage

	// Keep limits how many requests, deliveries, messages and audit entries are kept.
	Keep Keep

	// Finish, unless nil, makes the finished file of a completed document when the file is first
	// requested. The file is a PDF with the signatures. Finish gets the document with its PDF, and
	// may be called for several documents concurrently. Its ctx ends after 20 seconds, or when the
	// server closes.
	Finish func(ctx context.Context, d DocumentState) ([]byte, error)

	// CheckValues, unless nil, checks the values of a signer before they are saved. d is the
	// document with these values, but without the values of other signers. If CheckValues returns
	// an error, the values are refused. If the error matches [ErrInvalid], the signer is shown its
	// text.
	CheckValues func(d DocumentState) error

	// DialWebhook, unless nil, makes the connections over which webhooks are delivered, as
	// [net.Dialer.DialContext] does. It can refuse targets or use another route to them. If it
	// returns an error, the attempt fails with that error. With a Network, DialWebhook is not used.
	DialWebhook func(ctx context.Context, network, addr string) (net.Conn, error)

	// Middleware, unless nil, gets the server's handler and returns the handler to serve. A program
	// can add its own pages and interfaces with it.
	Middleware func(http.Handler) http.Handler

	// Logger, unless nil, gets a line for each failure of the Storage and of Finish. Lines contain no secret and no
	// personal data.
	Logger *slog.Logger
}

// ReminderLimit is how many reminders of an API key are accepted in any window of time.
type ReminderLimit struct {
	Requests int           // requests in any Window; default 5
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

// checkTexts checks the options whose texts are used in headers and links.
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

// withDefaults replaces zeros with the documented defaults. The logs exceed a limit for a while, so
// no limit may be near the largest int.
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
