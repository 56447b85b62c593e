package webhook

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"
)

// HandlerOptions are the optional settings of [NewHandler]. The zero value gives the defaults.
type HandlerOptions struct {
	// Timeout is how long a function may take for one event; then its ctx ends. Default 30 seconds. The
	// service's own time-out is not documented: put work that takes longer than a few seconds into a queue.
	Timeout time.Duration

	// ReplayStore remembers processed events, so that a repeated delivery runs nothing twice. Default: a
	// [MemoryReplayStore] for this handler alone, on the Verifier's clock. Several processes need a shared store.
	ReplayStore ReplayStore

	// DisableReplayProtection switches the replay store off: every genuine delivery runs, however often it arrives.
	DisableReplayProtection bool

	// ReplayTTL is how long a processed event is remembered. Default 24 hours; at least twice the
	// Verifier's tolerance. It should be longer than the service repeats a delivery, which it does not document.
	ReplayTTL time.Duration

	// OnError is called with an *[EventError] once for each event that failed, or was processed although a field of it
	// could not be read; not for one that is ignored or repeated. It is called with a *[RefusedError] for each delivery
	// that was refused as a whole; unauthenticated requests can cause those. nil means no call.
	//
	// It runs before the request is answered, possibly concurrently. A panic in OnError, OnEvent or Logger is not caught:
	// it ends the request without an answer, and the remaining events wait for another delivery.
	OnError func(context.Context, error)

	// OnEvent is called once for each event of a genuine delivery, whatever its outcome. It is the place for metrics. It
	// runs after the event's function and after OnError, possibly concurrently. nil means no call.
	OnEvent func(context.Context, EventResult)

	// Logger gets a line for each event that OnError is called for, at info level for each that is ignored or repeated,
	// and at debug level for each other one. It gets a line for each refused delivery: in a minute five at warn level for
	// genuine ones and five for others, further ones at debug level; the next line at warn level has their number.
	// [Diagnose] and the command "signforms webhook diagnose" say what is wrong with a delivery that is not genuine.
	//
	// Lines contain types and ids as an [EventError] prints them, error texts and the stack of a panic. They contain
	// personal data only when the errors or panics of functions do. Default [slog.Default] as it is when NewHandler is
	// called.
	Logger *slog.Logger
}

// Handler is an [http.Handler] that receives deliveries. It verifies and decodes them, skips repeats and runs a
// function for each event. Make one with [NewHandler]; a zero Handler refuses everything. It is safe for concurrent
// use.
type Handler struct {
	verifier    *Verifier
	on          Funcs
	timeout     time.Duration
	store       ReplayStore // nil: repeats are allowed
	lease, keep time.Duration
	onError     func(context.Context, error)
	onEvent     func(context.Context, EventResult)
	log         *slog.Logger
	refusals    *refusals
}

// The defaults of [HandlerOptions], and how long an event is reserved for the handler that processes it. After that
// another delivery may run it, because the process must have died.
const (
	defaultTimeout = 30 * time.Second
	defaultKeep    = 24 * time.Hour
	replayLease    = 5 * time.Minute
)

// NewHandler returns a Handler that runs the functions of on. opts may be nil. It panics when the Verifier is nil or
// zero, when on has no function, when a duration is negative, and when both DisableReplayProtection and a ReplayStore are set.
func NewHandler(v *Verifier, on Funcs, opts *HandlerOptions) *Handler {
	if opts == nil {
		opts = &HandlerOptions{}
	}
	switch {
	case !v.usable():
		panic("webhook: NewHandler: no Verifier: make one with NewVerifier")
	case on.empty():
		panic("webhook: NewHandler: Funcs has no function: set at least one, Default for all events")
	case opts.Timeout < 0 || opts.ReplayTTL < 0:
		panic("webhook: NewHandler: negative Timeout or ReplayTTL: leave it 0 for the default")
	case opts.DisableReplayProtection && opts.ReplayStore != nil:
		panic("webhook: NewHandler: DisableReplayProtection together with a ReplayStore: leave out one of them")
	}
	h := &Handler{
		verifier: v,
		on:       on,
		timeout:  min(cmp.Or(opts.Timeout, defaultTimeout), math.MaxInt64-time.Minute),
		store:    opts.ReplayStore,
		onError:  opts.OnError,
		onEvent:  opts.OnEvent,
		log:      opts.Logger,
	}
	h.lease = max(replayLease, h.timeout+time.Minute)
	h.keep = max(cmp.Or(opts.ReplayTTL, defaultKeep), 2*v.tolerance)
	if h.store == nil && !opts.DisableReplayProtection {
		h.store = newMemoryReplayStore(&MemoryReplayOptions{Now: v.now}, cmp.Or(max(0, 2*v.tolerance), defaultMinKeep))
	}
	if h.log == nil {
		h.log = slog.Default()
	}
	h.refusals = &refusals{log: h.log, onError: h.onError}
	return h
}

// ServeHTTP receives one delivery. All events are decoded before the first function runs; then they run one after the
// other, and one that fails does not stop the others. Functions go on when the sender hangs up.
//
// It answers with a JSON object {"status": …}, as [Handler.Receive] does:
//
//	200 ok                       everything was processed, or no function is set for it; also for []
//	200 duplicate                everything had been processed before
//	400 invalid_payload          genuine, but not a JSON object or array
//	401 unauthorized             not genuine, or not recent; only OnError and the log say which
//	405 method_not_allowed       not POST
//	408 body_incomplete          the body did not arrive whole
//	413 too_large                the body is larger than the Verifier's MaxBody
//	415 unsupported_media_type   not application/json, or with a Content-Encoding other than identity
//	500 failed                   a function failed, an element is not an event, or the Handler is a zero value
//	503 unavailable              an event is being processed elsewhere, the replay store failed or is full, or the request's
//	                             deadline passed; with Retry-After
//
// "Not an event" is an [UnknownEvent] that is not an object, or whose type can be neither read nor inferred, unless
// Funcs.Unknown takes it. An event that no function is set for is acknowledged and logged. After a 500 or 503 the
// service may deliver again, which it does not document. Then only those events run that did not succeed.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verified, refused := h.verifier.verifyRequest(r)
	var events []Event
	if refused == nil {
		var err error
		if events, err = Parse(verified.Payload); err != nil {
			refused = refuse(err)
		}
	}
	if refused != nil {
		h.refusals.tell(r.Context(), refused)
		refused.write(w, r)
		return
	}
	h.run(r.Context(), verified, events, verified.Payload).write(w, h.timeout)
	if body := verified.Payload; cap(body) <= pooledBody {
		bodies.Put(&body)
	}
}

// Receive receives one delivery without net/http, and returns the status and the JSON object to answer with. body is
// what the sender sent; decode base64 first. Build the header with [http.Header.Add]; only X-Signature and X-Timestamp
// are used.
//
// The functions of [Funcs] get the values and the deadline of ctx, but do not stop when ctx is cancelled. With a status
// of 503, add a Retry-After header. The caller may use body again when Receive returns.
func (h *Handler) Receive(ctx context.Context, header http.Header, body []byte) (status int, answer []byte) {
	verified, err := h.verifier.Verify(header, body)
	var events []Event
	if err == nil {
		events, err = Parse(verified.Payload)
	}
	if err != nil {
		refused := refuse(err)
		h.refusals.tell(ctx, refused)
		return refused.reply.status, []byte(refused.reply.body)
	}
	r := h.run(ctx, verified, events, nil)
	return r.status, []byte(r.body)
}

// reply is the answer to a delivery: a status and a constant JSON object, never a detail of the request.
type reply struct {
	status int
	body   string
}

var (
	replyOK           = reply{http.StatusOK, `{"status":"ok"}`}
	replyDuplicate    = reply{http.StatusOK, `{"status":"duplicate"}`}
	replyPayload      = reply{http.StatusBadRequest, `{"status":"invalid_payload"}`}
	replyUnauthorized = reply{http.StatusUnauthorized, `{"status":"unauthorized"}`}
	replyMethod       = reply{http.StatusMethodNotAllowed, `{"status":"method_not_allowed"}`}
	replyCutShort     = reply{http.StatusRequestTimeout, `{"status":"body_incomplete"}`}
	replyTooLarge     = reply{http.StatusRequestEntityTooLarge, `{"status":"too_large"}`}
	replyMediaType    = reply{http.StatusUnsupportedMediaType, `{"status":"unsupported_media_type"}`}
	replyFailed       = reply{http.StatusInternalServerError, `{"status":"failed"}`}
	replyUnavailable  = reply{http.StatusServiceUnavailable, `{"status":"unavailable"}`}
)

// write sends the answer. retryAfter is used by 503 only.
func (r reply) write(w http.ResponseWriter, retryAfter time.Duration) {
	header := w.Header()
	header["Content-Type"] = []string{"application/json"}
	switch r.status {
	case http.StatusMethodNotAllowed:
		header["Allow"] = []string{http.MethodPost}
	case http.StatusServiceUnavailable:
		header["Retry-After"] = []string{strconv.FormatInt(int64((retryAfter+time.Second-1)/time.Second), 10)}
	}
	w.WriteHeader(r.status)
	io.WriteString(w, r.body)
}
