package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"time"
)

// Filter selects messages for [Box.List]. The zero value selects all.
type Filter struct {
	States []State // empty: all states
	// OlderThan selects messages that were added at least this long ago.
	OlderThan time.Duration
}

const listBatch = 100

// List yields messages in the order in which they were added. It reads 100 at a time and holds no
// connection while the loop's body runs, so a message that changes meanwhile is yielded in its
// state at the time of the read. List ends after an error.
func (b *Box) List(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		where, args := "id > $2 AND added_at <= $3", []any{int64(0), int64(math.MaxInt64)}
		if len(f.States) > 0 {
			where += " AND state IN (" + placeholders(4, len(f.States)) + ")"
			for _, s := range f.States {
				args = append(args, string(s))
			}
		}
		for more := true; more; {
			var found []row
			err := b.read(ctx, func(t *tx) {
				if f.OlderThan > 0 {
					args[1] = t.now - f.OlderThan.Milliseconds()
				}
				found = t.load(fmt.Sprintf("%s ORDER BY id LIMIT %d", where, listBatch), args...)
			})
			if err != nil {
				yield(Entry{}, fmt.Errorf("outbox: List: %w", err))
				return
			}
			for _, r := range found {
				if !yield(r.entry(), nil) {
					return
				}
				args[0] = r.id
			}
			more = len(found) == listBatch
		}
	}
}

// Stats is the state of a box. The age of a message is the time since it was added.
type Stats struct {
	Pending, InDoubt, Undecided                   int // InDoubt counts messages whose request was begun and whose outcome is not recorded
	OldestPending, OldestInDoubt, OldestUndecided time.Duration
}

// Stats counts the messages that are not settled, for metrics and alerts. An undecided message waits for a person.
func (b *Box) Stats(ctx context.Context) (s Stats, err error) {
	err = b.read(ctx, func(t *tx) {
		t.each(func(rows *sql.Rows) error {
			var state State
			var n int
			var oldest int64
			if err := rows.Scan(&state, &n, &oldest); err != nil {
				return err
			}
			age := max(0, millis(t.now-oldest))
			switch state {
			case Pending:
				s.Pending, s.OldestPending = n, age
			case Sending:
				s.InDoubt, s.OldestInDoubt = n, age
			case Undecided:
				s.Undecided, s.OldestUndecided = n, age
			}
			return nil
		}, `SELECT state, count(*), min(added_at) FROM signforms_outbox
			WHERE box = $1 AND state IN ('pending', 'sending', 'undecided') GROUP BY state`, t.box)
	})
	if err != nil {
		return Stats{}, fmt.Errorf("outbox: Stats: %w", err)
	}
	return s, nil
}
