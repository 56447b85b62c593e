package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// storeTimeout bounds each call of the replay store, apart from the function's own time.
const storeTimeout = 5 * time.Second

// delivery is the processing of one delivery: its events run one after the other.
type delivery struct {
	*Handler
	ctx      *deliveryContext
	events   []Event
	keys     replayKeys
	next     int // index of the event that comes next
	count    [OutcomeFailed + 1]int
	storeErr error // why the replay store is no longer called
	exiting  bool  // a function has called runtime.Goexit
}

func (h *Handler) newDelivery(ctx *deliveryContext, events []Event) delivery {
	return delivery{Handler: h, ctx: ctx, events: events, keys: newReplayKeys(len(events))}
}

// run processes the remaining events.
func (d *delivery) run() {
	for d.next < len(d.events) {
		i := d.next
		d.next++
		d.process(i)
	}
}

// answer returns the answer to the delivery after run. run may have ended with runtime.Goexit of the store or a hook.
func (d *delivery) answer() answer {
	finished := 0
	for _, n := range d.count {
		finished += n
	}
	switch {
	case d.count[OutcomeFailed] > 0 || finished < len(d.events):
		return answerFailed
	case d.count[OutcomePutOff] > 0:
		return answerUnavailable
	case d.count[OutcomeRepeated] > 0 && d.count[OutcomeRepeated] == len(d.events):
		return answerDuplicate
	}
	return answerOK
}

func (d *delivery) process(i int) {
	run, err := d.on.choose(d.events[i])
	switch {
	case err == ErrNoFunction:
		d.finish(i, OutcomeIgnored, nil, 0)
		return
	case err != nil:
		// Acknowledged, an event that could not be decoded would never be delivered again.
		d.finish(i, OutcomeFailed, err, 0)
		return
	case d.ctx.over():
		d.finish(i, OutcomePutOff, fmt.Errorf("the request's deadline passed: %w", context.DeadlineExceeded), 0)
		return
	case d.store == nil:
		d.call(i, run, nil)
		return
	}
	key := d.keys.next(d.events[i].source())
	switch state, err := d.begin(key); {
	case err != nil:
		d.finish(i, OutcomePutOff, err, 0)
	case state == ReplayDone:
		d.finish(i, OutcomeRepeated, nil, 0)
	case state == ReplayBusy:
		d.finish(i, OutcomePutOff, ErrEventBusy, 0)
	default:
		d.call(i, run, &key)
	}
}

// begin claims an event. A store that has failed is not called again, because each further event would wait for it too.
func (d *delivery) begin(key ReplayKey) (ReplayState, error) {
	if d.storeErr != nil {
		return 0, d.storeErr
	}
	ctx, end := d.storeContext()
	defer end()
	state, err := guardedStore{d.store}.Begin(ctx, key, d.lease)
	if err == nil && (state < ReplayFresh || state > ReplayDone) {
		err = fmt.Errorf("Begin returned state %d, want ReplayFresh, ReplayBusy or ReplayDone", state)
	}
	if err != nil {
		d.storeErr = fmt.Errorf("replay store: %w", err)
	}
	return state, d.storeErr
}

// storeContext bounds one call of the store. The store in memory never waits.
func (d *delivery) storeContext() (bounded context.Context, end func()) {
	if _, ok := d.store.(*MemoryReplayStore); ok {
		return d.ctx, func() {}
	}
	c := newBoundedContext(d.ctx, storeTimeout)
	return c, c.end
}

// call runs the function of an event, settles its claim, if any, and finishes the event. What follows the function is
// deferred because the function may call runtime.Goexit. Then the remaining events are processed while the goroutine exits.
func (d *delivery) call(i int, run function, claim *ReplayKey) {
	ctx := newFunctionContext(d.ctx, d.timeout)
	err, returned := errGoexit, false
	defer func() {
		ctx.end()
		var took time.Duration
		if d.onEvent != nil {
			took = time.Since(ctx.start)
		}
		outcome := outcomeOf(err)
		if claim != nil {
			err = withSettleError(err, d.settle(*claim, outcome, ctx.start))
		}
		d.finish(i, outcome, err, took)
		if !returned {
			d.exiting = true
			d.run()
		}
	}()
	err = call(ctx, run)
	returned = true
}

func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return OutcomeProcessed
	case IsPermanent(err):
		return OutcomeGivenUp
	}
	return OutcomeFailed
}

func (d *delivery) settle(key ReplayKey, outcome Outcome, begun time.Time) error {
	ctx, end := d.storeContext()
	defer end()
	if outcome != OutcomeFailed {
		return guardedStore{d.store}.Done(ctx, key, d.keep)
	}
	if time.Since(begun) >= d.lease-2*storeTimeout {
		// The claim may have expired when the store handles the call, and Abort would release someone else's. The store may
		// have claimed up to storeTimeout before begun, and may take as long to handle Abort.
		return nil
	}
	return guardedStore{d.store}.Abort(ctx, key)
}

// withSettleError adds to a function's error that its claim could not be settled.
func withSettleError(err, settleErr error) error {
	switch {
	case settleErr == nil:
		return err
	case err == nil:
		return fmt.Errorf("processed, but a repeat may run it again: replay store: %w", settleErr)
	}
	return fmt.Errorf("%w (and replay store: %w)", err, settleErr)
}

// finish counts the outcome of an event and reports it.
func (d *delivery) finish(i int, outcome Outcome, err error, took time.Duration) {
	d.count[outcome]++
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

// processedWithout reports the unreadable fields of an event that was processed, and why that was not recorded, if so.
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
