package queue

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// CountLimit is the highest number to which [Queue.Stats] counts in the store. A count with this
// value means at least that many.
const CountLimit = 10_000

// Stats is the state of a queue. The fields before Stored describe all processes, and their counts
// end at [CountLimit]. Stored and the fields after it count the work of this process since it
// opened the queue.
type Stats struct {
	Pending         int           // events that are not settled
	Failed          int           // failed events, which wait for a decision
	OrderingKeys    int           // ordering keys with pending events
	DueOrderingKeys int           // ordering keys that are due and that no worker holds
	Running         int           // ordering keys that a worker holds
	Lag             time.Duration // how long the oldest due ordering key has been due while no worker held it; the most important figure
	Oldest          time.Duration // age of the oldest pending event that is not being processed, among the CountLimit ordering keys that are due first

	BlockedOrderingKeys int       // ordering keys that wait for the next try of their first event
	Blocked             []Blocked // up to 10 of these ordering keys, the ones with the oldest events first

	ReceivedLastMinute  int // new events
	ProcessedLastMinute int
	FailedLastMinute    int // events that failed permanently

	Stored            int64 // new events
	Duplicates        int64 // events that were received before
	Refused           int64 // deliveries with the response 503
	Processed         int64
	Retried           int64 // failed tries after which another try follows
	FailedPermanently int64 // events that failed permanently, including events that were erased while they ran and then failed
	Abandoned         int64 // functions that were abandoned and have not returned yet
}

// Blocked is an ordering key whose first event waits for its next try. The later events of the
// ordering key wait too.
type Blocked struct {
	OrderingKey string            `json:"ordering_key"`
	ID          int64             `json:"event"` // id of the event that is to be tried again
	Type        webhook.EventType `json:"type"`
	Subject     string            `json:"subject"`
	Attempts    int               `json:"attempts"` // tries that have failed
	Error       string            `json:"error"`    // error of the last try; at most 500 bytes
	Due         time.Time         `json:"due"`      // when the next try is due
	Waiting     int               `json:"waiting"`  // pending events of the ordering key, including the first; at most CountLimit
}

// Stats reads the state of the queue from up to [CountLimit] rows of each kind, so its cost does
// not grow with the queue.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	s := Stats{
		Stored: q.count.stored.Load(), Duplicates: q.count.duplicates.Load(), Refused: q.count.refused.Load(),
		Processed: q.count.processed.Load(), Retried: q.count.retried.Load(), FailedPermanently: q.count.failed.Load(),
		Abandoned: q.count.abandoned.Load(),
	}
	now := q.now()
	t := q.query(ctx)
	err := s.counts(t, now)
	if err == nil {
		err = s.ages(t, now)
	}
	if err == nil {
		err = s.blocked(t, now)
	}
	if err != nil {
		return Stats{}, fmt.Errorf("queue: reading stats: %w", q.orClosed(err))
	}
	return s, nil
}

func (s *Stats) counts(t *tx, now int64) error {
	minute := now - time.Minute.Milliseconds()
	for _, one := range []struct {
		into *int
		from string
		args []any
	}{
		{&s.Pending, "signforms_events WHERE state = 0", nil},
		{&s.Failed, "signforms_events WHERE state > 0 AND state = 2", nil},
		{&s.OrderingKeys, "signforms_ordering_keys", nil},
		{&s.Running, "signforms_ordering_keys WHERE abs(token) > 0 AND lease > $1", []any{now}},
		{&s.ReceivedLastMinute, "(SELECT received FROM signforms_events ORDER BY id DESC" + limited + ") AS newest WHERE received > $1", []any{minute}},
		{&s.ProcessedLastMinute, "signforms_events WHERE state > 0 AND state = 1 AND settled > $1", []any{minute}},
		{&s.FailedLastMinute, "signforms_events WHERE state > 0 AND state = 2 AND settled > $1", []any{minute}},
	} {
		if _, err := t.first([]any{one.into}, "SELECT count(*) FROM (SELECT 1 FROM "+one.from+limited+") AS counted", one.args...); err != nil {
			return err
		}
	}
	_, err := t.first([]any{&s.DueOrderingKeys}, t.dueCount, now)
	return err
}

var limited = " LIMIT " + strconv.Itoa(CountLimit)

func (s *Stats) ages(t *tx, now int64) error {
	var due, received int64
	found, err := t.first([]any{&due}, t.lag, now)
	if err != nil {
		return err
	}
	if found {
		s.Lag = time.Duration(now-due) * time.Millisecond
	}
	// An index of pending events by time would cost each delivery a page of the log. So this
	// statement reads the first event of each ordering key instead.
	_, err = t.first([]any{&received}, t.oldest, now)
	if received > 0 {
		s.Oldest = time.Duration(max(0, now-received)) * time.Millisecond
	}
	return err
}

// blocked reads the ordering keys that wait for a next try, and the events for which they wait.
func (s *Stats) blocked(t *tx, now int64) error {
	var keys []claim
	err := t.each(func(rows *sql.Rows) error {
		var c claim
		var due int64
		err := rows.Scan(&c.keyID, &c.low, &due, &s.BlockedOrderingKeys)
		keys, s.Blocked = append(keys, c), append(s.Blocked, Blocked{Due: fromMillis(due)})
		return err
	}, t.dialect.blocked, now)
	for i := range keys {
		if err == nil {
			err = s.Blocked[i].read(t, &keys[i])
		}
	}
	return err
}

// read reads the first event of an ordering key. It does not use load, which also reads the event's JSON.
func (b *Blocked) read(t *tx, c *claim) error {
	_, err := t.first([]any{&b.ID, &b.OrderingKey, &b.Type, &b.Subject, &b.Attempts, &b.Error}, `SELECT id, ordering_key, type, subject, attempts, error
		FROM signforms_events WHERE (ordering_key_id, id) >= ($1, $2) AND ordering_key_id <= $1 AND state = 0 ORDER BY ordering_key_id, id LIMIT 1`, c.keyID, c.low)
	if err != nil {
		return err
	}
	b.Attempts = max(0, b.Attempts)
	// The ORDER BY makes Postgres read the index of pending events.
	_, err = t.first([]any{&b.Waiting}, `SELECT count(*) FROM (SELECT 1 FROM signforms_events WHERE (ordering_key_id, id) >= ($1, $2) AND ordering_key_id <= $1
		AND state = 0 ORDER BY ordering_key_id, id`+limited+`) AS counted`, c.keyID, c.low)
	return err
}
