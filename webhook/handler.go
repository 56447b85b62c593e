package webhook

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"time"
)

// The defaults of [HandlerOptions].
const (
	DefaultTimeout     = 30 * time.Second
	DefaultReplayLease = 5 * time.Minute
	DefaultReplayKeep  = 24 * time.Hour
)

// HandlerOptions are the optional settings of [NewHandler]. The zero value gives the defaults.
type HandlerOptions struct {
	// Timeout is how long one function may take for one event until its ctx ends. Default 30 seconds ([DefaultTimeout]).
	// The service's own time-out is not documented; a function that needs longer than a few seconds should put the work
	// into a queue.
	Timeout time.Duration

	// ReplayStore remembers processed events, so that a repeated delivery runs nothing twice. Default: a
	// [MemoryReplayStore] of this handler's own, on the Verifier's clock. Several processes need a shared one.
	ReplayStore ReplayStore

	// AllowRepeats switches the replay store off: every genuine delivery runs, however often it comes.
	AllowRepeats bool

	// ReplayLease is for how long an event that is being processed is held for this handler; after that another
	// delivery of it may run, as the process must have died. Default 5 minutes ([DefaultReplayLease]); it is raised to a
	// minute more than Timeout where it is less.
	ReplayLease time.Duration

	// ReplayKeep is for how long a processed event is remembered. Default 24 hours ([DefaultReplayKeep]); it is raised to
	// twice the Verifier's tolerance where it is less. It should be longer than the service goes on repeating a delivery,
	// which it does not document.
	ReplayKeep time.Duration

	// OnError is told once of each event that was not processed, with an *[EventError], and of each delivery that was
	// refused as a whole, with a *[RefusedError]; strangers can cause those. nil: nothing.
	//
	// It runs before the request is answered, possibly concurrently. A panic in it, as in OnEvent and Logger, is not
	// caught: it ends the request without an answer, and the events that are left wait for another delivery.
	OnError func(context.Context, error)

	// OnEvent is told once of each event of a genuine delivery, whatever became of it: the place for metrics. It runs
	// after the event's function and after OnError, possibly concurrently. nil: nothing.
	OnEvent func(context.Context, EventResult)

	// Logger gets a line for each event that was not processed, at debug level also for each that was, and a line for
	// each refused delivery: the first five in a minute at warn level, further ones at debug level with their number.
	//
	// Lines hold types, ids, error texts and, where a function panicked, its stack, never personal data, unless the
	// errors and panics of functions do. Default [slog.Default] as it is when NewHandler is called.
	Logger *slog.Logger

	// Diagnose adds what [Diagnose] says to the log line and the RefusedError of deliveries that are answered 401: of one a
	// second at most, and of bodies up to 64 KiB. It is meant for the time until the first delivery has come through.
	Diagnose bool
}

// Handler is an [http.Handler] that receives deliveries: it verifies and decodes them, skips repeats and runs a function
// for each event. Make one with [NewHandler]; a zero Handler refuses everything. It is safe for concurrent use.
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

// NewHandler returns a Handler that runs the functions of on. opts may be nil. It panics when the Verifier is nil or
// zero, when on has no function at all, when a duration is negative, and when a ReplayStore is given together with AllowRepeats.
func NewHandler(v *Verifier, on Funcs, opts *HandlerOptions) *Handler {
	if opts == nil {
		opts = &HandlerOptions{}
	}
	switch {
	case !v.usable():
		panic("webhook: NewHandler: no Verifier: make one with NewVerifier")
	case on.empty():
		panic("webhook: NewHandler: Funcs has no function: set at least one, Other for all events")
	case opts.Timeout < 0 || opts.ReplayLease < 0 || opts.ReplayKeep < 0:
		panic("webhook: NewHandler: negative Timeout, ReplayLease or ReplayKeep: leave it 0 for the default")
	case opts.AllowRepeats && opts.ReplayStore != nil:
		panic("webhook: NewHandler: AllowRepeats together with a ReplayStore: leave out one of them")
	}
	h := &Handler{
		verifier: v,
		on:       on,
		timeout:  min(orDefault(opts.Timeout, DefaultTimeout), math.MaxInt64-time.Minute),
		store:    opts.ReplayStore,
		onError:  opts.OnError,
		onEvent:  opts.OnEvent,
		log:      opts.Logger,
	}
	h.lease = max(orDefault(opts.ReplayLease, DefaultReplayLease), h.timeout+time.Minute)
	h.keep = max(orDefault(opts.ReplayKeep, DefaultReplayKeep), 2*v.tolerance)
	if h.store == nil && !opts.AllowRepeats {
		h.store = NewMemoryReplayStore(&MemoryReplayOptions{MinKeep: max(0, 2*v.tolerance), Now: v.now})
	}
	if h.log == nil {
		h.log = slog.Default()
	}
	h.refusals = &refusals{verifier: v, log: h.log, onError: h.onError, diagnose: opts.Diagnose}
	return h
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// ServeHTTP receives one delivery. It answers with a JSON object {"status": …}:
//
//	200 ok                       everything was processed, or no function is there for it; also for []
//	200 duplicate                everything had been processed before
//	400 invalid_payload          genuine, but not a JSON object or an array of objects
//	401 unauthorized             not genuine, or not recent; which of the two only OnError and the log say
//	405 method_not_allowed       not POST
//	408 body_incomplete          the body did not arrive whole
//	413 too_large                the body is larger than the Verifier's MaxBody
//	415 unsupported_media_type   not application/json, or with a Content-Encoding
//	500 failed                   a function failed, or an event could not be decoded and Funcs.Unknown is nil
//	503 unavailable              an event is being processed elsewhere, or the replay store failed; with Retry-After
//
// All events of a delivery are decoded before the first function runs, then run one after the other in their order;
// one that fails does not stop the others. When the service delivers it again, only those run that did not succeed.
// What is run does not stop when the sender hangs up.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, events, refused := h.open(r)
	if refused != nil {
		refused.answer.write(w, h.timeout)
		return
	}
	d := h.newDelivery(ctx, events)
	defer func() {
		if d.exiting {
			d.answer().writeWhole(w, h.timeout)
		}
	}()
	d.run()
	d.answer().write(w, h.timeout)
}

// Receive receives one delivery without net/http, as [Handler.ServeHTTP] does: for a function behind an API gateway, another
// HTTP library or a queue. It returns the status and the JSON object to answer with.
//
// It looks at X-Signature and X-Timestamp and at no other header: build the header with [http.Header.Add], which puts
// keys into the upper and lower case that is looked for. body is what the sender sent, decoded from base64 where a gateway
// has encoded it; it may be used again when Receive returns.
//
// The functions of [Funcs] get the values of ctx and its deadline, but what is run does not stop when ctx is cancelled.
func (h *Handler) Receive(ctx context.Context, header http.Header, body []byte) (status int, answer []byte) {
	a := h.receive(ctx, header, body)
	return a.status, []byte(a.body)
}

func (h *Handler) receive(ctx context.Context, header http.Header, body []byte) answer {
	verified, err := h.verifier.Verify(header, body)
	var events []Event
	if err == nil {
		events, err = Parse(verified.Payload)
	}
	if err != nil {
		refused := refuse(err)
		h.refusals.tell(ctx, refused, header, body)
		return refused.answer
	}
	verified.Payload = nil
	d := h.newDelivery(newDeliveryContext(ctx, verified), events)
	// A function may end its goroutine, which must not be the caller's: there would be no answer.
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		d.run()
	}()
	if p := <-ended; p != nil {
		panic(p) // of a hook, to the one who set it
	}
	return d.answer()
}

// open verifies and decodes a request. The buffer that it was read into goes back before the functions run: they may
// take long.
func (h *Handler) open(r *http.Request) (*deliveryContext, []Event, *refusal) {
	b := takeBuffer()
	defer b.release()
	verified, refused := h.verifier.receive(r, b)
	var events []Event
	if refused == nil {
		// Parse copies the payload, once for all events.
		var err error
		if events, err = Parse(verified.Payload); err != nil {
			refused = refuse(err)
		}
	}
	if refused != nil {
		h.refusals.tell(r.Context(), refused, r.Header, b.received())
		return nil, nil, refused
	}
	verified.Payload = nil
	return newDeliveryContext(r.Context(), verified), events, nil
}
