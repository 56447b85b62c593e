package queue

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	sqlite3 "modernc.org/sqlite/lib"
)

// unreadableWait is how long a line waits if its first event cannot be read, so that a damaged row does not stop other lines.
const unreadableWait = time.Minute

// isDamage reports whether an error is about the data that was read, such as a damaged page or a disk error, instead of the connection
// or other transactions.
func isDamage(err error) bool {
	if code := sqliteCode(err); code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_IOERR {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(e.Code, "XX") || strings.HasPrefix(e.Code, "58") || strings.HasPrefix(e.Code, "22"))
}

// unreadableError means that the first event of a line could not be read, and that the transaction cannot continue because of it. In
// Postgres no transaction can continue after an error.
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

// setAside gives up a line whose first event could not be read. This process must hold or have locked the line. If the transaction
// cannot continue, setAside returns an unreadableError.
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

// setAsideFree is setAside in a separate transaction, for a line that no worker holds.
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

// settleUnread is settle without reading further events, after u could not be read. It gives the line up.
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

// newestReadable returns when the newest readable event was received, or 0 when no event is readable. It goes down from the newest event,
// and calls damaged for each event that it skips. For a damaged page with many events it calls damaged only with the lowest id.
func newestReadable(t *tx, damaged func(id int64, err error)) (received int64, err error) {
	below := int64(math.MaxInt64)
	for {
		id, found, err := newestID(t, below)
		if isDamage(err) && readableBelow(t, &below) {
			damaged(below, err)
			continue
		}
		if err != nil || !found {
			return 0, err
		}
		found, err = t.first([]any{&received}, "SELECT received FROM signforms_events WHERE id = $1", id)
		if found && err == nil {
			return received, nil
		}
		if err != nil {
			damaged(id, err)
		}
		below = id
	}
}

func newestID(t *tx, below int64) (id int64, found bool, err error) {
	found, err = t.first([]any{&id}, "SELECT id FROM signforms_events WHERE id < $1 ORDER BY id DESC LIMIT 1", below)
	return id, found, err
}

// readableBelow lowers below to the largest value with which newestID works. It returns false if there is no such value.
func readableBelow(t *tx, below *int64) bool {
	low, high := int64(0), *below
	for high-low > 1 {
		middle := low + (high-low)/2
		if _, _, err := newestID(t, middle); err != nil {
			high = middle
		} else {
			low = middle
		}
	}
	*below = low
	return low > 0
}

// logDamaged logs damaged events when the queue is opened. Later [Queue.logUnreadable] logs those that hold up a line.
func (q *Queue) logDamaged(id int64, err error) {
	q.Logger.LogAttrs(context.Background(), slog.LevelError, "queue: an event cannot be read: is the database damaged?",
		slog.Int64("id", id), slog.String("error", err.Error()))
}
