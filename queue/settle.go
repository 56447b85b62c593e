package queue

import (
	"context"
	"errors"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// errStale means that the lease of a claim had ended, and that another worker, or no worker, holds
// the ordering key.
var errStale = errors.New("queue: the lease had ended")

// Each settlement first selects and locks the ordering key with its token. This is the fence: if
// the token has changed, the settlement changes nothing.
const (
	renew = `UPDATE signforms_ordering_keys SET lease = $2, since = $3 WHERE id = $1`
	stay  = `UPDATE signforms_ordering_keys SET head = $2, low = $2 WHERE id = $1`
	yield = `UPDATE signforms_ordering_keys SET due = $2, lease = 0, token = 0, head = 0, since = $3 WHERE id = $1`

	markDone        = `UPDATE signforms_events SET state = 1, settled = $2, error = '', body = NULL WHERE id = $1 AND state = 0`
	markKept        = `UPDATE signforms_events SET state = 1, settled = $2, error = '' WHERE id = $1 AND state = 0`
	markFailed      = `UPDATE signforms_events SET state = 2, settled = $2, attempts = attempts + 1, error = $3 WHERE id = $1 AND state = 0`
	markTried       = `UPDATE signforms_events SET attempts = attempts + 1, error = $2 WHERE id = $1 AND state = 0`
	markInterrupted = `UPDATE signforms_events SET attempts = attempts + $3, error = $2 WHERE id = $1 AND state = 0`
	markFresh       = `UPDATE signforms_events SET attempts = 0 WHERE id = $1 AND state = 0 AND attempts < 0`
	markBegun       = `UPDATE signforms_ordering_keys SET head = -abs(head) WHERE id = $1`
)

// fenced runs do if the claim still holds its ordering key, and returns errStale otherwise. While
// the store is unreachable, fenced repeats do until the lease ends, so do may run several times.
// After the end of Run and Grace, fenced tries only once more.
func (r *runner) fenced(c *claim, do func(*tx, instant) error) error {
	var unanswered int64 // when the last try ran whose commit got no response; 0 if there is none
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		last := r.values.Err() != nil
		at, err := r.fencedOnce(c, do)
		if errors.Is(err, errStale) && unanswered != 0 && r.settledAt(c, unanswered) {
			return nil // that commit succeeded, and gave up the ordering key
		}
		if err != nil && at != 0 {
			unanswered = at
		}
		switch {
		case err == nil || errors.Is(err, errStale) || errors.Is(err, ErrClosed) || isUnreadable(err):
			return err
		case last || time.Until(c.until) < pause:
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-r.values.Done():
			wait.Stop()
		}
	}
}

// settledAt reports whether the claim's event was settled at the time at. If it was, the commit
// succeeded.
func (r *runner) settledAt(c *claim, at int64) bool {
	var settled int64
	var found bool
	err := r.background.within(context.Background(), stepTimeout, "looking for an outcome", func(ctx context.Context) (err error) {
		found, err = r.query(ctx).first([]any{&settled}, "SELECT CASE WHEN state IN (1, 2) THEN settled ELSE 0 END FROM signforms_events WHERE id = $1", c.entry.ID)
		return err
	})
	return found && err == nil && settled == at
}

// fencedOnce runs do once. If do did not fail, fencedOnce also returns the time that it passed to
// do.
func (r *runner) fencedOnce(c *claim, do func(*tx, instant) error) (at int64, err error) {
	ctx, cancel := context.WithDeadline(context.Background(), c.until)
	defer cancel()
	var stale bool
	err = r.noteWithin(ctx, "storing an outcome", func(t *tx) error {
		at = 0
		var shown int64
		sent := r.clock.boot()
		held, err := t.first([]any{&c.low, &shown, new(string)}, t.fence, c.keyID, c.token)
		if stale = !held; stale || err != nil {
			return err
		}
		r.shown(shown, sent)
		now := r.instant()
		if err := do(t, now); err != nil {
			return err
		}
		at = now.now
		return nil
	})
	if err == nil && stale {
		return 0, errStale
	}
	return at, err
}

// turn is what a worker does after a settlement.
type turn struct {
	next bool // continue with the next event of the ordering key; otherwise give the ordering key up
	more bool // after giving the ordering key up, claim another ordering key that is due
}

// settle stores the outcome of the claim's event and returns the claim that the worker processes
// next, or nil. It uses one transaction, so that a worker commits once per event.
//
// mark changes the event. If the event is to be tried again, mark returns how long the ordering key
// has to wait, and settle gives the ordering key up. Otherwise mark returns a negative time.
func (r *runner) settle(c *claim, then turn, mark func(*tx, instant) (wait time.Duration, err error)) (next *claim, err error) {
	var taken []*claim
	err = r.fenced(c, func(t *tx, at instant) error {
		r.vacate(taken...)
		taken, next = nil, nil
		wait, err := mark(t, at)
		if err != nil {
			return err
		}
		if wait >= 0 {
			err = r.putOff(t, c, at, wait)
		} else {
			next, err = r.advance(t, c, at, then.next)
		}
		if err != nil || next != nil || !then.more {
			return err
		}
		if taken, err = r.claimWithin(t, 1); err == nil && len(taken) == 1 {
			next = taken[0]
		}
		return err
	})
	if err == nil {
		return next, nil
	}
	r.vacate(taken...)
	if u, ok := errors.AsType[*unreadableError](err); ok {
		err = r.settleUnread(c, mark, u)
	}
	return nil, err
}

// advance moves on to the next event of the ordering key. If there is none, advance removes the
// ordering key. If goOn is false, advance gives the ordering key up.
func (r *runner) advance(t *tx, c *claim, at instant, goOn bool) (*claim, error) {
	next := &claim{keyID: c.keyID, low: c.low, token: c.token, until: at.until, row: c.row + 1}
	found, err := next.load(t)
	switch {
	case err != nil:
		return nil, r.setAside(t, c, at.now, err)
	case !found && c.abandoned == nil:
		if removed, err := c.remove(t); removed || err != nil {
			return nil, err
		}
		return nil, c.giveUp(t, at.now, 0)
	case !found || !goOn:
		return nil, c.giveUp(t, at.now, 0)
	}
	// A lease that has just begun is not renewed. So in Postgres, not every event of an ordering
	// key changes an index.
	if at.until.Sub(c.until) > r.margin/8 {
		_, err = t.exec(renew, c.keyID, at.lease, at.now)
	} else {
		next.until = c.until
	}
	if err == nil {
		_, err = t.exec(stay, c.keyID, next.entry.ID)
	}
	return next, err
}

// putOff gives the ordering key up. The ordering key is due after wait, or at once if another event
// is now before the claim's event.
func (r *runner) putOff(t *tx, c *claim, at instant, wait time.Duration) error {
	first := &claim{keyID: c.keyID, low: c.low}
	found, err := first.load(t)
	if err != nil {
		return r.setAside(t, c, at.now, err)
	}
	if found && first.entry.ID != c.entry.ID {
		wait = 0
	}
	return c.giveUp(t, at.now, wait)
}

// giveUp gives the ordering key up and makes it due after wait. If the claim's function was
// abandoned, no worker may start the ordering key before the lease ends. In that case the row of
// the ordering key keeps its lease, even if the ordering key has no event left.
func (c *claim) giveUp(t *tx, now int64, wait time.Duration) error {
	statement := yield
	if c.abandoned != nil {
		statement = t.extend
	}
	_, err := t.exec(statement, c.keyID, now+wait.Milliseconds(), now)
	return err
}

// notCompleting returns an error if an earlier try of the claim's event holds its row.
func (c *claim) notCompleting(t *tx) error {
	if !c.interrupted {
		return nil
	}
	_, err := t.first([]any{new(int), new(int)}, t.tries, c.entry.ID)
	return err
}

const settledForGood = time.Duration(-1)

// settleDone records that the claim's event was processed.
func (r *runner) settleDone(c *claim, then turn) (*claim, error) {
	mark := markDone
	if r.KeepBodies > 0 {
		mark = markKept
	}
	return r.settle(c, then, func(t *tx, at instant) (time.Duration, error) {
		if err := c.notCompleting(t); err != nil {
			return 0, err
		}
		_, err := t.exec(mark, c.entry.ID, at.now)
		return settledForGood, err
	})
}

// settleFailed records a try that failed with err, and fills s. Unless it was the last try,
// settleFailed gives the ordering key up until the next try. It uses the state and the tries from
// the store, because the event may have been completed, erased or retried meanwhile.
func (r *runner) settleFailed(c *claim, then turn, err error, s *Settled) (*claim, error) {
	text := errorText(err)
	return r.settle(c, then, func(t *tx, at instant) (time.Duration, error) {
		var state, tries int
		found, stored := t.first([]any{&state, &tries}, t.tries, c.entry.ID)
		if stored != nil {
			return 0, stored
		}
		if c.completion != nil && c.completion.called.Load() && states[state] == Done {
			s.Outcome, s.Err, s.Retry = Processed, nil, time.Time{}
			return settledForGood, nil
		}
		tries++
		pending := found && states[state] == Pending
		if !pending && errors.Is(err, ErrLost) { // another worker has settled the event
			s.Outcome, s.Retry = Stale, time.Time{}
			return settledForGood, nil
		}
		if !pending || tries > 0 && (webhook.IsPermanent(err) || tries >= r.maxTries) {
			s.Outcome, s.Retry = FailedPermanently, time.Time{}
			_, stored = t.exec(markFailed, c.entry.ID, at.now, text)
			return settledForGood, stored
		}
		wait := time.Duration(0)
		if tries > 0 { // otherwise Retry was called, and the event is due now
			wait = r.wait(err, tries)
		}
		s.Outcome, s.Retry = Retrying, time.Now().Add(wait)
		if c.abandoned != nil && s.Retry.Before(c.until) {
			s.Retry = c.until
		}
		_, stored = t.exec(markTried, c.entry.ID, text)
		return wait, stored
	})
}

// release gives the ordering key up and makes it due at once.
func (r *runner) release(c *claim) error {
	_, err := r.settle(c, turn{}, func(t *tx, _ instant) (time.Duration, error) {
		_, err := t.exec(markFresh, c.entry.ID)
		return 0, err
	})
	return err
}

// hold renews the claim's lease and runs do in the same transaction.
func (r *runner) hold(c *claim, do func(*tx) error) error {
	var until time.Time
	err := r.fenced(c, func(t *tx, at instant) error {
		until = at.until
		if _, err := t.exec(renew, c.keyID, at.lease, at.now); err != nil {
			return err
		}
		return do(t)
	})
	if err == nil {
		c.until = until
	}
	return err
}

// settleInterrupted records a try without an outcome. The try counts only if counts is true.
// settleInterrupted keeps the ordering key for the next try and records the start of that try.
func (r *runner) settleInterrupted(c *claim, counts bool) error {
	tries := 0
	if counts {
		tries = 1
	}
	err := r.hold(c, func(t *tx) error {
		if err := c.notCompleting(t); err != nil {
			return err
		}
		if _, err := t.exec(markBegun, c.keyID); err != nil {
			return err
		}
		_, err := t.exec(markInterrupted, c.entry.ID, errInterrupted.Error(), tries)
		return err
	})
	if err == nil {
		c.entry.Attempts += tries
		c.entry.Error = errInterrupted.Error()
	}
	return err
}
