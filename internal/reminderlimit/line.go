package reminderlimit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Lines has the callers of a process that wait for a slot, in one line for each store and key.
// Separate budgets of the same store and key share a line. Only the caller that has
// waited longest in a line calls the store. A line is removed when its last caller has left.
type Lines struct {
	mu sync.Mutex
	m  map[lineKey]*line
}

type lineKey struct {
	store Store
	key   string
}

type line struct {
	callers []*caller
	freesAt time.Time // when the next slot frees, as the store reported to the first caller; zero if the store must be asked again
}

// caller is one waiting caller in a line.
type caller struct {
	start    time.Time
	latest   time.Time     // the caller's own limit; zero for none
	deadline time.Time     // deadline of the caller's context; zero for none
	wake     chan struct{} // has room for one wake-up
	err      error         // why the caller must leave
}

// NewLines returns Lines without callers.
func NewLines() *Lines { return &Lines{m: map[lineKey]*line{}} }

func newCaller(ctx context.Context, maxWait, waited time.Duration) *caller {
	c := &caller{start: time.Now(), wake: make(chan struct{}, 1)}
	if maxWait >= 0 {
		c.latest = c.start.Add(max(maxWait-waited, 0))
	}
	c.deadline, _ = ctx.Deadline()
	return c
}

// refuse returns a [*WaitError] if at is later than the caller may wait.
func (c *caller) refuse(at time.Time) error {
	wait := time.Until(at)
	switch {
	case wait <= 0:
	case !c.latest.IsZero() && at.After(c.latest) && (c.deadline.IsZero() || c.latest.Before(c.deadline)):
		return &WaitError{Wait: wait}
	case !c.deadline.IsZero() && at.After(c.deadline):
		return &WaitError{Wait: wait, PastDeadline: true}
	}
	return nil
}

// sleep waits until d has passed, the caller is woken, the store has changed, or ctx ends. It
// returns an error only if ctx ends.
func (c *caller) sleep(ctx context.Context, d time.Duration, changed <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.wake:
	case <-changed:
	case <-time.After(d):
	}
	return nil
}

func (c *caller) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

func (c *caller) fail(err error) {
	if c.err == nil && err != nil {
		c.err = err
		c.wakeUp()
	}
}

// join adds a caller to the end of a line. It fails if too many callers are before it.
func (l *Lines) join(key lineKey, c *caller) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.m[key]
	if own == nil {
		own = &line{}
		l.m[key] = own
	}
	own.callers = append(own.callers, c)
	own.rejectLate(len(own.callers) - 1)
	if c.err != nil {
		own.callers = own.callers[:len(own.callers)-1]
	}
	return c.err
}

// rejectLate fails every caller, from the given index on, whose slot would come too late. Each window
// frees Limit slots, and the first of them frees at freesAt.
func (own *line) rejectLate(from int) {
	at := own.freesAt
	if now := time.Now(); at.Before(now) {
		at = now
	}
	for i := max(from, 1); i < len(own.callers); i++ {
		c := own.callers[i]
		c.fail(c.refuse(at.Add(time.Duration(i/Limit) * Answered)))
	}
}

// leave removes a caller from its line. If the caller was the first, leave wakes the next one.
func (l *Lines) leave(key lineKey, c *caller) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.m[key]
	i := slices.Index(own.callers, c)
	own.callers = slices.Delete(own.callers, i, i+1)
	switch {
	case len(own.callers) == 0:
		delete(l.m, key)
	case i == 0:
		own.freesAt = time.Time{}
		own.callers[0].wakeUp()
	}
}

// isFirst reports whether a caller is the first of its line, or returns why it must leave.
func (l *Lines) isFirst(key lineKey, c *caller) (first bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.m[key].callers[0] == c, c.err
}

// setFreesAt stores when the next slot frees, as the store reported to the first caller of the line. The
// first caller has not left yet.
func (l *Lines) setFreesAt(key lineKey, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.m[key].freesAt = at
	l.m[key].rejectLate(1)
}

// failRest makes all callers after the first leave with err, because the store does not return.
func (l *Lines) failRest(key lineKey, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.m[key].callers[1:] {
		c.fail(err)
	}
}

// wakeFirst makes the first caller ask the store again.
func (l *Lines) wakeFirst(key lineKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.m[key]; own != nil {
		own.freesAt = time.Time{}
		own.callers[0].wakeUp()
	}
}
