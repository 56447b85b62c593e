package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// commitTimeout is how long a delivery waits for its commit before it gets the response 503.
const commitTimeout = 2 * time.Second

// ErrFull is matched by the error of [Queue.Store] when a delivery's events would exceed [Options.MaxPending].
var ErrFull = errors.New("queue: full: with this delivery more events would wait than Options.MaxPending allows")

// row is one event as it is stored.
type row struct {
	key           webhook.ReplayKey
	orderingKeyID int64
	orderingKey   string
	kind          string
	subject       string
	signers       string
	body          []byte
	note          string
}

// receipt counts the events of one delivery by their result.
type receipt struct {
	stored, redriven, duplicates int
}

// maxNote bounds Entry.Note, in bytes.
const maxNote = 200

// newRows returns the rows of events. It refuses events without JSON, because they could not run
// later and would share a key.
func newRows(events []webhook.Event, note string) ([]row, error) {
	for i, e := range events {
		if e == nil || len(e.Raw()) == 0 {
			return nil, fmt.Errorf("queue: storing a delivery: event %d of %d has no JSON: store what webhook.Verifier.Events or webhook.Parse returns",
				i+1, len(events))
		}
	}
	rows := make([]row, len(events))
	note = storable(note[:min(len(note), maxNote)])
	for i, key := range webhook.ReplayKeys(events) {
		e := events[i]
		ordering := orderingKey(e, key)
		rows[i] = row{
			key: key, orderingKeyID: orderingKeyID(ordering), orderingKey: ordering, kind: storable(string(e.EventType())),
			subject: storable(e.SubjectID()), signers: signerList(e.SignerIDs()), body: e.Raw(), note: note,
		}
	}
	return rows, nil
}

// bringForward makes ordering keys due now if no worker holds them, because they have an event that
// can be tried at once.
func bringForward(t *tx, keys []int64, now int64) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := t.exec(`UPDATE signforms_ordering_keys SET due = $2, since = $2 WHERE token = 0 AND due > $2 AND `+t.in("id", "$1"), t.list(keys), now)
	return err
}

// reopen is bringForward for ordering keys in which a settled event is pending again. Afterwards,
// any event of such an ordering key may be the first.
func reopen(t *tx, keys []int64, now int64) error {
	if len(keys) == 0 {
		return nil
	}
	if _, err := t.exec(`UPDATE signforms_ordering_keys SET low = 0 WHERE `+t.in("id", "$1"), t.list(keys)); err != nil {
		return err
	}
	return bringForward(t, keys, now)
}

// Store stores the events of one delivery, all or none, and returns when they are durable. It is
// for deliveries that do not arrive at [Queue.Handler]. Pass all events of a delivery in one call,
// as [webhook.Verifier.Events] returned them, because equal events are numbered. Store refuses
// events without JSON.
//
// After an error the sender must deliver again, because the events are not stored, or it is unknown
// whether they are. The error matches [ErrFull], [ErrClosed] or an error of the database. Store
// waits for the database at most 2 seconds. The number of events is not limited, but a delivery of
// tens of thousands of events may take longer than that.
func (q *Queue) Store(ctx context.Context, events []webhook.Event) error {
	_, err := q.store(ctx, events)
	return err
}

func (q *Queue) store(ctx context.Context, events []webhook.Event) (receipt, error) {
	if len(events) == 0 {
		return receipt{}, nil
	}
	note := ""
	if q.Note != nil {
		q.hook("Note", func() { note = q.Note(ctx) })
	}
	rows, err := newRows(events, note)
	if err != nil {
		return receipt{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commitTimeout, errSlow)
	defer cancel()
	if err := q.takeRoom(ctx, rows); err != nil {
		return receipt{}, q.orClosed(err)
	}
	if q.clock.stale() {
		q.db.clock(ctx, &q.clock) // if this fails, the write below fails too
	}
	var got receipt
	err = q.db.submit(ctx, func(t *tx) (err error) {
		got, err = q.db.receive(ctx, t, rows, q.now(), q.maxTries-1)
		return err
	})
	if err != nil {
		return receipt{}, wrap("storing a delivery", q.orClosed(err))
	}
	q.count.stored.Add(int64(got.stored))
	q.count.duplicates.Add(int64(got.duplicates))
	if got.stored+got.redriven > 0 {
		q.wakeAll()
	}
	return got, nil
}

// takeRoom reserves room for the rows. If there is too little room, takeRoom looks up which rows
// are repeats, because repeats need no room.
func (q *Queue) takeRoom(ctx context.Context, rows []row) error {
	err := q.room.take(ctx, len(rows))
	if !errors.Is(err, ErrFull) {
		return err
	}
	needed := len(rows)
	for i := range rows {
		var one int
		known, err := q.query(ctx).first([]any{&one}, "SELECT 1 FROM signforms_events WHERE dedupe = $1 AND state <> 2", rows[i].key[:])
		if err != nil {
			return fmt.Errorf("queue: looking for repeats: %w", err)
		}
		if known {
			needed--
		}
	}
	return q.room.take(ctx, needed)
}

var errSlow = errors.New("not committed within 2 seconds")

// room keeps the number of pending events within Options.MaxPending, without counting the events
// for each delivery. No delivery waits for a count that takes long; the last successful count then
// decides.
type room struct {
	limit      int // negative: no limit
	count      func(context.Context) (int, error)
	background *background
	lookup     lookup

	mu      sync.Mutex
	known   int // pending events at the last count that succeeded
	since   int // events received since the last count began
	counted time.Time
	cost    time.Duration // how long the last count took
}

// countEvery is how old the count may be while there seems to be room; recountAfter, while there seems to be none.
const (
	countEvery   = time.Second
	recountAfter = 50 * time.Millisecond
)

func (r *room) take(ctx context.Context, n int) error {
	if r.limit < 0 {
		return nil
	}
	if r.old(n) {
		r.lookup.wait(ctx, r.background, r.recount)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lacks(n) {
		return ErrFull
	}
	r.since += n
	return nil
}

// old reports whether events should be counted before n are received. Counting a long queue takes a
// while, so at most a twentieth of the time is spent on counting.
func (r *room) old(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := time.Since(r.counted)
	return age >= max(countEvery, 20*r.cost) || r.lacks(n) && age >= max(recountAfter, 2*r.cost)
}

func (r *room) recount(ctx context.Context) {
	r.mu.Lock()
	begun, before := time.Now(), r.since
	r.mu.Unlock()
	n, err := r.count(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counted, r.cost = begun, time.Since(begun)
	r.since -= before
	if err == nil {
		r.known = n
	}
}

// lacks reports whether n events do not fit. If no event is pending, any number fits; otherwise a
// large delivery would never fit.
func (r *room) lacks(n int) bool {
	pending := r.known + r.since
	return n > 0 && pending > 0 && pending+n > r.limit
}
