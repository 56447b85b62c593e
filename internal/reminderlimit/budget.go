// Package reminderlimit gives out the slots of the reminder limit, first come first served. It knows durations, keys and a store, and
// nothing of HTTP: its caller says how long a slot stays taken after its request.
package reminderlimit

import (
	"context"
	"math"
	"time"
)

// The service's limit: at most so many requests of a key in any window.
const (
	Limit  = 5
	Window = 15 * time.Minute
)

const (
	// margin allows for a service that counts both ends of the window, rounds times to seconds, or has a slightly faster clock.
	margin = time.Second
	// stragglerTime is how long a request may still take to arrive after its attempt was given up.
	stragglerTime = time.Minute
)

// How long a slot stays taken after its request has ended. One whose request was never written is given back, with 0.
const (
	// Answered is counted from the answer, because the request arrived at an unknown time before it.
	Answered = Window + margin
	// Unanswered is counted from the end of the attempt, whose request may still arrive.
	Unanswered = Answered + stragglerTime
)

// Settings say whose budget to keep, and where.
type Settings struct {
	Lines *Lines
	Store Store
	// Immediate is true for a Store that answers every question at once.
	Immediate bool
	Key       string
	// Attempt is how long a request may take. The slot of a process that dies stays taken at least as long.
	Attempt time.Duration
}

// Budget keeps the limit for one key. It is safe for concurrent use.
type Budget struct {
	asker
	lines *Lines
	id    lineKey
	hold  time.Duration
}

// New returns a budget.
func New(s Settings) *Budget {
	return &Budget{asker{s.Store, s.Key, s.Immediate}, s.Lines, lineKey{s.Store, s.Key}, s.Attempt + Unanswered}
}

// Slot is a slot that was taken.
type Slot struct {
	id string
	// At is just before the slot was taken. The hold ends no earlier than Settings.Attempt plus Unanswered after At.
	At time.Time
	// Waited is how long it took to get it.
	Waited time.Duration
}

// recheck is how often the first of a line asks the store again: other processes give slots back without a word to this one.
const recheck = 10 * time.Second

const forever = time.Duration(math.MaxInt64)

// Take waits for a slot, first come first served, for at most maxWait less what the caller has waited before; a negative maxWait
// means as long as ctx allows. It fails at once where waiting would be useless. Its error is a [*WaitError], a [*StoreError] or
// ctx's.
func (b *Budget) Take(ctx context.Context, maxWait, waited time.Duration) (Slot, error) {
	c := newCaller(ctx, maxWait, waited)
	own, err := b.lines.join(b.id, c)
	if err != nil {
		return Slot{}, err
	}
	defer func() {
		if left := b.lines.leave(b.id, own, c); left != nil {
			b.giveBack(ctx, left)
		}
	}()
	for {
		changed := b.changed()
		slot, next, err := b.step(ctx, own, c)
		if err != nil || slot.id != "" {
			return slot, err
		}
		if err := b.sleep(ctx, own, c, next, changed); err != nil {
			return Slot{}, err
		}
	}
}

// step returns a slot, or how long the caller sleeps unless something wakes it.
func (b *Budget) step(ctx context.Context, own *line, c *caller) (Slot, time.Duration, error) {
	first, ask, answer, err := b.lines.look(own, c)
	switch {
	case err != nil:
		return Slot{}, 0, unlessEnded(ctx, err)
	case !first && c.latest.IsZero():
		return Slot{}, forever, nil
	case !first: // while nobody knows for how long: the store must answer those before it
		left := time.Until(c.latest) + storeTimeout + 2*endGrace
		if left <= 0 {
			return Slot{}, 0, &StoreError{errSlow}
		}
		return Slot{}, left, nil
	case ask && b.immediate:
		b.askFor(ctx, own)
		return Slot{}, 0, nil
	case ask:
		go b.askFor(context.WithoutCancel(ctx), own)
		return Slot{}, forever, nil
	case answer == nil:
		return Slot{}, forever, nil
	}
	return b.use(ctx, c, answer)
}

// use returns the slot of the store's answer, or how long until it is asked again.
func (b *Budget) use(ctx context.Context, c *caller, a *taken) (Slot, time.Duration, error) {
	switch err := c.refuse(a.slot.At.Add(a.wait)); {
	case a.err != nil:
		return Slot{}, 0, unlessEnded(ctx, a.err)
	case err != nil:
		return Slot{}, 0, unlessEnded(ctx, err)
	case a.slot.id == "": // a store whose clock ticks coarsely is not asked without end
		return Slot{}, min(max(a.wait, time.Millisecond), recheck), nil
	case a.hold < b.hold || ctx.Err() != nil: // it was taken for somebody whose attempt is shorter
		b.giveBack(ctx, a)
		return Slot{}, 0, ctx.Err()
	}
	a.slot.Waited = max(a.slot.At.Sub(c.start), 0)
	return a.slot, 0, nil
}

// askFor asks the store for the first of a line, whoever that will be when it has answered.
func (b *Budget) askFor(ctx context.Context, own *line) {
	a := taken{slot: Slot{At: time.Now()}, hold: b.hold}
	got, err := ask(b.asker, ctx, ctx, func(ctx context.Context) (t taken, err error) {
		t.slot.id, t.wait, err = b.store.Take(ctx, b.key, Limit, b.hold)
		return t, err
	}, func(late taken) { b.giveBack(ctx, &late) })
	switch a.slot.id, a.wait = got.slot.id, got.wait; {
	case err != nil:
		a.err = &StoreError{err}
	case a.wait > 0:
		a.slot.id = ""
	case a.slot.id == "":
		a.err = &StoreError{errNothing}
	}
	if left := b.lines.deliver(b.id, own, &a, !b.immediate); left != nil {
		b.giveBack(ctx, left)
	}
}

// giveBack gives back the slot of an answer that nobody wants, if it has one.
func (b *Budget) giveBack(ctx context.Context, a *taken) {
	if a.slot.id != "" {
		b.Settle(ctx, a.slot, 0)
	}
}

// sleep waits for d, a wake-up, a change of the store or the end of ctx, whose error it returns. A caller for whom the store is
// being asked waits a little longer, to give the slot back.
func (b *Budget) sleep(ctx context.Context, own *line, c *caller, d time.Duration, changed <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		if b.lines.waitsForStore(own, c) {
			timer.Reset(endGrace)
			select {
			case <-c.wake:
			case <-timer.C:
			}
		}
		return ctx.Err()
	case <-c.wake:
	case <-changed:
	case <-timer.C:
	}
	return nil
}

// Settle says how long the slot stays taken from now. When ctx ends it returns within endGrace, and the store gets it in the
// background. If the store misses this, the hold expires by itself, so the error is dropped.
func (b *Budget) Settle(ctx context.Context, s Slot, keep time.Duration) {
	_ = b.tell(ctx, func(ctx context.Context) error {
		err := b.store.Settle(ctx, b.key, s.id, keep)
		b.lines.wakeFirst(b.id)
		return err
	})
}

// Block keeps the key from giving slots for d from now. It never shortens an earlier block.
func (b *Budget) Block(ctx context.Context, d time.Duration) error {
	return b.tell(ctx, func(ctx context.Context) error {
		err := b.store.Block(ctx, b.key, d)
		b.lines.wakeFirst(b.id)
		return err
	})
}

// Until returns how long until n more slots can be taken after everyone who waits now has one; 0 when the store fails.
func (b *Budget) Until(ctx context.Context, n int) time.Duration {
	if n == 0 {
		return 0
	}
	frees, err := b.Peek(ctx)
	if err != nil {
		return 0
	}
	return slotIn(frees, b.lines.length(b.id)+n-1)
}

// slotIn tells when the n-th slot from now can be taken, counted from 0, if each is held for a window.
func slotIn(frees []time.Duration, n int) time.Duration {
	return frees[n%len(frees)] + time.Duration(n/len(frees))*Answered
}

// unlessEnded returns ctx's error if it has ended, which then explains err.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
