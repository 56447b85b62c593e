// Package reminderlimit gives out the slots of the reminder limit, first come first served. It knows durations, keys and a store, and
// nothing of HTTP: its caller says how long a slot stays taken after its request.
package reminderlimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// A Store holds the slots. It is what signforms.LimitStore says.
type Store interface {
	Take(ctx context.Context, key string, limit int, hold time.Duration) (slot string, wait time.Duration, err error)
	Settle(ctx context.Context, key, slot string, keep time.Duration) error
	Block(ctx context.Context, key string, d time.Duration) error
	Peek(ctx context.Context, key string, limit int) ([]time.Duration, error)
}

// Settings say whose budget to keep, and where.
type Settings struct {
	Waiters *Waiters
	Store   Store
	// Immediate is true for a Store that answers every question at once.
	Immediate bool
	Key       string
	// Attempt is how long a request may take. The slot of a process that dies stays taken at least as long.
	Attempt time.Duration
}

// Budget keeps the limit for one key. It is safe for concurrent use.
type Budget struct {
	asker
	id   budgetKey
	hold time.Duration
}

// New returns a budget.
func New(s Settings) *Budget {
	return &Budget{
		asker: asker{s.Store, s.Key, s.Immediate, s.Waiters},
		id:    budgetKey{s.Store, s.Key},
		hold:  s.Attempt + Unanswered,
	}
}

// Slot is a slot that was taken.
type Slot struct {
	id string
	// At is just before the slot was taken. The hold ends no earlier than Settings.Attempt plus Unanswered after At.
	At time.Time
	// Waited is how long it took to get it.
	Waited time.Duration
}

// Take waits for a slot, first come first served, for at most maxWait less what the caller has waited before; a negative maxWait means as long
// as ctx allows. It fails at once where waiting would be useless. Its error is a [*WaitError], a [*StoreError] or ctx's.
func (b *Budget) Take(ctx context.Context, maxWait, waited time.Duration) (Slot, error) {
	start := time.Now()
	limit := newWaitLimit(ctx, start, maxWait, waited)
	w := b.waiters.join(b.id)
	defer func() {
		if !w.gaveUp { // else it leaves when the store has answered
			b.waiters.leave(w)
		}
	}()
	for at := start; ; at = time.Now() {
		changed := b.changed()
		if b.waiters.hasFailed(w) {
			return Slot{}, unlessEnded(ctx, &StoreError{errNotReturned})
		}
		first := b.waiters.beginAsking(w)
		var slot Slot
		var wait time.Duration
		var err error
		if first {
			slot, wait, err = b.ask(ctx, w, at)
		} else {
			wait, err = b.forecast(ctx, w)
		}
		switch {
		case err != nil:
			return Slot{}, err
		case first && wait <= 0:
			slot.Waited = at.Sub(start)
			return slot, nil
		case first:
			b.waiters.firstMustWait(w)
		}
		if err := limit.check(wait); err != nil {
			return Slot{}, err
		}
		next := untilNextLook(first, wait)
		if !first && wait <= 0 {
			left := limit.patience()
			if left <= 0 {
				return Slot{}, &StoreError{errSlow}
			}
			next = min(next, left)
		}
		if err := sleep(ctx, next, b.waiters.wakeUps(w), changed); err != nil {
			return Slot{}, err
		}
	}
}

// ask takes a slot for the first waiter, or tells how long until one frees.
func (b *Budget) ask(ctx context.Context, w *waiter, at time.Time) (Slot, time.Duration, error) {
	answer, err := b.askStore(ctx, w)
	switch {
	case err != nil:
		return Slot{}, 0, err
	case answer.err != nil:
		return Slot{}, 0, unlessEnded(ctx, &StoreError{answer.err})
	case answer.wait <= 0 && answer.slot == "":
		return Slot{}, 0, &StoreError{errors.New("Take returned neither a slot nor a wait")}
	}
	slot := Slot{id: answer.slot, At: at}
	if answer.wait <= 0 && ctx.Err() != nil {
		b.Settle(ctx, slot, 0)
		return Slot{}, 0, ctx.Err()
	}
	return slot, answer.wait, nil
}

// askStore lets Take run to its end whatever becomes of ctx, because the store may give a slot to a caller that is gone. When
// ctx ends first, askStore returns its error. The waiter then stays the first until the store has answered and has
// the slot back, or is overdue.
func (b *Budget) askStore(ctx context.Context, w *waiter) (taken, error) {
	answer, err := ask(b.asker, ctx, context.WithoutCancel(ctx), func(ctx context.Context) (t taken) {
		t.slot, t.wait, t.err = b.store.Take(ctx, b.key, Limit, b.hold)
		return t
	}, func(late taken) {
		defer b.waiters.leave(w)
		if late.slot != "" {
			b.Settle(context.WithoutCancel(ctx), Slot{id: late.slot}, 0)
		}
	}, func() { b.waiters.overdueFor(w) })
	if errors.Is(err, errNotReturned) {
		b.waiters.overdueFor(w) // before w leaves and the next asks
	}
	if err != nil && errors.Is(err, ctx.Err()) {
		b.waiters.giveUp(w)
	}
	return answer, err
}

// forecast estimates the wait of a caller that is not first. The estimate is a lower bound while the first caller may
// already have its slot.
func (b *Budget) forecast(ctx context.Context, w *waiter) (time.Duration, error) {
	frees, err := b.Peek(ctx)
	if err != nil {
		return 0, unlessEnded(ctx, err)
	}
	// The order matters. A caller that took a slot since Peek waits no more and is not counted twice. If the first has had to
	// wait since then, firstMustWait wakes w.
	ahead, known := b.waiters.ahead(w)
	switch {
	case ahead == 0: // it is first by now, and asks
		return 0, nil
	case !known && b.waiters.firstGaveUp(w): // the first gives back what it gets
		return 0, nil
	case !known: // the first alone may have its slot already
		return slotIn(frees, ahead-1), nil
	case frees[0] <= 0: // given back by another process, of which the first does not know yet
		b.waiters.wakeFirst(b.id)
	}
	return slotIn(frees, ahead), nil
}

// Settle says how long the slot stays taken from now. When ctx ends it returns within endGrace, and the store gets it in the
// background. If the store misses this, the hold expires by itself, so the error is dropped.
func (b *Budget) Settle(ctx context.Context, s Slot, keep time.Duration) {
	_ = b.tell(ctx, func(ctx context.Context) error {
		err := b.store.Settle(ctx, b.key, s.id, keep)
		b.waiters.wakeFirst(b.id)
		return err
	})
}

// Block keeps the key from giving slots for d from now. It never shortens an earlier block.
func (b *Budget) Block(ctx context.Context, d time.Duration) error {
	return b.tell(ctx, func(ctx context.Context) error {
		err := b.store.Block(ctx, b.key, d)
		b.waiters.wakeAll(b.id)
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
	return slotIn(frees, b.waiters.length(b.id)+n-1)
}

// slotIn tells when the n-th slot from now can be taken, counted from 0, if each is held for a window.
func slotIn(frees []time.Duration, n int) time.Duration {
	return frees[n%len(frees)] + time.Duration(n/len(frees))*Answered
}

const (
	// storeTimeout bounds each question to a store, even one that outlives its caller.
	storeTimeout = 3 * time.Second
	// endGrace is how long a caller waits for its store once its context has ended. Usually that is enough to give the slot back
	// before the call returns and, perhaps, the process exits.
	endGrace = 100 * time.Millisecond
	// patience is how long a caller waits for the questions of others. It is longer than one of them can take.
	patience = storeTimeout + 2*endGrace
)

// errSlow says that callers who asked the store before, one after the other, took too long.
var errSlow = errors.New("it took longer than " + storeTimeout.String() + " for the calls before this one")

// maxOverdue is how many methods of a store may be overdue before it is asked no more, until one of them returns.
const maxOverdue = 64

// asker asks a store about one key, each time for at most storeTimeout.
type asker struct {
	store     Store
	key       string
	immediate bool
	waiters   *Waiters
}

// taken is what the store's Take returned.
type taken struct {
	slot string
	wait time.Duration
	err  error
}

// ask asks the store with the context own, and gives up when ctx ends. late gets an answer that came after that. overdue is called
// when the store has not answered in its time.
func ask[T any](a asker, ctx, own context.Context, fn func(context.Context) T, late func(T), overdue func()) (answer T, err error) {
	if a.immediate {
		return fn(ctx), nil
	}
	if a.waiters.overdueOf(a.store) >= maxOverdue {
		return answer, &StoreError{fmt.Errorf("%d of its methods have not returned", maxOverdue)}
	}
	answer, err = finish(ctx, own, fn, late, func(is bool) {
		if is {
			a.waiters.addOverdue(a.store, 1)
			overdue()
		} else {
			a.waiters.addOverdue(a.store, -1)
		}
	})
	if err == errNotReturned {
		err = &StoreError{err}
	}
	return answer, err
}

// Peek tells when each of Limit slots can be taken, soonest first. Its error is a [*StoreError], or ctx's if the store outlasts it.
func (a asker) Peek(ctx context.Context) ([]time.Duration, error) {
	type peeked struct {
		frees []time.Duration
		err   error
	}
	p, err := ask(a, ctx, ctx, func(ctx context.Context) (p peeked) {
		p.frees, p.err = a.store.Peek(ctx, a.key, Limit)
		return p
	}, func(peeked) {}, func() {})
	switch {
	case err != nil:
		return nil, err
	case p.err != nil:
		return nil, &StoreError{p.err}
	case len(p.frees) != Limit:
		return nil, &StoreError{fmt.Errorf("Peek returned %d durations, not %d", len(p.frees), Limit)}
	}
	frees := slices.Clone(p.frees) // it is the store's
	for i := range frees {
		frees[i] = max(frees[i], 0)
	}
	return frees, nil
}

// changed returns a channel that is closed when the store's clock is moved, and nil for a store without the method Changed.
func (a asker) changed() <-chan struct{} {
	if s, ok := a.store.(interface{ Changed() <-chan struct{} }); ok {
		return s.Changed()
	}
	return nil
}

// tell runs fn to its end, and waits for it until endGrace after ctx has ended.
func (a asker) tell(ctx context.Context, fn func(context.Context) error) error {
	failed, err := ask(a, ctx, context.WithoutCancel(ctx), fn, func(error) {}, func() {})
	return cmp.Or(err, failed)
}

// unlessEnded returns ctx's error if it has ended, which then explains err.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
