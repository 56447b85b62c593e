package reminderlimit

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Waiters holds the callers of a process that want a slot, first come first served, for each store and key: budgets made
// separately share a list. A list is gone when its last caller leaves.
type Waiters struct {
	mu      sync.Mutex
	m       map[budgetKey]*waitList
	overdue map[Store]int // methods that have not returned in their time
}

type budgetKey struct {
	store Store
	key   string
}

// NewWaiters returns Waiters without a caller.
func NewWaiters() *Waiters { return &Waiters{m: map[budgetKey]*waitList{}, overdue: map[Store]int{}} }

// waitList is the callers in their order. Only the first takes a slot from the store.
type waitList struct {
	waiters []*waiter
	// firstWaits is true from when the store tells the first caller to wait until that caller asks again. While it is false, the
	// first caller may have got a slot and not left the list yet.
	firstWaits bool
}

// waiter is a caller's place in its list.
type waiter struct {
	key  budgetKey
	list *waitList
	// informed is true when the caller knows how long it will wait. It looks again when something wakes it.
	informed bool
	// wake holds one wake-up: the waiter is first now, a slot was settled, the key was closed or the wait can be known. It is
	// allocated on the first sleep.
	wake       chan struct{}
	wokenEarly bool // before wake was allocated
	// gaveUp is true when the caller has returned while the store was about to answer it.
	gaveUp bool
	// overdue is true when the store has not answered in its time. Then a caller that gave up leaves without its answer.
	overdue bool
	// failed is true when the store has not answered a caller before this one in its time.
	failed bool
}

// join puts a caller at the end of a list.
func (l *Waiters) join(key budgetKey) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.m[key]
	if own == nil {
		own = &waitList{}
		l.m[key] = own
	}
	w := &waiter{key: key, list: own}
	own.waiters = append(own.waiters, w)
	return w
}

// leave wakes the next waiter if w was the first. It does nothing when w has left.
func (l *Waiters) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(w)
}

// remove is called under the lock.
func (l *Waiters) remove(w *waiter) {
	i := slices.Index(w.list.waiters, w)
	if i < 0 {
		return
	}
	w.list.waiters = slices.Delete(w.list.waiters, i, i+1)
	if len(w.list.waiters) == 0 {
		delete(l.m, w.key)
	} else if i == 0 {
		w.list.waiters[0].wakeUp()
	}
}

// beginAsking reports whether w is the first, and if so records that it asks the store now; else w is no longer informed.
func (l *Waiters) beginAsking(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.list.waiters[0] != w {
		w.informed = false
		return false
	}
	w.list.firstWaits = false
	return true
}

// firstMustWait records that the store told w, the first, to wait. It wakes those whose own wait can be known now.
func (l *Waiters) firstMustWait(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.list.firstWaits = true
	for _, other := range w.list.waiters[1:] {
		if !other.informed {
			other.wakeUp()
		}
	}
}

// ahead returns how many waiters are before w. known is true when none before it has a slot; else w is woken once that is known.
func (l *Waiters) ahead(w *waiter) (n int, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.informed = w.list.firstWaits
	return slices.Index(w.list.waiters, w), w.informed
}

// giveUp marks w, the first, which leaves when the store has answered or is overdue.
func (l *Waiters) giveUp(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.gaveUp = true; w.overdue {
		l.remove(w)
	}
}

// overdueFor records that the store has not answered w, the first, in its time. That fails those behind w too: else each would
// wait for the store in turn.
func (l *Waiters) overdueFor(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(w.list.waiters, w); i >= 0 && !w.overdue {
		for _, behind := range w.list.waiters[i+1:] {
			behind.failed = true
			behind.wakeUp()
		}
	}
	if w.overdue = true; w.gaveUp {
		l.remove(w)
	}
}

// hasFailed reports whether the store has not answered a caller before w in its time.
func (l *Waiters) hasFailed(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return w.failed
}

// overdueOf returns how many methods of a store are overdue.
func (l *Waiters) overdueOf(s Store) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.overdue[s]
}

func (l *Waiters) addOverdue(s Store, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.overdue[s] += n; l.overdue[s] == 0 {
		delete(l.overdue, s)
	}
}

// firstGaveUp reports whether the first of w's list will leave without a slot.
func (l *Waiters) firstGaveUp(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return w.list.waiters[0].gaveUp
}

// length returns how many wait.
func (l *Waiters) length(key budgetKey) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.m[key]; own != nil {
		return len(own.waiters)
	}
	return 0
}

// wakeUps returns the channel that wakes w. A wake-up since w joined is already in it.
func (l *Waiters) wakeUps(w *waiter) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.wake == nil {
		w.wake = make(chan struct{}, 1)
		if w.wokenEarly {
			w.wakeUp()
		}
	}
	return w.wake
}

// wakeFirst makes the first waiter ask the store again.
func (l *Waiters) wakeFirst(key budgetKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.m[key]; own != nil {
		own.waiters[0].wakeUp()
	}
}

// wakeAll makes every waiter look again.
func (l *Waiters) wakeAll(key budgetKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.m[key]; own != nil {
		for _, w := range own.waiters {
			w.wakeUp()
		}
	}
}

// wakeUp is called under the lock.
func (w *waiter) wakeUp() {
	w.informed = false
	if w.wake == nil {
		w.wokenEarly = true
		return
	}
	select {
	case w.wake <- struct{}{}:
	default: // one is waiting to be seen already
	}
}

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

// patience is how much longer a caller waits for those before it while the wait is not known: beyond its own limit.
func (l waitLimit) patience() time.Duration {
	if l.max > math.MaxInt64-patience {
		return math.MaxInt64
	}
	return max(l.max, 0) + patience - time.Since(l.start)
}

// recheck is how often the first waiter asks the store again: other processes give slots back without a word to this one.
const recheck = 10 * time.Second

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
