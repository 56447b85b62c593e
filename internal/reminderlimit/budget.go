// Package reminderlimit gives out the slots of the reminder limit, first come first served. It knows durations, keys
// and a store, and nothing of HTTP: its caller says how long a slot stays taken after its request.
package reminderlimit

import (
	"context"
	"errors"
	"math"
	"time"
)

// The service's limit: at most so many requests of a key in any window.
const (
	Limit  = 5
	Window = 15 * time.Minute
)

const (
	// margin allows for a service that counts both ends of the window, rounds to seconds, or has a slightly faster clock.
	margin = time.Second
	// stragglerTime is how long a request may still take to arrive after its attempt was given up.
	stragglerTime = time.Minute
)

// How long a slot stays taken after its request has ended. One whose request was never written is given back, with 0.
// Of Limit slots one must be free before a reminder goes out.
const (
	// Answered is counted from the answer, because the request arrived at an unknown time before it.
	Answered = Window + margin
	// Unanswered is counted from the end of the attempt, whose request may still arrive. It is also for an answer that a
	// gateway may have given before the request arrived: 5xx, 408, 499 and 3xx, and a 2xx that cannot be read.
	Unanswered = Answered + stragglerTime
)

// ClosedFor returns how long a 429 closes the budget: for the response's Retry-After, and for Window if it has none.
func ClosedFor(retryAfter time.Duration, told bool) time.Duration {
	if !told {
		return Window
	}
	return retryAfter
}

// Budget keeps the limit for one key. It is safe for concurrent use.
type Budget struct {
	lines *Lines
	id    lineKey
	hold  time.Duration
}

// New returns the budget of a key. attempt is how long a request may take: the slot of a process that dies stays taken
// at least as long.
func New(lines *Lines, store Store, key string, attempt time.Duration) *Budget {
	return &Budget{lines, lineKey{store, key}, attempt + Unanswered}
}

// Slot is a slot that was taken.
type Slot struct {
	id string
	// At is just before the slot was taken. The hold ends no earlier than an attempt plus Unanswered after At.
	At time.Time
	// Waited is how long it took to get it.
	Waited time.Duration
}

// recheck is how often the first of a line asks the store again: other processes give slots back without a word.
const recheck = 10 * time.Second

const forever = time.Duration(math.MaxInt64)

// Take waits for a slot, first come first served, for at most maxWait less what the caller has waited before; a
// negative maxWait means as long as ctx allows. It fails at once where the slot would come too late: for the first in
// line when the store says so, and for those behind it another Answered later for each Limit callers before them. Its
// error is a [*WaitError], a [*StoreError] or ctx's.
func (b *Budget) Take(ctx context.Context, maxWait, waited time.Duration) (Slot, error) {
	c := newCaller(ctx, maxWait, waited)
	if err := b.lines.join(b.id, c); err != nil {
		return Slot{}, err
	}
	defer b.lines.leave(b.id, c)
	for {
		changed := b.changed()
		slot, next, err := b.step(ctx, c)
		if err == nil && slot.id == "" {
			err = c.sleep(ctx, next, changed)
		}
		if err != nil || slot.id != "" {
			return slot, err
		}
	}
}

// step returns a slot, or how long the caller sleeps unless something wakes it.
func (b *Budget) step(ctx context.Context, c *caller) (Slot, time.Duration, error) {
	first, err := b.lines.look(b.id, c)
	switch {
	case err != nil:
		return Slot{}, 0, err
	case first:
		return b.take(ctx, c)
	case c.latest.IsZero():
		return Slot{}, forever, nil
	}
	left := time.Until(c.latest) + storeTimeout + 2*endGrace // the store must answer those before it
	if left <= 0 {
		return Slot{}, 0, &StoreError{errSlow}
	}
	return Slot{}, left, nil
}

// take asks the store for the first of a line. A slot that comes too late for its caller is given back.
func (b *Budget) take(ctx context.Context, c *caller) (Slot, time.Duration, error) {
	type taken struct {
		id   string
		wait time.Duration
	}
	s := Slot{At: time.Now()}
	got, err := ask(ctx, context.WithoutCancel(ctx), func(ctx context.Context) (t taken, err error) {
		t.id, t.wait, err = b.id.store.Take(ctx, b.id.key, Limit, b.hold)
		return t, err
	}, func(late taken) { b.giveBack(ctx, late.id) })
	switch {
	case errors.Is(err, errNotReturned):
		b.lines.failRest(b.id, &StoreError{err})
		fallthrough
	case err != nil:
		return Slot{}, 0, &StoreError{err}
	case got.wait > 0:
		at := s.At.Add(got.wait)
		b.lines.told(b.id, at)
		return Slot{}, min(max(got.wait, time.Millisecond), recheck), c.refuse(at)
	case got.id == "":
		return Slot{}, 0, &StoreError{errNothing}
	case ctx.Err() != nil:
		b.giveBack(ctx, got.id)
		return Slot{}, 0, ctx.Err()
	}
	s.id, s.Waited = got.id, s.At.Sub(c.start)
	return s, 0, nil
}

// giveBack gives a slot back that nobody wants.
func (b *Budget) giveBack(ctx context.Context, id string) {
	if id != "" {
		b.Settle(ctx, Slot{id: id}, 0)
	}
}

// Settle says how long the slot stays taken from now. When ctx ends it returns within endGrace, and the store gets it
// in the background. If the store misses this, the hold expires by itself, so the error is dropped.
func (b *Budget) Settle(ctx context.Context, s Slot, keep time.Duration) {
	_ = b.tell(ctx, func(ctx context.Context) error {
		return b.id.store.Settle(ctx, b.id.key, s.id, keep)
	})
}

// Block keeps the key from giving slots for d from now. It never shortens an earlier block.
func (b *Budget) Block(ctx context.Context, d time.Duration) error {
	return b.tell(ctx, func(ctx context.Context) error {
		return b.id.store.Block(ctx, b.id.key, d)
	})
}
