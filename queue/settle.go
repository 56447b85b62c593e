package queue

import (
	"context"
	"errors"
	"time"
)

// errStale says that the lease of a claim had ended and someone else holds the line, or nobody.
var errStale = errors.New("queue: the lease had ended")

// Each settlement first changes the line under its token. That is the fence: it locks the line, and when the token is not
// there any more, nothing is changed.
const (
	renew = `UPDATE signforms_lines SET lease = $3 WHERE line = $1 AND token = $2`
	yield = `UPDATE signforms_lines SET due = $3, lease = 0, token = '', head = 0, interrupted = 0 WHERE line = $1 AND token = $2`

	markDone   = `UPDATE signforms_events SET state = 1, settled = $2, error = '', body = NULL WHERE id = $1 AND state = 0`
	markKept   = `UPDATE signforms_events SET state = 1, settled = $2, error = '' WHERE id = $1 AND state = 0`
	markFailed = `UPDATE signforms_events SET state = 2, settled = $2, attempts = attempts + 1, error = $3 WHERE id = $1 AND state = 0`
	markTried  = `UPDATE signforms_events SET attempts = attempts + 1, error = $2 WHERE id = $1 AND state = 0`

	advance = `UPDATE signforms_lines SET interrupted = 0,
			head = coalesce((SELECT min(e.id) FROM signforms_events AS e WHERE e.line = signforms_lines.line AND e.state = 0), 0),
			due = coalesce((SELECT e.received FROM signforms_events AS e WHERE e.line = signforms_lines.line AND e.state = 0
				ORDER BY e.id LIMIT 1), 0)
		WHERE line = $1 RETURNING head`
	removeLine = `DELETE FROM signforms_lines WHERE line = $1 AND head = 0`
)

// fenced runs do when the claim still holds its line, whose lease it renews; else it returns errStale. It repeats while
// the store is down, until the lease ends.
func (q *Queue) fenced(c *claim, do func(t *tx, now int64) error) error {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := q.fencedOnce(c, do)
		switch {
		case err == nil || errors.Is(err, errStale) || errors.Is(err, ErrClosed):
			return err
		case time.Until(c.until) < pause:
			return err
		}
		time.Sleep(pause)
	}
}

func (q *Queue) fencedOnce(c *claim, do func(t *tx, now int64) error) error {
	ctx, cancel := context.WithDeadline(context.Background(), c.until)
	defer cancel()
	var stale bool
	var until time.Time
	err := q.db.write(ctx, func(t *tx) error {
		until = time.Now().Add(q.lease())
		now := q.now()
		n, err := t.exec(renew, c.line, c.token, now+q.lease().Milliseconds())
		if stale = n == 0; stale || err != nil {
			return err
		}
		return do(t, now)
	})
	if err == nil && stale {
		return errStale
	}
	if err == nil {
		c.until = until
	}
	return err
}

// proceed moves the claim to the line's next event. A line without one is removed, and the claim with it.
func (c *claim) proceed(t *tx) error {
	c.interrupted = false
	if _, err := t.first([]any{&c.head}, advance, c.line); err != nil || c.head != 0 {
		return err
	}
	_, err := t.exec(removeLine, c.line)
	return err
}

// settleDone records that the claim's event was processed.
func (q *Queue) settleDone(c *claim) error {
	head := c.head
	mark := markDone
	if q.KeepBodies > 0 {
		mark = markKept
	}
	return q.fenced(c, func(t *tx, now int64) error {
		if _, err := t.exec(mark, head, now); err != nil {
			return err
		}
		return c.proceed(t)
	})
}

// settleFailed records that the claim's event failed for good.
func (q *Queue) settleFailed(c *claim, text string) error {
	head := c.head
	return q.fenced(c, func(t *tx, now int64) error {
		if _, err := t.exec(markFailed, head, now, text); err != nil {
			return err
		}
		return c.proceed(t)
	})
}

// settleTried records a failed try and gives the line up until the next one.
func (q *Queue) settleTried(c *claim, text string, wait time.Duration) error {
	return q.fenced(c, func(t *tx, now int64) error {
		if _, err := t.exec(markTried, c.head, text); err != nil {
			return err
		}
		_, err := t.exec(yield, c.line, c.token, now+wait.Milliseconds())
		return err
	})
}

// settleInterrupted counts a try that left no outcome, and keeps the line.
func (q *Queue) settleInterrupted(c *claim, text string) error {
	return q.fenced(c, func(t *tx, now int64) error {
		_, err := t.exec(markTried, c.head, text)
		c.interrupted = false
		return err
	})
}

// skip moves on from an event that is not pending any more.
func (q *Queue) skip(c *claim) error {
	return q.fenced(c, func(t *tx, now int64) error { return c.proceed(t) })
}

// release gives the line up, due at once.
func (q *Queue) release(c *claim) error {
	return q.fenced(c, func(t *tx, now int64) error {
		_, err := t.exec(yield, c.line, c.token, now)
		return err
	})
}
