package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// batch is how many events one transaction of List, Retry, Erase and the sweep handles.
const batch = 500

// ofDocuments are the types whose subject is a document. The subject of an unknown type may be a
// document or a form response.
const ofDocuments = "'" + string(webhook.TypeSignatureViewed) + "', '" + string(webhook.TypeSignatureSigned) + "', '" +
	string(webhook.TypeSignatureCompleted) + "', '" + string(webhook.TypeTemplateViewed) + "', '" +
	string(webhook.TypeTemplateSigned) + "', '" + string(webhook.TypeTemplateResponse) + "'"

// where returns f as a condition on signforms_events AS e. It appends its parameters to args.
func (f *Filter) where(d *dialect, args []any) (string, []any) {
	var all []string
	param := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	if f.States != nil {
		var inState []string
		for number, state := range states {
			if slices.Contains(f.States, state) {
				inState = append(inState, strconv.Itoa(number))
			}
		}
		if inState == nil {
			inState = []string{"-1"} // selects nothing: no event is in this state
		}
		all = append(all, "e.state IN ("+strings.Join(inState, ", ")+")")
	}
	form := "'" + string(webhook.TypeFormResponse) + "'"
	if f.Document != "" {
		all = append(all, "e.subject = "+param(storable(f.Document))+" AND e.type <> "+form)
	}
	if f.Response != "" {
		all = append(all, "e.subject = "+param(storable(f.Response))+" AND e.type NOT IN ("+ofDocuments+")")
	}
	if f.Type != "" {
		all = append(all, "e.type = "+param(storable(string(f.Type))))
	}
	if !f.Since.IsZero() {
		all = append(all, "e.received >= "+param(boundMillis(f.Since)))
	}
	if !f.Before.IsZero() {
		all = append(all, "e.received < "+param(boundMillis(f.Before)))
	}
	if f.IDs != nil {
		all = append(all, d.in("e.id", param(d.list(f.IDs))))
	}
	if f.Signers != nil {
		parts := make([]string, len(f.Signers))
		for i, id := range f.Signers {
			parts[i] = signerList([]string{id})
		}
		all = append(all, d.holds("e.signers", param(d.list(parts))))
	}
	if len(all) == 0 {
		return "TRUE", args
	}
	return strings.Join(all, " AND "), args
}

// List returns the events that f selects and that are still kept, oldest first. List reads the
// events in pages. An event that changes meanwhile is yielded in its state before or after the
// change. List ends after the first error.
func (q *Queue) List(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		after := int64(0)
		for {
			page, err := q.page(ctx, &f, after)
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.ID
			}
			if err != nil {
				yield(Entry{}, wrap("listing events", q.orClosed(err)))
				return
			}
			if len(page) < batch {
				return
			}
		}
	}
}

func (q *Queue) page(ctx context.Context, f *Filter, after int64) (page []Entry, err error) {
	t := q.query(ctx)
	where, args := f.where(t.dialect, []any{after})
	err = t.each(func(rows *sql.Rows) error {
		var e Entry
		var key blob
		var state int
		var received, due, settled int64
		err := rows.Scan(&e.ID, &key, &e.OrderingKey, &e.Type, &e.Subject, &state, &e.Attempts, &received, &due, &settled, &e.Error, &e.Note)
		e.Key, e.State, e.Attempts = keyText(key), states[state], max(0, e.Attempts)
		e.Received, e.Due, e.Settled = fromMillis(received), fromMillis(due), fromMillis(settled)
		page = append(page, e)
		return err
	}, `SELECT e.id, `+t.bytes("e.dedupe")+`, e.ordering_key, e.type, e.subject, e.state, e.attempts, e.received,
			CASE WHEN e.state = 0 THEN coalesce(l.due, 0) ELSE 0 END, e.settled, e.error, e.note
		FROM signforms_events AS e LEFT JOIN signforms_ordering_keys AS l ON l.id = e.ordering_key_id
		WHERE e.id > $1 AND `+where+` ORDER BY e.id LIMIT `+strconv.Itoa(batch), args...)
	return page, err
}

// chosen holds the events that one transaction changes.
type chosen struct {
	ids  []int64
	keys []int64 // the ordering keys of the pending and failed events, sorted and without repeats
}

// choose reads a batch of events that f selects. Their ids are above after, and their states are in
// listed.
func choose(t *tx, f *Filter, listed string, after int64) (c chosen, err error) {
	where, args := f.where(t.dialect, []any{after})
	err = t.each(func(rows *sql.Rows) error {
		var id, keyID int64
		err := rows.Scan(&id, &keyID)
		c.ids, c.keys = append(c.ids, id), append(c.keys, keyID)
		return err
	}, `SELECT e.id, e.ordering_key_id FROM signforms_events AS e
		WHERE e.id > $1 AND (e.state IN (`+listed+`)) AND `+where+` ORDER BY e.id LIMIT `+strconv.Itoa(batch), args...)
	slices.Sort(c.keys)
	c.keys = slices.Compact(c.keys)
	return c, err
}

// lockKeys locks the rows of the ordering keys, in the order of their ids. It skips ordering keys
// that do not exist.
func lockKeys(t *tx, keys []int64) error {
	return t.each(func(*sql.Rows) error { return nil }, t.locks, t.list(keys))
}

// inBatches calls do for the events that f selects, in one transaction per batch. It returns the
// sum of the numbers that do returned.
func (q *Queue) inBatches(ctx context.Context, f *Filter, listed string, do func(*tx, chosen) (int64, error)) (total int, err error) {
	for after := int64(0); ; {
		var c chosen
		var changed int64
		err := q.db.write(ctx, func(t *tx) (err error) {
			if c, err = choose(t, f, listed, after); err != nil || len(c.ids) == 0 {
				changed = 0
				return err
			}
			changed, err = do(t, c)
			return err
		})
		if err != nil {
			return total, err
		}
		total += int(changed)
		if len(c.ids) < batch {
			return total, nil
		}
		after = c.ids[len(c.ids)-1]
	}
}

// Body returns the JSON of an event as it was received. The JSON is available while the event is
// pending or failed, and until [Options.KeepBodies] after it was processed. Otherwise the error
// matches [ErrNoBody].
func (q *Queue) Body(ctx context.Context, id int64) ([]byte, error) {
	var body blob
	t := q.query(ctx)
	_, err := t.first([]any{&body}, t.body, id)
	if err == nil && body == nil {
		err = ErrNoBody
	}
	return body, wrap("reading an event", q.orClosed(err))
}

// ErrNoBody is matched by the error of [Queue.Body] when there is no event with this id, or its JSON was erased.
var ErrNoBody = errors.New("there is no event with this id, or its JSON is no longer kept")

// Retry makes the events that f selects due now, and gives each its full number of tries again. It
// selects failed events and events that wait for their next try. If [Filter].States contains Done,
// it also selects processed events whose JSON is still kept. Retry returns the number of selected
// events, including pending events that were due already.
//
// If an event is being processed, that try does not count, and if it fails the next try follows at
// once. Events of an ordering key still run in their order, so an event that had failed runs before
// later pending events.
//
// Retry works in batches: after an error, n events are due. On Postgres it waits at most half a
// second for an event that a function's transaction with [Complete] holds.
func (q *Queue) Retry(ctx context.Context, f Filter) (n int, err error) {
	listed := "0, 2"
	if slices.Contains(f.States, Done) {
		listed = "0, 1, 2"
	}
	n, err = q.inBatches(ctx, &f, listed+") AND (e.state <> 1 OR e.body IS NOT NULL", func(t *tx, c chosen) (int64, error) {
		now := q.now()
		// Failed events may have no ordering key any longer.
		for _, keyID := range c.keys {
			if _, err := t.exec(`INSERT INTO signforms_ordering_keys (id, due, since) VALUES ($1, $2, $2) ON CONFLICT (id)
				DO UPDATE SET low = 0, due = CASE WHEN signforms_ordering_keys.token = 0 THEN $2 ELSE signforms_ordering_keys.due END`, keyID, now); err != nil {
				return 0, err
			}
		}
		return t.exec(`UPDATE signforms_events SET state = 0, settled = 0, attempts = CASE WHEN EXISTS
				(SELECT 1 FROM signforms_ordering_keys AS l WHERE l.id = ordering_key_id AND abs(l.head) = signforms_events.id) THEN -1 ELSE 0 END
			WHERE state IN (`+listed+`) AND body IS NOT NULL AND `+t.in("id", "$1"), t.list(c.ids))
	})
	if n > 0 {
		q.wakeAll()
	}
	return n, wrap("retrying events", q.orClosed(err))
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("queue: %s: %w", what, err)
}

// Erase erases the events that f selects: their JSON, ids, signers and error texts. Pending events
// no longer run. Erase waits for events that are running, with three exceptions:
//
//   - the event whose function calls Erase
//   - events whose functions were abandoned
//   - events that a transaction with [Complete] holds; see [Queue.Retry]
//
// An empty filter is refused. The package documentation describes what is erased in each store.
// Erase works in batches: after an error, n counts the erased events. An error that matches
// [ErrNotTruncated] means that only the log of SQLite could not be truncated.
//
// Filter matches the ids in [Entry].Subject and [Filter].Signers, whatever the type of the event.
// The JSON of an unknown type may contain other ids, so select such events by their Type.
func (q *Queue) Erase(ctx context.Context, f Filter) (n int, err error) {
	if f.empty() {
		return 0, errNoSelection
	}
	var running []run
	n, err = q.inBatches(ctx, &f, "0, 1, 2", func(t *tx, c chosen) (int64, error) {
		changed, found, err := q.eraseChosen(t, c)
		running = append(running, found...)
		return changed, err
	})
	q.wakeAll() // events after an erased event may be due now
	if err == nil {
		err = q.awaitRuns(ctx, running)
	}
	return n, wrap("erasing events", q.orClosed(errors.Join(err, q.db.clean(ctx))))
}

const eraseEvents = `UPDATE signforms_events SET state = 3, settled = $2, ordering_key_id = 0, ordering_key = '', type = '', subject = '', signers = '', error = '', note = '', body = NULL
	WHERE state < 3 AND `

// eraseChosen erases events and returns the runs of those that are being processed.
func (q *Queue) eraseChosen(t *tx, c chosen) (changed int64, running []run, err error) {
	if err := lockKeys(t, c.keys); err != nil {
		return 0, nil, err
	}
	now := q.now()
	if changed, err = t.exec(eraseEvents+t.in("id", "$1"), t.list(c.ids), now); err != nil {
		return 0, nil, err
	}
	err = t.each(func(rows *sql.Rows) error {
		var r run
		err := rows.Scan(&r.keyID, &r.token, &r.head)
		running = append(running, r)
		return err
	}, `SELECT id, token, abs(head) FROM signforms_ordering_keys WHERE lease > $3 AND `+t.in("id", "$1")+` AND `+t.in("abs(head)", "$2"),
		t.list(c.keys), t.list(c.ids), now)
	if err != nil {
		return 0, nil, err
	}
	// Events after an erased event no longer wait for its next try.
	if err := bringForward(t, c.keys, now); err != nil {
		return 0, nil, err
	}
	_, err = t.exec(`DELETE FROM signforms_ordering_keys WHERE token = 0 AND lease = 0 AND `+t.in("id", "$1")+` AND NOT EXISTS
		(SELECT 1 FROM signforms_events AS e WHERE e.ordering_key_id = signforms_ordering_keys.id AND e.state = 0)`, t.list(c.keys))
	return changed, running, err
}

// run is an event that a worker processes.
type run struct {
	keyID, token, head int64
}

// awaitRuns returns when each of these runs has ended, or when its lease has ended.
func (q *Queue) awaitRuns(ctx context.Context, running []run) error {
	own, _ := EntryFromContext(ctx)
	for _, r := range running {
		for r.head != own.ID {
			var there int
			_, err := q.query(ctx).first([]any{&there},
				`SELECT count(*) FROM signforms_ordering_keys WHERE id = $1 AND token = $2 AND abs(head) = $3 AND lease > $4`, r.keyID, r.token, r.head, q.now())
			if err != nil {
				return err
			}
			if there == 0 {
				break
			}
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("waiting for a function that processes one of them: %w", context.Cause(ctx))
			}
		}
	}
	return nil
}
