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
	// Timeout is how long a function may take for one event. Then its ctx ends. Default 30 seconds.
	// The service does not document its own time-out, so put work that takes longer than a few
	// seconds into a queue.
	Timeout time.Duration

	// ReplayStore remembers processed events, so that a repeated delivery runs nothing twice. The
	// default is a [MemoryReplayStore] for this handler alone, with the clock of the Verifier.
	// Several processes need a shared store.
	ReplayStore ReplayStore

	// DisableReplayProtection switches the replay store off. Every genuine delivery then runs,
	// however often it arrives.
	DisableReplayProtection bool

	// ReplayTTL is how long a processed event is remembered. Default 24 hours; at least twice the
	// Verifier's tolerance. ReplayTTL should be longer than the time for which the service repeats
	// a delivery, which the service does not document.
	ReplayTTL time.Duration

	// OnError is called once for each failure. nil means no call. The type of the error shows what
	// failed:
	//
	//   - An *[EventError] is one event that was not processed, or not recorded as processed, or
	//     that was processed although a field could not be read. Ignored and repeated events are
	//     not reported.
	//   - A *[RefusedError] is a delivery that was refused as a whole. Unauthenticated requests can
	//     cause it.
	//
	// OnError runs before the response is sent, possibly concurrently. A panic in OnError, OnEvent
	// or Logger is not caught: it ends the request without a response, and the remaining events run
	// only if the service delivers them again.
	OnError func(context.Context, error)

	// OnEvent is called once for each event of a genuine delivery, whatever its outcome. Use it for
	// metrics. It runs after the event's function and after OnError, possibly concurrently. nil
	// means no call.
	OnEvent func(context.Context, EventResult)

	// Logger gets one line for each event and for each refused delivery:
	//
	//   - An event for which OnError is called is logged at warn level.
	//   - An ignored or repeated event is logged at info level.
	//   - Any other event is logged at debug level.
	//   - A refused delivery is logged at warn level: at most five lines a minute for genuine
	//     deliveries, and five for others. Further lines are at debug level, and the next line at
	//     warn level has their number.
	//
	// [Diagnose] and the command "signforms webhook diagnose" explain why a delivery is not
	// genuine.
	//
	// Lines contain types and ids as an [EventError] prints them, error texts, and the stack of a
	// panic. They contain personal data only if the errors or panics of functions do. The default
	// is [slog.Default] at the time when NewHandler is called.
	Logger *slog.Logger
}

// Handler is an [http.Handler] that receives deliveries. It verifies and decodes them, skips
// repeated events and runs a function for each other event. Make a Handler with [NewHandler]; a
// zero Handler refuses everything. A Handler is safe for concurrent use.
type Handler struct {
	verifier    *Verifier
	on          Funcs
	timeout     time.Duration
	store       ReplayStore // nil: repeated events run again
	lease, keep time.Duration
	onError     func(context.Context, error)
	onEvent     func(context.Context, EventResult)
	log         *slog.Logger
	refusals    *refusals
}

// The defaults of [HandlerOptions], and replayLease, the time for which an event is reserved for
// the handler that processes it. After replayLease another delivery may run the event, because the
// process must have died.
const (
	defaultTimeout = 30 * time.Second
	defaultKeep    = 24 * time.Hour
	replayLease    = 5 * time.Minute
)

// NewHandler returns a Handler that runs the functions of on. opts may be nil. NewHandler panics in
// these cases:
//
//   - v is nil or zero.
//   - on has no function.
//   - A duration in opts is negative.
//   - DisableReplayProtection is true and ReplayStore is set.
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

// ServeHTTP receives one delivery. All events are decoded before the first function runs. Then the
// events run one after the other, and an event that fails does not stop the others. Functions
// continue when the sender hangs up.
//
// The response is a JSON object {"status": …}, as that of [Handler.Receive]:
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
// An element is "not an event" if it is not an object, or if its type can be neither read nor
// inferred. The element becomes an [UnknownEvent], and causes 500 only if Funcs.Unknown is nil. An
// event for which no function is set is acknowledged and logged.
//
// After a 500 or 503 the service may deliver again, which it does not document. Then only the
// events run that have not succeeded yet.
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
		h.refusals.report(r.Context(), refused)
		refused.write(w, r)
		return
	}
	h.runEvents(r.Context(), verified, events, verified.Payload).write(w, h.timeout)
	if body := verified.Payload; cap(body) <= pooledBody {
		bodies.Put(&body)
	}
}

// Receive receives one delivery without net/http, and returns the status and the JSON object of the
// response. The argument body is the body as the sender sent it. If your platform encodes the body
// in base64, decode it first. Build header with [http.Header.Add]. Receive uses only X-Signature
// and X-Timestamp.
//
// The functions of [Funcs] get the values and the deadline of ctx, but continue when ctx is
// cancelled. If the status is 503, add a Retry-After header to the response. The caller may use
// body again when Receive has returned.
func (h *Handler) Receive(ctx context.Context, header http.Header, body []byte) (status int, answer []byte) {
	verified, err := h.verifier.Verify(header, body)
	var events []Event
	if err == nil {
		events, err = Parse(verified.Payload)
	}
	if err != nil {
		refused := refuse(err)
		h.refusals.report(ctx, refused)
		return refused.reply.status, []byte(refused.reply.body)
	}
	r := h.runEvents(ctx, verified, events, nil)
	return r.status, []byte(r.body)
}

// reply is the response to a delivery: a status and a constant JSON object. It contains no detail
// of the request.
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

// write sends the response. Only a 503 uses retryAfter.
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
