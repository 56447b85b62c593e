package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// storeTimeout bounds each call of the replay store, apart from the function's own time.
const storeTimeout = 5 * time.Second

// outcome is what became of one event.
type outcome int

const (
	failed    outcome = iota // to be delivered again
	processed                // done, or nothing to do
	repeated                 // had been done before
	busy                     // being done elsewhere
	lost                     // the replay store did not answer
)

// process runs the functions for events and returns the answer to the delivery.
func (h *Handler) process(ctx *deliveryContext, events []Event) answer {
	var count [lost + 1]int
	keys := newReplayKeys(len(events))
	for i, ev := range events {
		got := h.processOne(ctx, &keys, i, ev)
		count[got]++
		if got == lost {
			// Nothing runs without a claim, and each further event would wait for the store once more.
			break
		}
	}
	switch {
	case count[failed] > 0:
		return answerFailed
	case count[busy]+count[lost] > 0:
		return answerUnavailable
	case count[repeated] > 0 && count[repeated] == len(events):
		return answerDuplicate
	}
	return answerOK
}

func (h *Handler) processOne(ctx *deliveryContext, keys *replayKeys, i int, ev Event) outcome {
	run, err := h.on.choose(ev)
	switch {
	case err != nil:
		return h.unwanted(ctx, i, ev, err)
	case h.store == nil:
		return h.run(newFunctionContext(ctx, h.timeout), run, i, ev)
	}
	key := keys.next(ev.source())
	state, err := h.begin(ctx, key)
	switch {
	case err != nil:
		h.report(ctx, "webhook: event put off, the replay store failed", &EventError{Index: i, Event: ev, Err: fmt.Errorf("replay store: %w", err)})
		return lost
	case state == ReplayDone:
		h.logEvent(ctx, slog.LevelInfo, "webhook: event skipped, it was processed before", i, ev)
		if h.onDuplicate != nil {
			h.onDuplicate(ctx, ev)
		}
		return repeated
	case state == ReplayBusy:
		h.logEvent(ctx, slog.LevelInfo, "webhook: event put off, it is being processed elsewhere", i, ev)
		return busy
	}
	return h.runClaimed(ctx, run, key, i, ev)
}

// unwanted deals with an event that no function is there for. One that could not be decoded is genuine all the same
// and must not be lost: acknowledged, it would never be delivered again.
func (h *Handler) unwanted(ctx context.Context, i int, ev Event, reason error) outcome {
	if reason != ErrNoFunction {
		h.report(ctx, "webhook: event not decoded", &EventError{Index: i, Event: ev, Err: reason})
		return failed
	}
	h.logEvent(ctx, slog.LevelInfo, "webhook: event acknowledged, no function for it", i, ev)
	return processed
}

func (h *Handler) begin(ctx context.Context, key ReplayKey) (ReplayState, error) {
	ctx, end := h.storeContext(ctx)
	defer end()
	state, err := h.store.Begin(ctx, key, h.lease)
	if err == nil && (state < ReplayFresh || state > ReplayDone) {
		err = fmt.Errorf("Begin returned state %d, want ReplayFresh, ReplayBusy or ReplayDone", state)
	}
	return state, err
}

// storeContext bounds one call of the store. The one in memory never waits.
func (h *Handler) storeContext(ctx context.Context) (bounded context.Context, end func()) {
	if _, ok := h.store.(*MemoryReplayStore); ok {
		return ctx, func() {}
	}
	c := newBoundedContext(ctx, storeTimeout)
	return c, c.end
}

// runClaimed runs a function and settles its claim, also when the function aborts the request or ends its goroutine.
func (h *Handler) runClaimed(ctx *deliveryContext, run function, key ReplayKey, i int, ev Event) (got outcome) {
	bounded := newFunctionContext(ctx, h.timeout)
	defer func() {
		if err := h.settle(ctx, key, got, bounded.start); err != nil {
			h.report(ctx, "webhook: event processed or failed, but not so recorded: a repeat may run it again", &EventError{Index: i, Event: ev, Err: fmt.Errorf("replay store: %w", err)})
		}
	}()
	return h.run(bounded, run, i, ev)
}

func (h *Handler) settle(ctx context.Context, key ReplayKey, got outcome, begun time.Time) error {
	ctx, end := h.storeContext(ctx)
	defer end()
	if got == processed {
		return h.store.Done(ctx, key, h.keep)
	}
	if time.Since(begun) >= h.lease-2*storeTimeout {
		// The claim may have ended by the time that the store sees to it, and another one is not ours to end. Begin may
		// have taken its time before begun, as Abort may now.
		return nil
	}
	return h.store.Abort(ctx, key)
}

// run calls a function and reports what went wrong.
func (h *Handler) run(ctx *boundedContext, run function, i int, ev Event) outcome {
	defer ctx.end()
	err := call(ctx, run)
	if err == nil {
		h.logEvent(ctx.parent, slog.LevelDebug, "webhook: event processed", i, ev)
		return processed
	}
	problem := &EventError{Index: i, Event: ev, Err: err}
	if p, ok := err.(*PanicError); ok {
		problem.Stack = p.Stack
		h.report(ctx.parent, "webhook: event failed, its function panicked", problem, slog.String("stack", string(p.Stack)))
		return failed
	}
	if IsPermanent(err) {
		h.report(ctx.parent, "webhook: event given up", problem)
		return processed
	}
	h.report(ctx.parent, "webhook: event failed", problem)
	return failed
}

func (h *Handler) logEvent(ctx context.Context, level slog.Level, message string, i int, ev Event) {
	if h.log.Enabled(ctx, level) {
		h.log.LogAttrs(ctx, level, message,
			slog.Int("index", i), slog.String("event", string(ev.EventType())), slog.String("subject", ev.SubjectID()))
	}
}
