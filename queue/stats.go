package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Stats is the state of a queue. The fields up to FailedLastMinute are read from the store and are about all processes. The fields from
// Stored on count what this process did since it opened the queue.
type Stats struct {
	Pending  int           // events that are not settled
	Failed   int           // events that failed and wait for a decision
	Lines    int           // lines with pending events
	DueLines int           // lines that are due and that no worker holds
	Running  int           // lines that a worker holds
	Lag      time.Duration // how long the line that is due longest has been due; the most important figure

	ReceivedLastMinute  int // new events
	ProcessedLastMinute int
	FailedLastMinute    int // events that were given up

	Stored     int64 // new events
	Duplicates int64 // events that were received before
	Refused    int64 // deliveries answered 503
	Processed  int64
	Retried    int64 // failed tries that are repeated
	GivenUp    int64 // events that failed
	Abandoned  int64 // functions that were abandoned and have not returned yet
}

// Stats reads the state of the queue. It counts rows: with a million pending events it takes tenths of a second.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	s := Stats{
		Stored: q.count.stored.Load(), Duplicates: q.count.duplicates.Load(), Refused: q.count.refused.Load(),
		Processed: q.count.processed.Load(), Retried: q.count.retried.Load(), GivenUp: q.count.failed.Load(),
		Abandoned: q.count.abandoned.Load(),
	}
	now := q.now()
	minute := now - time.Minute.Milliseconds()
	var due sql.NullInt64
	t := q.query(ctx)
	free := t.latest + "(due, lease)"
	for _, one := range []struct {
		into  any
		query string
		args  []any
	}{
		{&s.Pending, "SELECT count(*) FROM signforms_events WHERE state = 0", nil},
		{&s.Failed, "SELECT count(*) FROM signforms_events WHERE state = 2", nil},
		{&s.Lines, "SELECT count(*) FROM signforms_lines", nil},
		{&s.DueLines, "SELECT count(*) FROM signforms_lines WHERE " + free + " <= $1", []any{now}},
		{&s.Running, "SELECT count(*) FROM signforms_lines WHERE token <> 0 AND lease > $1", []any{now}},
		{&due, "SELECT min(due) FROM signforms_lines WHERE due <= $1", []any{now}},
		{&s.ReceivedLastMinute, `SELECT count(*) FROM signforms_events WHERE received > $1 AND id >
			coalesce((SELECT id FROM signforms_events WHERE received <= $1 ORDER BY id DESC LIMIT 1), 0)`, []any{minute}},
		{&s.ProcessedLastMinute, "SELECT count(*) FROM signforms_events WHERE state = 1 AND settled > $1", []any{minute}},
		{&s.FailedLastMinute, "SELECT count(*) FROM signforms_events WHERE state = 2 AND settled > $1", []any{minute}},
	} {
		if _, err := t.first([]any{one.into}, one.query, one.args...); err != nil {
			return Stats{}, fmt.Errorf("queue: reading stats: %w", err)
		}
	}
	if due.Valid {
		s.Lag = time.Duration(now-due.Int64) * time.Millisecond
	}
	return s, nil
}
