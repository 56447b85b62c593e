package queue

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"
)

// sweepUntilStop sweeps at the start and once a minute. With Options.Exclusive, it sweeps a minute
// after events were settled, and when the keeping time of the next event ends.
func (r *runner) sweepUntilStop() {
	ctx, cancel := context.WithCancel(r.values)
	defer cancel()
	go func() {
		select {
		case <-r.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		if err := r.sweep(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, errNoAnswer) {
			r.Logger.LogAttrs(ctx, slog.LevelWarn, "queue: erasing events that are no longer kept", slog.String("error", err.Error()))
		}
		pause.Reset(r.untilSweep(ctx))
		select {
		case <-pause.C:
			continue
		case <-r.touched:
			pause.Reset(sweepEvery)
		case <-ctx.Done():
			return
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
}

// untilSweep returns how long to wait for the next sweep. It waits at most a day, which is short
// enough for the clock to be trusted. An error of the store is ignored, because the sweep gets it
// too.
func (r *runner) untilSweep(ctx context.Context) time.Duration {
	if !r.Exclusive {
		return max(sweepEvery, r.poll)
	}
	next := r.now() + (24 * time.Hour).Milliseconds()
	for _, kept := range []struct {
		events string
		keep   time.Duration
	}{
		{"state = 1 AND body IS NOT NULL", r.KeepBodies},
		{"state > 0 AND state = 1", r.KeepKeys}, {"state > 0 AND state = 2", r.KeepFailed}, {"state > 0 AND state = 3", r.KeepKeys},
	} {
		var settled int64
		found, err := r.query(ctx).first([]any{&settled}, "SELECT settled FROM signforms_events WHERE "+kept.events+" ORDER BY state, settled LIMIT 1")
		if found && err == nil {
			next = min(next, max(settled, r.trusted)+kept.keep.Milliseconds()+1)
		}
	}
	return max(sweepEvery, time.Duration(next-r.now())*time.Millisecond)
}

// sweep erases bodies after KeepBodies, failed events after KeepFailed and rows after KeepKeys. It
// also truncates SQLite's log, whose older pages contain the data that was erased since the last
// sweep. A step that fails does not prevent the other steps.
func (q *Queue) sweep(ctx context.Context) error {
	return errors.Join(q.watchClock(ctx), q.repairKeys(ctx), q.dropBodies(ctx), q.dropFailed(ctx), q.dropRows(ctx), q.db.clean(ctx))
}

// sweepEach calls change for the chosen rows in batches. It skips rows that other transactions have
// locked. After the commit of each batch it calls committed, which may be nil. change may run
// several times for a batch.
func (q *Queue) sweepEach(ctx context.Context, chosen string, before int64, change func(t *tx, ids []int64) error, committed func()) error {
	for {
		var ids []int64
		erase := func(t *tx) error {
			ids = ids[:0]
			err := t.each(func(rows *sql.Rows) error {
				var id int64
				err := rows.Scan(&id)
				ids = append(ids, id)
				return err
			}, chosen, before)
			if err != nil || len(ids) == 0 {
				return err
			}
			return change(t, ids)
		}
		err := q.background.within(ctx, batchTimeout, "erasing events that are no longer kept", func(ctx context.Context) error {
			return q.db.write(ctx, erase)
		})
		if err != nil {
			return err
		}
		if committed != nil && len(ids) > 0 {
			committed()
		}
		if len(ids) < batch {
			return nil
		}
	}
}

func (q *Queue) dropBodies(ctx context.Context) error {
	return q.sweepEach(ctx, q.db.text().expiredBodies, q.before(q.KeepBodies), func(t *tx, ids []int64) error {
		_, err := t.exec(`UPDATE signforms_events SET body = NULL WHERE `+t.in("id", "$1"), t.list(ids))
		return err
	}, nil)
}

func (q *Queue) dropRows(ctx context.Context) error {
	return q.sweepEach(ctx, q.db.text().expiredKeys, q.before(q.KeepKeys), func(t *tx, ids []int64) error {
		_, err := t.exec(`DELETE FROM signforms_events WHERE `+t.in("id", "$1"), t.list(ids))
		return err
	}, nil)
}

// dropFailed erases failed events. It logs each one after the commit, because the event was never processed.
func (q *Queue) dropFailed(ctx context.Context) error {
	var dropped []Entry
	erase := func(t *tx, ids []int64) error {
		dropped = dropped[:0]
		err := t.each(func(rows *sql.Rows) error {
			var e Entry
			err := rows.Scan(&e.ID, (*string)(&e.Type), &e.Subject)
			dropped = append(dropped, e)
			return err
		}, `SELECT id, type, subject FROM signforms_events WHERE `+t.in("id", "$1"), t.list(ids))
		if err == nil {
			_, err = t.exec(eraseEvents+t.in("id", "$1"), t.list(ids), q.now())
		}
		return err
	}
	return q.sweepEach(ctx, q.db.text().expiredFailed, q.before(q.KeepFailed), erase, func() {
		for _, e := range dropped {
			q.Logger.LogAttrs(ctx, slog.LevelError, "queue: failed event erased after Options.KeepFailed, it was never processed",
				slog.Int64("id", e.ID), slog.String("event", string(e.Type)), slog.String("subject", e.Subject))
		}
	})
}

// unseen is the longest time between two readings of the clock for which the clock is trusted.
const unseen = 25 * time.Hour

// watchClock reads the database's clock, and determines since when the clock is known not to have
// jumped. Data is erased after a period only if no clock jumped during that period. So nothing is
// erased because a clock was wrong.
func (q *Queue) watchClock(ctx context.Context) error {
	err := q.background.within(ctx, stepTimeout, "reading the clock", func(ctx context.Context) error { return q.db.clock(ctx, &q.clock) })
	if err != nil {
		return err
	}
	var trusted int64
	jumps := q.clock.jumped()
	err = q.noteWithin(ctx, "erasing: locking signforms_queue_clock", func(t *tx) error {
		var seen int64
		if _, err := t.first([]any{&seen, &trusted, new(string)}, t.dialect.clock); err != nil {
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

// before returns the time before which an event must have been settled if it has been kept for d.
func (q *Queue) before(d time.Duration) int64 {
	if before := q.now() - d.Milliseconds(); d == 0 || before >= q.trusted {
		return before
	}
	return 0
}

// repairKeys shortens the waits and leases that were set by a clock that was ahead. Each wait or
// lease keeps its length, counted from now.
func (q *Queue) repairKeys(ctx context.Context) error {
	for full := true; full; {
		err := q.noteWithin(ctx, "shortening waits", func(t *tx) error {
			now := q.now()
			wrong, err := q.keysAhead(t, now)
			full = len(wrong) == batch
			for _, l := range wrong {
				if err == nil {
					_, err = t.exec("UPDATE signforms_ordering_keys SET due = $2, lease = $3, since = $4 WHERE id = $1", l.id, l.due, l.lease, now)
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

// keyTimes are the times of an ordering key.
type keyTimes struct{ id, due, lease, since int64 }

// keysAhead locks ordering keys whose times were set by a clock ahead of now, and returns their
// corrected times.
func (q *Queue) keysAhead(t *tx, now int64) (wrong []keyTimes, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var l keyTimes
		err := rows.Scan(&l.id, &l.due, &l.lease, &l.since, new(string))
		ahead := l.since - now
		if l.due > now {
			l.due = max(now, l.due-ahead)
		}
		l.lease = max(0, l.lease-ahead)
		wrong = append(wrong, l)
		return err
	}, t.ahead, now, now+jump.Milliseconds())
	return wrong, err
}
