package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

// Outcome is the result of one event of a delivery. OutcomeFailed is not final: the response asks
// the service to deliver the event again. In module queue, by contrast, a failed event is final.
type Outcome int

// The outcomes. The zero value is not an outcome.
const (
	OutcomeProcessed         Outcome = iota + 1 // its function returned nil
	OutcomeFailedPermanently                    // its function returned an error marked Permanent; acknowledged
	OutcomeIgnored                              // no function is set for it; acknowledged
	OutcomeRepeated                             // processed by an earlier delivery; not run again
	OutcomeDeferred                             // not run: it is being processed elsewhere, the replay store failed, or the request's deadline passed
	OutcomeFailed                               // its function failed or panicked, or it could not be decoded
)

// outcomes has the name of each outcome, and the log message for events without an error.
var outcomes = [...]struct {
	name    string
	level   slog.Level
	message string
}{
	OutcomeProcessed:         {name: "processed", level: slog.LevelDebug, message: "webhook: event processed"},
	OutcomeFailedPermanently: {name: "failed_permanently", level: slog.LevelWarn, message: "webhook: event failed permanently"},
	OutcomeIgnored:           {name: "ignored", level: slog.LevelInfo, message: "webhook: event acknowledged, no function is set for it"},
	OutcomeRepeated:          {name: "repeated", level: slog.LevelInfo, message: "webhook: event skipped, it was processed before"},
	OutcomeDeferred:          {name: "deferred", level: slog.LevelWarn, message: "webhook: event deferred"},
	OutcomeFailed:            {name: "failed", level: slog.LevelWarn, message: "webhook: event failed"},
}

// String returns the outcome as a word for logs and metrics: processed, failed_permanently,
// ignored, repeated, deferred or failed.
func (o Outcome) String() string {
	if o < OutcomeProcessed || o > OutcomeFailed {
		return fmt.Sprintf("Outcome(%d)", int(o))
	}
	return outcomes[o].name
}

// EventResult describes the result of one event, for [HandlerOptions.OnEvent].
type EventResult struct {
	Index    int           // position in the delivery, from 0
	Event    Event         // contains personal data
	Outcome  Outcome       // the result of the event
	Err      error         // why the event was not processed, or not recorded as processed; nil otherwise
	Duration time.Duration // how long its function ran; 0 when none ran
	SignedAt time.Time     // when the service signed the delivery
}

// storeTimeout bounds each call of the replay store. The time that a function takes does not count.
const storeTimeout = 5 * time.Second

// delivery is the processing of one delivery. Its events run one after the other.
type delivery struct {
	*Handler
	ctx      *deliveryContext
	events   []Event
	keys     replayKeys
	next     int // index of the event that comes after the current one
	count    [OutcomeFailed + 1]int
	storeErr error // why the replay store is no longer called
	current  current
}

// current is the event whose function is running.
type current struct {
	running  bool
	panicked any    // the value of the function's panic; nil if the function ended its goroutine
	stack    []byte // the stack of the panic
	begun    time.Time
	end      context.CancelFunc // ends the context of the function
	claim    *ReplayKey         // nil without a replay store
}

// runEvents runs the functions of all events on a goroutine of its own and waits for it. The caller's
// goroutine is not used, because a function may end the goroutine that it runs on. After such an
// end, and after a panic, runEvents starts another goroutine for the remaining events. runEvents overwrites
// scratch.
func (h *Handler) runEvents(request context.Context, verified Verified, events []Event, scratch []byte) reply {
	d := &delivery{
		Handler: h, ctx: newDeliveryContext(request, verified), events: events, keys: newReplayKeys(len(events), scratch),
	}
	ended := make(chan any, 1)
	for d.current.running || d.next < len(d.events) {
		go d.goOn(ended)
		if p := <-ended; p != nil {
			panic(p)
		}
	}
	return d.reply()
}

// goOn processes the events that remain. If the function of the current event did not return, goOn
// settles that event first. goOn passes on the panic of a hook.
func (d *delivery) goOn(ended chan<- any) {
	defer func() {
		p := recover()
		if d.current.running {
			d.current.panicked, d.current.stack, p = p, debug.Stack(), nil
		}
		ended <- p
	}()
	if d.current.running {
		d.settle(stopped(d.current.panicked, d.current.stack))
	}
	for d.next < len(d.events) {
		d.next++
		d.process(d.events[d.next-1])
	}
}

// reply returns the response to the delivery, after run. Events may be unfinished, because the
// store or a hook may have ended the goroutine.
func (d *delivery) reply() reply {
	finished := 0
	for _, n := range d.count {
		finished += n
	}
	switch {
	case d.count[OutcomeFailed] > 0 || finished < len(d.events):
		return replyFailed
	case d.count[OutcomeDeferred] > 0:
		return replyUnavailable
	case d.count[OutcomeRepeated] > 0 && d.count[OutcomeRepeated] == len(d.events):
		return replyDuplicate
	}
	return replyOK
}

func (d *delivery) process(ev Event) {
	run, err := d.on.choose(ev)
	switch {
	case err == ErrNoFunction:
		d.finish(OutcomeIgnored, nil, 0)
		return
	case err != nil:
		// If an event that could not be decoded were acknowledged, the service would never deliver
		// it again.
		d.finish(OutcomeFailed, err, 0)
		return
	case d.ctx.over():
		d.finish(OutcomeDeferred, fmt.Errorf("the request's deadline passed: %w", context.DeadlineExceeded), 0)
		return
	case d.store == nil:
		d.callFunction(run, nil)
		return
	}
	key := d.keys.next(ev.source())
	switch state, err := d.begin(key); {
	case err != nil:
		d.finish(OutcomeDeferred, err, 0)
	case state == ReplayDone:
		d.finish(OutcomeRepeated, nil, 0)
	case state == ReplayBusy:
		d.finish(OutcomeDeferred, ErrEventBusy, 0)
	default:
		d.callFunction(run, &key)
	}
}

// begin claims an event. After the store has failed once, begin does not call it again in this
// delivery, because each further event would wait for the store too.
func (d *delivery) begin(key ReplayKey) (state ReplayState, err error) {
	if d.storeErr != nil {
		return 0, d.storeErr
	}
	err = d.askStore(func(ctx context.Context) (err error) {
		state, err = d.store.Begin(ctx, key, d.lease)
		return err
	})
	if err == nil && (state < ReplayFresh || state > ReplayDone) {
		err = fmt.Errorf("Begin returned state %d, want ReplayFresh, ReplayBusy or ReplayDone", state)
	}
	if err != nil {
		d.storeErr = fmt.Errorf("replay store: %w", err)
	}
	return state, d.storeErr
}

// askStore makes one call of the store. It limits the time of the call and turns a panic into an
// error. The store in memory never waits, so it needs neither.
func (d *delivery) askStore(ask func(context.Context) error) error {
	if _, ok := d.store.(*MemoryReplayStore); ok {
		return ask(d.ctx)
	}
	ctx, end := context.WithTimeout(d.ctx, storeTimeout)
	defer end()
	return guarded(func() error { return ask(ctx) })
}

// callFunction runs the function of the current event. If the function does not return, goOn settles the
// event.
func (d *delivery) callFunction(run function, claim *ReplayKey) {
	c := current{running: true, begun: time.Now(), claim: claim}
	deadline := c.begun.Add(d.timeout)
	if d.ctx.limited && d.ctx.deadline.Before(deadline) {
		deadline = d.ctx.deadline
	}
	var ctx context.Context
	ctx, c.end = context.WithDeadline(d.ctx, deadline)
	d.current = c
	d.settle(readableError(run(ctx)))
}

// settle finishes the current event, whose function has ended with err.
func (d *delivery) settle(err error) {
	c := d.current
	d.current = current{}
	c.end()
	took := time.Since(c.begun)
	outcome := outcomeOf(err)
	if c.claim != nil {
		err = withSettleError(err, d.release(&c, outcome))
	}
	d.finish(outcome, err, took)
}

func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return OutcomeProcessed
	case IsPermanent(err):
		return OutcomeFailedPermanently
	}
	return OutcomeFailed
}

func (d *delivery) release(c *current, outcome Outcome) error {
	if outcome != OutcomeFailed {
		return d.askStore(func(ctx context.Context) error { return d.store.Done(ctx, *c.claim, d.keep) })
	}
	if time.Since(c.begun) >= d.lease-2*storeTimeout {
		// The claim may have expired by the time the store handles the call, and Abort would
		// release the claim of another process. The store may have claimed up to storeTimeout
		// before begun, and may take as long to handle Abort.
		return nil
	}
	return d.askStore(func(ctx context.Context) error { return d.store.Abort(ctx, *c.claim) })
}

// withSettleError adds settleErr to the error of a function whose claim could not be settled.
func withSettleError(err, settleErr error) error {
	switch {
	case settleErr == nil:
		return err
	case err == nil:
		return fmt.Errorf("processed, but a repeat may run it again: replay store: %w", settleErr)
	}
	return fmt.Errorf("%w (and replay store: %w)", err, settleErr)
}

// finish counts the outcome of the current event and reports it.
func (d *delivery) finish(outcome Outcome, err error, took time.Duration) {
	d.count[outcome]++
	i := d.next - 1
	ev := d.events[i]
	report := err
	if fields := ev.FieldErrors(); len(fields) > 0 && outcome == OutcomeProcessed {
		report = processedWithout(fields, err)
	}
	d.logEvent(i, outcome, report)
	if report != nil && d.onError != nil {
		d.onError(d.ctx, &EventError{Index: i, Event: ev, Err: report})
	}
	if d.onEvent != nil {
		d.onEvent(d.ctx, EventResult{
			Index: i, Event: ev, Outcome: outcome, Err: err, Duration: took, SignedAt: d.ctx.verified.Timestamp,
		})
	}
}

// processedWithout reports the unreadable fields of an event that was processed. If recording the
// event failed, the error err is included.
func processedWithout(fields []*FieldError, err error) error {
	more := ""
	if n := len(fields) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more such", n)
	}
	if err != nil {
		return fmt.Errorf("%w; %w%s", err, fields[0], more)
	}
	return fmt.Errorf("processed, but %w%s", fields[0], more)
}

func (d *delivery) logEvent(i int, outcome Outcome, err error) {
	level := outcomes[outcome].level
	if err != nil {
		level = slog.LevelWarn
	}
	if !d.log.Enabled(d.ctx, level) {
		return
	}
	ev := d.events[i]
	attrs := []slog.Attr{
		slog.Int("index", i), slog.String("event", printed(string(ev.EventType()))), slog.String("subject", printed(ev.SubjectID())),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	if fields := ev.FieldErrors(); len(fields) > 0 && outcome != OutcomeProcessed {
		attrs = append(attrs, slog.String("field", fields[0].Field))
	}
	if p, ok := errors.AsType[*PanicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	d.log.LogAttrs(d.ctx, level, outcomes[outcome].message, attrs...)
}

// deliveryContext has the values of a request's context and the verified data of the delivery. It
// is not cancelled with the request, so a sender that hangs up does not stop a function half way.
// The request's deadline applies to functions only, because the results of functions must still be
// recorded after the deadline.
type deliveryContext struct {
	context.Context
	verified Verified
	deadline time.Time
	limited  bool // there is a deadline
}

type verifiedKey struct{}

func newDeliveryContext(request context.Context, verified Verified) *deliveryContext {
	verified.Payload = nil
	c := &deliveryContext{Context: context.WithoutCancel(request), verified: verified}
	c.deadline, c.limited = request.Deadline()
	return c
}

// over reports whether the request's deadline has passed.
func (c *deliveryContext) over() bool { return c.limited && !time.Now().Before(c.deadline) }

func (c *deliveryContext) Value(key any) any {
	if key == (verifiedKey{}) {
		return &c.verified
	}
	return c.Context.Value(key)
}

// VerifiedFromContext returns the verified data of the delivery to which ctx belongs. It reports
// true for three kinds of context:
//
//   - the context of a function that a [Handler] calls
//   - the context of a hook that is called for an event
//   - the context of a request that passed [Verifier.Middleware]
//
// In functions and hooks, Payload is nil. Raw of the event returns the event's part of the payload.
func VerifiedFromContext(ctx context.Context) (Verified, bool) {
	verified, ok := ctx.Value(verifiedKey{}).(*Verified)
	if !ok {
		return Verified{}, false
	}
	return *verified, true
}
