package webhook

import (
	"context"
	"log/slog"
	"math"
	"net/http"
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

	// AllowRepeats switches the replay store off: every genuine delivery runs, however often it arrives.
	AllowRepeats bool

	// ReplayLease is how long an event is reserved for the handler that processes it. After that another delivery may run
	// it, because the process must have died. Default 5 minutes; at least a minute more than Timeout.
	ReplayLease time.Duration

	// ReplayKeep is how long a processed event is remembered. Default 24 hours; at least twice the
	// Verifier's tolerance. It should be longer than the service repeats a delivery, which it does not document.
	ReplayKeep time.Duration

	// OnError is called with an *[EventError] once for each event that failed, or was processed although a field of it could
	// not be read; not for one that is ignored or repeated. It is called with a *[RefusedError] for each delivery that was
	// refused as a whole; unauthenticated requests can cause those. nil means no call.
	//
	// It runs before the request is answered, possibly concurrently. A panic in OnError, OnEvent or Logger is not caught: it
	// ends the request without an answer, and the remaining events wait for another delivery.
	OnError func(context.Context, error)

	// OnEvent is called once for each event of a genuine delivery, whatever its outcome. It is the place for metrics. It runs
	// after the event's function and after OnError, possibly concurrently. nil means no call.
	OnEvent func(context.Context, EventResult)

	// Logger gets a line for each event that OnError is called for, at info level for each that is ignored or repeated, and
	// at debug level for each other one. It gets a line for each refused delivery: in a minute five at warn level for genuine
	// ones and five for others, further ones at debug level; the next line at warn level has their number. A line with a
	// diagnosis is always at warn level.
	//
	// Lines contain types and ids as an [EventError] prints them, error texts and the stack of a panic. They contain personal
	// data only when the errors or panics of functions do. Default [slog.Default] as it is when NewHandler is called.
	Logger *slog.Logger

	// Diagnose adds the text of [Diagnose] to the log line and the RefusedError of deliveries that are answered 401: at most
	// one a second, and only bodies up to 64 KiB. It is meant for the time until the first delivery has been accepted.
	Diagnose bool
}

// Handler is an [http.Handler] that receives deliveries. It verifies and decodes them, skips repeats and runs a function
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
// zero, when on has no function, when a duration is negative, and when both AllowRepeats and a ReplayStore are set.
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
		timeout:  min(orDefault(opts.Timeout, 30*time.Second), math.MaxInt64-time.Minute),
		store:    opts.ReplayStore,
		onError:  opts.OnError,
		onEvent:  opts.OnEvent,
		log:      opts.Logger,
	}
	h.lease = max(orDefault(opts.ReplayLease, 5*time.Minute), h.timeout+time.Minute)
	h.keep = max(orDefault(opts.ReplayKeep, 24*time.Hour), 2*v.tolerance)
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

// ServeHTTP receives one delivery. The package documentation lists the answers. All events are decoded before the first
// function runs; then they run one after the other, and one that fails does not stop the others. Functions go on when the
// sender hangs up.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, events, refused := h.open(r)
	if refused != nil {
		refused.write(w, r, h.timeout)
		return
	}
	if !outlivesGoroutine(w, r) {
		h.runApart(ctx, events).write(w, h.timeout)
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

// open verifies and decodes a request. It releases the buffer before the functions run, because they may take long.
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
		return nil, nil, h.refusals.note(r, b, refused)
	}
	verified.Payload = nil
	return newDeliveryContext(r.Context(), verified), events, nil
}
