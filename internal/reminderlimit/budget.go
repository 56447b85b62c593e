// Package reminderlimit gives out the slots of the reminder limit, first come first served. It uses
// durations, keys and a store, but no HTTP. Its caller decides how long a slot stays taken after
// its request.
package reminderlimit

import (
	"context"
	"errors"
	"math"
	"time"
)

// The service's limit: at most Limit requests of a key in any Window.
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

// How long a slot stays taken after its request has ended. The slot of a request that was never
// written is given back at once, with 0. A reminder is sent only when one of the Limit slots is
// free.
const (
	// Answered is counted from the response, because the request arrived at an unknown time before
	// the response.
	Answered = Window + margin
	// Unanswered is counted from the end of the attempt, because the request may still arrive. It
	// also applies to a response that a gateway may have sent before the request arrived: 5xx, 408,
	// 499 and 3xx, and a 2xx that cannot be read.
	Unanswered = Answered + stragglerTime
)

// ClosedFor returns how long a 429 closes the budget: for its Retry-After, or for Window if it has
// none.
func ClosedFor(retryAfter time.Duration, reported bool) time.Duration {
	if !reported {
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

// New returns the budget of a key. attempt is how long a request may take. If a process dies, its
// slot stays taken at least that long.
func New(lines *Lines, store Store, key string, attempt time.Duration) *Budget {
	return &Budget{lines, lineKey{store, key}, attempt + Unanswered}
}

// Slot is a slot that was taken.
type Slot struct {
	id string
	// At is the time just before the slot was taken. The hold ends no earlier than an attempt plus
	// Unanswered after At.
	At time.Time
	// Waited is how long the caller waited for the slot.
	Waited time.Duration
}

// recheck is how often the first caller of a line asks the store again, because other processes
// give slots back without a notification.
const recheck = 10 * time.Second

const forever = time.Duration(math.MaxInt64)

// Take waits for a slot, first come first served. It waits at most maxWait minus waited, the time
// that the caller has waited before. A negative maxWait means as long as ctx allows.
//
// Take fails at once if the slot would come too late. For the first caller in a line, the store
// reports when the next slot is free. For the others, Take adds Answered for each Limit callers
// before them.
//
// The error of Take is a [*WaitError], a [*StoreError] or ctx's error.
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

// step returns a slot, or how long the caller sleeps if nothing wakes it.
func (b *Budget) step(ctx context.Context, c *caller) (Slot, time.Duration, error) {
	first, err := b.lines.isFirst(b.id, c)
	switch {
	case err != nil:
		return Slot{}, 0, err
	case first:
		return b.take(ctx, c)
	case c.latest.IsZero():
		return Slot{}, forever, nil
	}
	left := time.Until(c.latest) + storeTimeout + 2*endGrace // first the store must respond to the callers before c
	if left <= 0 {
		return Slot{}, 0, &StoreError{errSlow}
	}
	return Slot{}, left, nil
}

// take asks the store for a slot, for the first caller of a line. If the slot comes too late for
// the caller, take gives it back.
func (b *Budget) take(ctx context.Context, c *caller) (Slot, time.Duration, error) {
	type taken struct {
		id   string
		wait time.Duration
	}
	s := Slot{At: time.Now()}
	got, err := callStore(ctx, context.WithoutCancel(ctx), func(ctx context.Context) (t taken, err error) {
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
		b.lines.setFreesAt(b.id, at)
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

// giveBack gives back a slot that no caller needs.
func (b *Budget) giveBack(ctx context.Context, id string) {
	if id != "" {
		b.Settle(ctx, Slot{id: id}, 0)
	}
}

// Settle sets how long the slot stays taken from now. When ctx ends, Settle returns within
// endGrace, and the call of the store continues in the background. The error of the store is
// dropped: if the store does not get the call, the hold expires by itself.
func (b *Budget) Settle(ctx context.Context, s Slot, keep time.Duration) {
	_ = b.update(ctx, func(ctx context.Context) error {
		return b.id.store.Settle(ctx, b.id.key, s.id, keep)
	})
}

// Block prevents the key from giving slots for d from now. It never shortens an earlier block.
func (b *Budget) Block(ctx context.Context, d time.Duration) error {
	return b.update(ctx, func(ctx context.Context) error {
		return b.id.store.Block(ctx, b.id.key, d)
	})
}
