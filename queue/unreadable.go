package queue

import (
	"context"
	"errors"
	"log/slog"
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
	if err := c.giveUp(t, now, unreadableWait); err != nil {
		if isDamage(unreadable) {
			return &unreadableError{c.line, unreadable}
		}
		return unreadable
	}
	q.logUnreadable(t.ctx, c.line, unreadable)
	return nil
}

const putOffFree = `UPDATE signforms_lines SET due = $2, since = $3 WHERE id = $1 AND due <= $3 AND lease <= $3`

// setAsideFree is setAside in a separate transaction, for a line that no worker holds.
func (q *Queue) setAsideFree(t *tx, u *unreadableError) error {
	now := q.now()
	if _, err := t.first([]any{new(string)}, "SELECT "+t.bound); err != nil {
		return err
	}
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
		return c.giveUp(t, at.now, max(wait, 0))
	})
}
