package signformstest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Options configure a [Server]. The zero value, like nil, serves on loopback with random ids and the wall clock.
type Options struct {
	// Seed, unless 0, makes ids, keys and secrets the same on every run that makes the same calls in the same order, and makes
	// faults with a probability happen on the same matches. Most ids begin with the time, so set Start as well for ids that are the same.
	// Golden files that hold x-timestamp or x-signature need VirtualTimestamps too, and those with URLs a Network, because a
	// loopback port differs on each run.
	Seed uint64

	// Start, unless zero, is the time at which the server's clock starts, from 1970 to 2262-04-11. Then only [Server.Advance] moves
	// it, so that times are the same on every run. By default the clock is the wall clock plus what was advanced.
	Start time.Time

	// Network, unless nil, replaces loopback: clients reach the server in it, and the server reaches webhooks in it. It is for
	// tests in a [testing/synctest] bubble.
	Network *Network

	// VirtualTimestamps makes the x-timestamp of deliveries follow [Server.Now], for receivers whose Verifier has
	// Now: srv.Now. By default it follows the wall clock, whatever was advanced.
	VirtualTimestamps bool

	// ReminderLimit is how many reminders the service accepts. The zero value is the documented limit.
	ReminderLimit ReminderLimit

	// Profile chooses what the interface leaves open. The zero value is what the SDK's documentation assumes.
	Profile Profile

	// Addr is the host and port to listen on; default "127.0.0.1:0", a free port of loopback. It is not used with a Network.
	Addr string

	// PublicURL is what links and webhook payloads begin with. Set it when clients and browsers reach the server by another URL
	// than [Server.URL], such as a proxy's or that of a container. Default: the URL.
	PublicURL string

	// Behind, unless nil, is the server at whose address this one is reached: another workspace of the same service. This one does not
	// listen: the Middleware of Behind passes it requests by [Server.ServeHTTP]. Its URL, PublicURL and Network are those of Behind, and
	// it has no Middleware. Close it before Behind.
	Behind *refserver.Server

	// Prefix begins the API keys, secrets and tokens of links that the server makes, and the names of its PDFs in URLs. A Middleware can
	// tell by it whose request it has. It may hold letters, digits and underscores of ASCII, at most 100.
	Prefix string

	// APIKey, WorkspaceID and WebhookSecret are those of the server's own workspace. An empty one is read from the Storage; on
	// the first start it is random. An APIKey or WebhookSecret that differs from the stored one replaces it, even for the webhooks
	// that use the stored secret. A WorkspaceID that differs is refused.
	APIKey        string
	WorkspaceID   string
	WebhookSecret string

	// Storage, unless nil, keeps the server's state over restarts. A change is saved before it is answered or returned. When it
	// cannot be saved, a request is answered 503 and a method returns an error that matches [ErrStorage]. The log of requests and
	// the faults are not kept. With nil nothing is kept.
	Storage Storage

	// Keep limits how many requests, deliveries, messages and audit entries are kept.
	Keep Keep

	// Finish, unless nil, makes the finished file of a completed document, a PDF with its signatures. The completed event waits
	// for the file, even if the program is restarted. Finish gets the document with its PDF. It is called at least once for each
	// completed document, for up to 4 of them concurrently (one at a time if Options.Start is set), and possibly before [Start]
	// has returned.
	//
	// The ctx of a call ends after a minute, or when the server closes. A call that returns more than 10 seconds later counts as
	// failed, and the server no longer waits for it. A failed call is repeated 4, 16, 64 and 256 seconds later by the server's
	// clock. A call is saved before it begins, so one that ends the program counts as failed; it is repeated at the next start. The
	// error of a failed call is shown in the audit trail. After 5 failures the event is sent without a URL for the file, and
	// [Server.FinishAgain] begins anew.
	Finish func(ctx context.Context, d refserver.DocumentState) ([]byte, error)

	// FinishRoom, unless nil, bounds the calls of Finish of servers that share it. The server puts a value in before a call is saved and
	// begins, and takes it out afterwards. It must have a buffer.
	FinishRoom chan struct{}

	// DialWebhook, unless nil, makes the connections over which webhooks are delivered, as [net.Dialer.DialContext] does. It can
	// refuse targets or reach them in another way. When it returns an error, the attempt fails with it. It is not used with a
	// Network.
	DialWebhook func(ctx context.Context, network, addr string) (net.Conn, error)

	// Middleware, unless nil, gets the server's handler and returns the handler to serve. A program adds pages and interfaces of
	// its own with it.
	Middleware func(http.Handler) http.Handler

	// Logger, unless nil, gets a line for each failure of the Storage and of Finish. Lines contain no secret and no personal
	// data.
	Logger *slog.Logger
}

// Profile is one reading of what the interface leaves open. Use it to try a client and a receiver against other readings than
// the one that this SDK assumes.
type Profile struct {
	// Lists.
	PageSize       int           // records per page when the request has no limit; default 10; of documents at most MaxLimit
	MaxLimit       int           // largest limit of a list of documents; default 100; with less, the client's All needs a Limit or CutLimit, because it asks for 100
	CutLimit       bool          // a larger limit is taken for MaxLimit instead of being refused
	OldestFirst    bool          // documents come oldest first when the request has no sortOrder
	HideArchived   bool          // archived documents are listed only when the request asks for them with archive
	UnknownStatus  UnknownStatus // what a list does with an unknown status as filter; default UnknownStatusRefused
	DateFormat     DateFormat    // which texts dateFrom and dateTo take; default DateOrTime
	DateFrom       DateEnd       // what dateFrom with a time includes; default EndIncluded
	DateTo         DateEnd       // what dateTo with a time includes; default EndIncluded
	NoPagination   bool          // lists of documents come without pagination
	CountPage      bool          // documentsCount counts the page instead of all that match; with NoPagination no total is reported
	None           NoneForm      // how a list without records is written; default NoneIsEmpty
	UnknownIDEmpty bool          // the respondents or responses of an unknown id are an empty list instead of a 404

	// Bodies.
	InProgress       string         // literal of the status in progress; default "PENDING"
	Aliases          bool           // the other spellings that were seen: name, signType, isSigningOrderData, respondentsOfDoc, voided
	RespondentObject bool           // a single respondent comes as an object instead of an array of one
	MessageOnly      bool           // void and reminder answer with nothing but a message
	Extra            map[string]any // added to each body of a success, over fields of the same name
	BarePDF          bool           // pdfData is base64 alone; a data URL is refused
	StrictRoles      bool           // a send must fill each role of the template exactly once; default: a role may have no receiver, or several

	// Refusals.
	RefusalStatus        int         // HTTP status when a document's status forbids the operation; default 409
	KeyStatus            int         // HTTP status of a missing or wrong key or workspace; default 403
	ErrorLayout          ErrorLayout // of error bodies; default LayoutMessage
	AnyID                bool        // an id of another shape than the service's own is unknown instead of malformed
	FreeRefusedReminders bool        // a reminder that is refused does not count towards the limit

	// IgnoreIDs makes lists of documents ignore documentId, and makes void and reminder act on the newest PDF document. A service
	// that reads its inputs elsewhere, and takes the first record when it finds none, behaves so.
	IgnoreIDs bool

	// Deliveries.
	Timestamps     TimestampFormat // of x-timestamp; default UnixSeconds
	UntypedSamples bool            // [Server.TestWebhook] leaves out webhookEvent, as the interface's own sample does

	// Endpoints says where operations are and how they read their inputs, as the client's Options.Endpoints does. Whoever sets them has checked
	// them. An input that is in Names or Values is taken in that spelling alone, and a TimeLayout takes the place of
	// DateFormat. The other spellings that the interface's description has are taken by default, and noted in [Request].
	Endpoints map[signforms.Operation]signforms.Endpoint
}

func (o *Options) internal() (*refserver.Options, error) {
	if o == nil {
		return nil, nil
	}
	p, err := o.Profile.internal()
	return &refserver.Options{
		Seed:              o.Seed,
		Start:             o.Start,
		Network:           o.Network,
		VirtualTimestamps: o.VirtualTimestamps,
		ReminderLimit:     o.ReminderLimit,
		Addr:              o.Addr,
		PublicURL:         o.PublicURL,
		Behind:            o.Behind,
		Prefix:            o.Prefix,
		APIKey:            o.APIKey,
		WorkspaceID:       o.WorkspaceID,
		WebhookSecret:     o.WebhookSecret,
		Storage:           o.Storage,
		Keep:              o.Keep,
		Finish:            o.Finish,
		FinishRoom:        o.FinishRoom,
		DialWebhook:       o.DialWebhook,
		Middleware:        o.Middleware,
		Logger:            o.Logger,
		Profile:           p,
	}, err
}

func (p Profile) internal() (refserver.Profile, error) {
	out := refserver.Profile{
		PageSize:             p.PageSize,
		MaxLimit:             p.MaxLimit,
		CutLimit:             p.CutLimit,
		OldestFirst:          p.OldestFirst,
		HideArchived:         p.HideArchived,
		UnknownStatus:        p.UnknownStatus,
		DateFormat:           p.DateFormat,
		DateFrom:             p.DateFrom,
		DateTo:               p.DateTo,
		NoPagination:         p.NoPagination,
		CountPage:            p.CountPage,
		None:                 p.None,
		UnknownIDEmpty:       p.UnknownIDEmpty,
		InProgress:           p.InProgress,
		Aliases:              p.Aliases,
		RespondentObject:     p.RespondentObject,
		MessageOnly:          p.MessageOnly,
		Extra:                p.Extra,
		BarePDF:              p.BarePDF,
		StrictRoles:          p.StrictRoles,
		RefusalStatus:        p.RefusalStatus,
		KeyStatus:            p.KeyStatus,
		ErrorLayout:          p.ErrorLayout,
		AnyID:                p.AnyID,
		FreeRefusedReminders: p.FreeRefusedReminders,
		IgnoreIDs:            p.IgnoreIDs,
		Timestamps:           p.Timestamps,
		UntypedSamples:       p.UntypedSamples,
		Endpoints:            make(map[refserver.Operation]refserver.Route),
	}
	if len(p.Endpoints) > 0 { // the client knows best what is wrong with them
		if _, err := signforms.New("http://service.test", "key", &signforms.Options{Endpoints: p.Endpoints}); err != nil {
			e, _ := errors.AsType[*signforms.Error](err) // every error of New is one
			return out, &InvalidError{Field: "Options.Profile." + strings.TrimPrefix(e.Fields[0].Field, "Options."), Problem: e.Fields[0].Problem}
		}
	}
	text, err := json.Marshal(p.Endpoints) // the service's routes are written as the client's endpoints
	if err == nil {
		err = json.Unmarshal(text, &out.Endpoints)
	}
	return out, err
}
