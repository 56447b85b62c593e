package queue

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// unreadableWait is how long a line waits whose first event cannot be read, so that one damaged row stops no other line.
const unreadableWait = time.Minute

// unreadableError says that the first event of a line could not be read, and that the transaction is spoilt by that, as all
// are in Postgres after an error of its own.
type unreadableError struct {
	line int64
	err  error
}

func (e *unreadableError) Error() string { return "an event cannot be read: " + e.err.Error() }
func (e *unreadableError) Unwrap() error { return e.err }

func isUnreadable(err error) bool {
	_, ok := errors.AsType[*unreadableError](err)
	return ok
}

// setAside gives up a line of this process, or one that it has locked, whose first event could not be read. Where that has
// spoilt the transaction it returns an unreadableError.
func (q *Queue) setAside(t *tx, c *claim, now int64, unreadable error) error {
	if err := c.giveUp(t, now+unreadableWait.Milliseconds()); err != nil {
		if isDamage(unreadable) {
			return &unreadableError{c.line, unreadable}
		}
		return unreadable
	}
	q.logUnreadable(t.ctx, c.line, unreadable)
	return nil
}

const putOffFree = `UPDATE signforms_lines SET due = $2 WHERE id = $1 AND due <= $3 AND lease <= $3`

// setAsideFree is setAside in a transaction of its own, for a line that nobody holds.
func (q *Queue) setAsideFree(t *tx, u *unreadableError) error {
	now := q.now()
	changed, err := t.exec(putOffFree, u.line, now+unreadableWait.Milliseconds(), now)
	if changed > 0 && err == nil {
		q.logUnreadable(t.ctx, u.line, u.err)
	}
	return err
}

func (q *Queue) logUnreadable(ctx context.Context, line int64, err error) {
	q.Logger.LogAttrs(ctx, slog.LevelError, "queue: an event cannot be read, its line waits for a minute: is the database damaged?",
		slog.Int64("line_id", line), slog.String("error", err.Error()))
}

// settleUnread is settle without reading what comes next, of which u could not be read. It gives the line up.
func (r *runner) settleUnread(c *claim, mark func(*tx, instant) (time.Duration, error), u *unreadableError) error {
	return r.fenced(c, func(t *tx, at instant) error {
		wait, err := mark(t, at)
		if err != nil {
			return err
		}
		if u.line == c.line {
			return r.setAside(t, c, at.now, u.err)
		}
		return c.giveUp(t, at.now+max(wait, 0).Milliseconds())
	})
}
