package signforms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"
)

// The service's limit and what the SDK adds to it.
const (
	reminderLimit  = 5
	reminderWindow = 15 * time.Minute
	// slotMargin covers limits with closed windows, whole-second stamps and clock rates.
	slotMargin = time.Second
	// stragglerTime is how long after its attempt was given up a request may still arrive.
	stragglerTime = time.Minute
	// maxClosed bounds what a Retry-After can do.
	maxClosed = 24 * time.Hour
	// storeTimeout bounds each question to a store, also one that outlives its call.
	storeTimeout = 3 * time.Second
	// endGrace is how long a call waits for its store once its context has ended. Mostly that is enough to have the slot given
	// back before the call returns, and with it perhaps the process.
	endGrace = 100 * time.Millisecond
	// recheck is how often the first in line asks again: other processes give slots back without a word to this one.
	recheck = 10 * time.Second
)

// budget keeps the limit for one base URL and API key: below the retry layer, a slot for every request.
type budget struct {
	lineKey
	hold time.Duration
}

func newBudget(o Options, base, apiKey string) *budget {
	sum := sha256.Sum256([]byte(base + "\n" + apiKey))
	return &budget{
		lineKey: lineKey{o.LimitStore, hex.EncodeToString(sum[:])},
		hold:    o.AttemptTimeout + stragglerTime + reminderWindow + slotMargin,
	}
}

// slot is a taken slot of the budget.
type slot struct {
	id     string
	at     time.Time // just before it was taken: its hold ends at least budget.hold later
	waited time.Duration
}

// take waits for a slot, in line, for at most maxWait less what the call has waited already. Its error is an *Error that
// is Local, or ctx's.
func (b *budget) take(ctx context.Context, maxWait, waited time.Duration) (slot, error) {
	start := time.Now()
	until := newPatience(ctx, start, maxWait, waited)
	t := lines.join(b.lineKey)
	defer func() {
		if !t.gaveUp { // else it leaves when the store has answered
			lines.leave(t)
		}
	}()
	for at := start; ; at = time.Now() {
		first := lines.asks(t)
		var s slot
		var wait time.Duration
		var err error
		if first {
			s, wait, err = b.ask(ctx, t, at)
		} else {
			wait, err = b.forecast(ctx, t)
		}
		switch {
		case err != nil:
			return slot{}, err
		case first && wait <= 0:
			s.waited = at.Sub(start)
			return s, nil
		case first:
			lines.waits(t)
		}
		if err := until.outlastedBy(wait); err != nil {
			return slot{}, err
		}
		if err := sleep(ctx, nap(first, wait), lines.listen(t)); err != nil {
			return slot{}, err
		}
	}
}

// ask takes a slot for the first in line, or tells how long until one frees.
func (b *budget) ask(ctx context.Context, t *turn, at time.Time) (s slot, wait time.Duration, err error) {
	answer, err := b.askStore(ctx, t)
	s.id, s.at = answer.slot, at
	switch {
	case err != nil:
		return slot{}, 0, err
	case answer.err != nil:
		return slot{}, 0, unlessEnded(ctx, storeError(answer.err))
	case answer.wait <= 0 && s.id == "":
		return slot{}, 0, storeError(errors.New("Take returned neither a slot nor a wait"))
	case answer.wait <= 0 && ctx.Err() != nil:
		b.settle(ctx, s, outcome{unwritten: true})
		return slot{}, 0, ctx.Err()
	}
	return s, answer.wait, nil
}

// taken is what the store's Take returned.
type taken struct {
	slot string
	wait time.Duration
	err  error
}

// askStore lets Take run to its end whatever becomes of ctx: the store may have given a slot to a call that is gone. When ctx
// ends first, askStore returns its error; t then stays the first in line until the store has answered and the slot was
// given back, for at most twice storeTimeout.
func (b *budget) askStore(ctx context.Context, t *turn) (taken, error) {
	take := func() (answer taken) {
		ctx, cancel := b.bound(context.WithoutCancel(ctx))
		defer cancel()
		answer.slot, answer.wait, answer.err = b.store.Take(ctx, b.key, reminderLimit, b.hold)
		return answer
	}
	if b.immediate() {
		return take(), nil
	}
	answers, gaveUp := make(chan taken), make(chan struct{})
	go func() {
		answer := take()
		select {
		case answers <- answer:
		case <-gaveUp:
			if answer.slot != "" {
				b.report(context.WithoutCancel(ctx), slot{id: answer.slot}, outcome{unwritten: true})
			}
			lines.leave(t)
		}
	}()
	answer, err := await(ctx, answers)
	if err != nil {
		lines.giveUp(t)
		close(gaveUp)
	}
	return answer, err
}

// await receives from a channel until endGrace after ctx has ended, whose error it then returns.
func await[T any](ctx context.Context, from <-chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	case <-ctx.Done():
	}
	grace := time.NewTimer(endGrace)
	defer grace.Stop()
	select {
	case v = <-from:
		return v, nil
	case <-grace.C:
		return v, ctx.Err()
	}
}

// forecast tells one behind the first how long until its slot: at least, while it is not known whether the first has one.
func (b *budget) forecast(ctx context.Context, t *turn) (time.Duration, error) {
	waits, err := b.peek(ctx)
	if err != nil {
		return 0, unlessEnded(ctx, storeError(err))
	}
	// Counted after peeking: whoever took a slot meanwhile is not counted twice, and one who came to wait meanwhile wakes t.
	ahead, known := lines.ahead(t)
	switch {
	case ahead == 0: // it is first by now, and asks
		return 0, nil
	case !known && lines.firstGaveUp(t): // whatever it gets it gives back
		return 0, nil
	case !known: // the first alone may have its slot already
		return slotIn(waits, ahead-1), nil
	case waits[0] <= 0: // given back by another process, of which the first does not know yet
		lines.wake(b.lineKey, false)
	}
	return slotIn(waits, ahead), nil
}

// nap is how long to sleep before asking again, if nothing happens. Those behind the first do not ask often: what makes
// their wait shorter wakes them.
func nap(first bool, wait time.Duration) time.Duration {
	if wait <= 0 {
		return recheck
	}
	wait = max(wait, time.Millisecond) // a store whose clock ticks coarsely is not asked without end
	if first {
		return min(wait, recheck)
	}
	return wait
}

// immediate tells the in-memory store, which always answers at once.
func (b *budget) immediate() bool {
	_, ok := b.store.(*MemoryLimitStore)
	return ok
}

// bound bounds what a store may take to answer.
func (b *budget) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if b.immediate() {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, storeTimeout)
}

func (b *budget) peek(ctx context.Context) ([]time.Duration, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	waits, err := b.store.Peek(ctx, b.key, reminderLimit)
	if err == nil && len(waits) != reminderLimit {
		err = fmt.Errorf("Peek returned %d durations, not %d", len(waits), reminderLimit)
	}
	return waits, err
}

// slotIn tells when the n-th slot from now can be taken, counted from 0, if each is held for a window.
func slotIn(waits []time.Duration, n int) time.Duration {
	return waits[n%len(waits)] + time.Duration(n/len(waits))*(reminderWindow+slotMargin)
}

// takes tells how long until n more slots have been taken, after those who wait now have got theirs; 0 when the store
// does not answer.
func (b *budget) takes(ctx context.Context, n int) time.Duration {
	if n == 0 {
		return 0
	}
	waits, err := b.peek(ctx)
	if err != nil {
		return 0
	}
	return slotIn(waits, lines.length(b.lineKey)+n-1)
}

// settle reports what is known of the slot's request to the store, also when ctx has ended: then the report goes on for at
// most twice storeTimeout after settle has returned. closed tells whether a 429 has closed the key.
func (b *budget) settle(ctx context.Context, s slot, o outcome) (closed bool) {
	if b.immediate() {
		return b.report(ctx, s, o)
	}
	done := make(chan bool, 1)
	go func() { done <- b.report(context.WithoutCancel(ctx), s, o) }()
	closed, _ = await(ctx, done)
	return closed
}

// report says how long the slot stays taken. Were the store not to hear of it, the slot would stay taken for its whole hold:
// that error is safe to drop.
func (b *budget) report(ctx context.Context, s slot, o outcome) (closed bool) {
	limited := o.status == http.StatusTooManyRequests
	if limited {
		closed = b.tell(ctx, func(ctx context.Context) error { return b.store.Close(ctx, b.key, closedFor(o.header)) }) == nil
	}
	keep := reminderWindow + slotMargin // from now: it arrived some time before its answer
	switch {
	case o.unwritten:
		keep = 0
	case o.mayBeDone() && !o.success(): // no answer, or one that a gateway may have given before the request arrived
		keep += stragglerTime
	}
	_ = b.tell(ctx, func(ctx context.Context) error { return b.store.Settle(ctx, b.key, s.id, keep) })
	lines.wake(b.lineKey, limited)
	return closed
}

func (b *budget) tell(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	return do(ctx)
}

func closedFor(h http.Header) time.Duration {
	d, ok := retryAfter(h)
	if !ok {
		d = reminderWindow
	}
	return min(d, maxClosed)
}

// errPastDeadline is the cause when the next slot comes after the context's deadline.
var errPastDeadline = fmt.Errorf("the next slot comes later: %w", context.DeadlineExceeded)

// patience is how long a call may wait: what is left of its own allowance, and of its context.
type patience struct {
	start    time.Time
	max      time.Duration
	deadline time.Time
	bounded  bool
}

func newPatience(ctx context.Context, start time.Time, maxWait, waited time.Duration) patience {
	p := patience{start: start, max: maxWait - waited}
	if maxWait < 0 {
		p.max = math.MaxInt64
	}
	p.deadline, p.bounded = ctx.Deadline()
	return p
}

func (p patience) outlastedBy(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	e := &Error{Operation: OpSendReminder, Local: true, RetryAfter: wait, kinds: []error{ErrRateLimited}}
	switch {
	case p.bounded && wait > time.Until(p.deadline):
		e.Message = "the reminder budget is used up until after the context's deadline: allow more time"
		e.cause = errPastDeadline
	case wait > p.max-time.Since(p.start):
		e.Message = "the reminder budget is used up: wait, use RemindAll, or set Options.ReminderMaxWait"
	default:
		return nil
	}
	return e
}

// errStoreAway is a cause when the store did not answer.
var errStoreAway = errors.New("the limit store did not answer")

func storeError(err error) *Error {
	return &Error{Operation: OpSendReminder, Local: true, kinds: []error{ErrUnavailable}, cause: errors.Join(errStoreAway, err),
		Message: fmt.Sprintf("the limit store did not answer, so nothing was sent: %v", cleanText(err.Error(), ""))}
}

// unlessEnded returns ctx's error if it has ended, which then explains err.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// sleep waits for d, a wake-up or the end of ctx, whose error it returns.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-timer.C:
	}
	return nil
}
