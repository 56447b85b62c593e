package reminderlimit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Lines holds the callers of a process that want a slot, one line for each store and key: budgets made separately share it. Only
// the first of a line asks the store. A line is gone when its last caller has left and the store has answered.
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
	asking  bool      // the store is being asked
	again   bool      // something has changed since
	answer  *taken    // for the first, which has not seen it yet
	freesAt time.Time // when the next slot frees, as the store told the first; zero when it is to be asked again
}

// taken is what the store's Take returned.
type taken struct {
	slot Slot
	hold time.Duration
	wait time.Duration
	err  error
}

// caller is one in a line.
type caller struct {
	start       time.Time
	latest      time.Time // its own limit; zero for none
	deadline    time.Time // of its context
	hasDeadline bool
	wake        chan struct{} // holds one wake-up
	err         error         // why it must leave
}

// NewLines returns Lines without a caller.
func NewLines() *Lines { return &Lines{m: map[lineKey]*line{}} }

func newCaller(ctx context.Context, maxWait, waited time.Duration) *caller {
	c := &caller{start: time.Now(), wake: make(chan struct{}, 1)}
	if maxWait >= 0 {
		c.latest = c.start.Add(max(maxWait-waited, 0))
	}
	c.deadline, c.hasDeadline = ctx.Deadline()
	return c
}

// refuse returns a [*WaitError] when a time is later than the caller may wait.
func (c *caller) refuse(at time.Time) error {
	wait := time.Until(at)
	switch {
	case wait <= 0:
	case c.hasDeadline && at.After(c.deadline):
		return &WaitError{Wait: wait, PastDeadline: true}
	case !c.latest.IsZero() && at.After(c.latest):
		return &WaitError{Wait: wait}
	}
	return nil
}

func (c *caller) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default: // one is waiting to be seen already
	}
}

// join puts a caller at the end of a line. It fails when too many are before it.
func (l *Lines) join(key lineKey, c *caller) (*line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.m[key]
	if own == nil {
		own = &line{}
		l.m[key] = own
	}
	own.callers = append(own.callers, c)
	own.judge(len(own.callers) - 1)
	if c.err != nil {
		own.callers = own.callers[:len(own.callers)-1]
	}
	return own, c.err
}

// judge makes those from a place on leave who would wait too long: five slots free in each window, and not before the store said.
func (own *line) judge(from int) {
	at := own.freesAt
	if now := time.Now(); at.Before(now) {
		at = now
	}
	for i := max(from, 1); i < len(own.callers); i++ {
		if c := own.callers[i]; c.err == nil {
			if c.err = c.refuse(at.Add(time.Duration(i/Limit) * Answered)); c.err != nil {
				c.wakeUp()
			}
		}
	}
}

// leave takes a caller out of its line and wakes the next if it was the first. It returns the answer that nobody is left for.
func (l *Lines) leave(key lineKey, own *line, c *caller) (left *taken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(own.callers, c)
	own.callers = slices.Delete(own.callers, i, i+1)
	switch {
	case len(own.callers) > 0 && i == 0:
		own.freesAt = time.Time{}
		own.callers[0].wakeUp()
	case len(own.callers) == 0 && !own.asking:
		left = own.answer
		delete(l.m, key)
	}
	return left
}

// look reports whether a caller is the first, and returns what the store answered to that. ask is true if it must ask the store.
func (l *Lines) look(own *line, c *caller) (first, ask bool, answer *taken, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.err != nil || own.callers[0] != c {
		return false, false, nil, c.err
	}
	answer, own.answer = own.answer, nil
	if ask = answer == nil && !own.asking; ask {
		own.asking, own.again = true, false
	}
	return true, ask, answer, nil
}

// deliver takes the store's answer, and wakes the first for it if that sleeps. All fail when the store did not return. It returns an
// answer that nobody is left for.
func (l *Lines) deliver(key lineKey, own *line, a *taken, wake bool) (left *taken) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own.asking = false
	if len(own.callers) == 0 {
		delete(l.m, key)
		return a
	}
	if own.freesAt = (time.Time{}); a.wait > 0 && a.err == nil {
		if own.again {
			a.wait = time.Millisecond
		}
		own.freesAt = a.slot.At.Add(a.wait)
	}
	own.answer = a
	for _, c := range own.callers[1:] {
		if c.err == nil && errors.Is(a.err, errNotReturned) {
			c.err = a.err
			c.wakeUp()
		}
	}
	own.judge(1)
	if wake {
		own.callers[0].wakeUp()
	}
	return nil
}

// wakeFirst makes the first ask the store again.
func (l *Lines) wakeFirst(key lineKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.m[key]; own != nil && len(own.callers) > 0 {
		own.freesAt, own.again = time.Time{}, true
		own.callers[0].wakeUp()
	}
}

// waitsForStore reports whether a caller waits for the store's answer.
func (l *Lines) waitsForStore(own *line, c *caller) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return own.asking && own.callers[0] == c
}

// length returns how many wait.
func (l *Lines) length(key lineKey) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.m[key]; own != nil {
		return len(own.callers)
	}
	return 0
}
