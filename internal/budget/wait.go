package budget

import (
	"context"
	"math"
	"time"
)

// A WaitError says that a slot comes later than the caller may wait for it.
type WaitError struct {
	Wait time.Duration // until the slot, from now
	// PastDeadline is true when it is ctx that ends before, and false when it is the caller's own limit.
	PastDeadline bool
}

// Error names the wait.
func (e *WaitError) Error() string { return "the next slot comes in " + e.Wait.String() }

// A StoreError says that the store did not answer, so that no slot was taken that is known.
type StoreError struct{ Err error }

// Error is what the store said.
func (e *StoreError) Error() string { return "the store did not answer: " + e.Err.Error() }

// Unwrap returns what the store said.
func (e *StoreError) Unwrap() error { return e.Err }

// waitLimit is how long a caller may wait: what is left of its own limit, and of its context.
type waitLimit struct {
	start       time.Time
	max         time.Duration
	deadline    time.Time
	hasDeadline bool
}

func newWaitLimit(ctx context.Context, start time.Time, maxWait, waited time.Duration) waitLimit {
	l := waitLimit{start: start, max: maxWait - waited}
	if maxWait < 0 {
		l.max = math.MaxInt64
	}
	l.deadline, l.hasDeadline = ctx.Deadline()
	return l
}

// check returns a *WaitError when wait is longer than what is left.
func (l waitLimit) check(wait time.Duration) error {
	switch {
	case wait <= 0:
		return nil
	case l.hasDeadline && wait > time.Until(l.deadline):
		return &WaitError{Wait: wait, PastDeadline: true}
	case wait > l.max-time.Since(l.start):
		return &WaitError{Wait: wait}
	}
	return nil
}

// untilNextLook is how long to sleep if nothing wakes the caller. Those behind the first seldom look again by themselves: what
// makes their wait shorter wakes them.
func untilNextLook(first bool, wait time.Duration) time.Duration {
	if wait <= 0 {
		return recheck
	}
	wait = max(wait, time.Millisecond) // a store whose clock ticks coarsely is not asked without end
	if first {
		return min(wait, recheck)
	}
	return wait
}

// sleep waits for d, a wake-up, a change of the store or the end of ctx, whose error it returns.
func sleep(ctx context.Context, d time.Duration, wake, changed <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wake:
	case <-changed:
	case <-timer.C:
	}
	return nil
}

// await receives from a channel until endGrace after ctx has ended, whose error it then returns.
func await[T any](ctx context.Context, from <-chan T) (v T, ended error) {
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

// unlessEnded returns ctx's error if it has ended, which then explains err.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
