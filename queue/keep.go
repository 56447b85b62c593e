package queue

import (
	"context"
	"database/sql"
	"strconv"
	"time"
)

// unseen is how long nobody may have looked at the clock for the time since then to count.
const unseen = 25 * time.Hour

// watchClock reads the database's clock, and finds out since when it is known not to have jumped. What is erased after a time was kept
// for that time by a clock that did not jump, so that nothing is erased because a clock was wrong.
func (q *Queue) watchClock(ctx context.Context) error {
	err := q.background.within(ctx, stepTimeout, "reading the clock", func(ctx context.Context) error { return q.db.clock(ctx, &q.clock) })
	if err != nil {
		return err
	}
	var trusted int64
	jumps := q.clock.jumped()
	err = q.noteWithin(ctx, "erasing: locking signforms_queue_clock", func(t *tx) error {
		var seen int64
		if _, err := t.first([]any{&seen, &trusted, new(string)}, "SELECT seen, trusted, "+t.bound+" FROM signforms_queue_clock"+t.lock); err != nil {
			return err
		}
		now := q.now()
		if seen == 0 || jumps != q.jumps || now-seen > unseen.Milliseconds() || seen-now > jump.Milliseconds() {
			trusted = now
		}
		_, err := t.exec("UPDATE signforms_queue_clock SET seen = $1, trusted = $2", now, trusted)
		return err
	})
	if err == nil {
		q.jumps, q.trusted = jumps, trusted
	}
	return err
}

// before returns the time before which something must have been settled to have been kept for d.
func (q *Queue) before(d time.Duration) int64 {
	if before := q.now() - d.Milliseconds(); before >= q.trusted {
		return before
	}
	return 0
}

// repairLines shortens the waits and leases that a clock has set which was ahead: each gets as long from now as it was given then.
func (q *Queue) repairLines(ctx context.Context) error {
	for full := true; full; {
		err := q.noteWithin(ctx, "shortening waits", func(t *tx) error {
			now := q.now()
			wrong, err := q.linesAhead(t, now)
			full = len(wrong) == batch
			for _, l := range wrong {
				if err == nil {
					_, err = t.exec("UPDATE signforms_lines SET due = $2, lease = $3, since = $4 WHERE id = $1", l.id, l.due, l.lease, now)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
		q.wakeUp()
	}
	return nil
}

// lineTimes are the times of a line.
type lineTimes struct{ id, due, lease, since int64 }

// linesAhead locks lines that were set by a clock ahead of now, and returns what their times should be.
func (q *Queue) linesAhead(t *tx, now int64) (wrong []lineTimes, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var l lineTimes
		err := rows.Scan(&l.id, &l.due, &l.lease, &l.since, new(string))
		ahead := l.since - now
		if l.due > now {
			l.due = max(now, l.due-ahead)
		}
		l.lease = max(0, l.lease-ahead)
		wrong = append(wrong, l)
		return err
	}, `SELECT id, due, lease, since, `+t.bound+` FROM signforms_lines WHERE `+t.latest+`(due, lease) > $1 AND since > $2
		LIMIT `+strconv.Itoa(batch)+t.skip, now, now+jump.Milliseconds())
	return wrong, err
}
