package queue

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/signforms/signforms-go/webhook"
)

// claim is an ordering key that this process holds until its lease ends, with the event to process.
type claim struct {
	keyID       int64
	low         int64 // no event of the ordering key with a lower id is pending
	token       int64
	until       time.Time
	entry       Entry
	body        blob
	interrupted bool          // the event was claimed before, and the lease of that claim ended without an outcome
	begun       bool          // the store has recorded that the function began in that claim; otherwise this is unknown
	completion  *completion   // of the running function
	row         int           // how many events of the ordering key were processed since it was claimed
	abandoned   chan struct{} // closed when the abandoned function returns; nil if no function was abandoned
}

// instant is the current time, with the end of a lease that begins now.
type instant struct {
	now, lease int64     // in the store's time
	until      time.Time // the end of the lease by the clock of this process, or slightly earlier
}

func (q *Queue) instant() instant {
	until := time.Now().Add(q.lease())
	now := q.now()
	return instant{now, now + q.lease().Milliseconds(), until}
}

// claimKeys claims up to n ordering keys that are due.
func (q *Queue) claimKeys(ctx context.Context, n int) (claims []*claim, err error) {
	// A committed claim must be processed, so the end of Run must not interrupt the transaction.
	ctx = context.WithoutCancel(ctx)
	err = q.noteWithin(ctx, "claiming ordering keys", func(t *tx) (err error) {
		q.vacate(claims...)
		claims, err = q.claimWithin(t, n)
		return err
	})
	if err == nil {
		return claims, nil
	}
	q.vacate(claims...)
	if u, ok := errors.AsType[*unreadableError](err); ok {
		err = q.noteWithin(ctx, "setting an ordering key aside", func(t *tx) error { return q.setAsideFree(t, u) })
	}
	return nil, err
}

// claimWithin claims up to n ordering keys that are due and not occupied by this process, and marks
// them as occupied. If the transaction fails, the caller must vacate them.
func (q *Queue) claimWithin(t *tx, n int) (claims []*claim, err error) {
	free, err := q.dueKeys(t, n)
	if err != nil {
		return nil, err
	}
	at := q.instant() // after dueKeys, which has read the database's clock
	for _, c := range free {
		c.until = at.until
		before, begun := max(c.entry.ID, -c.entry.ID), c.entry.ID < 0
		// This is a separate statement, so that it sees the rows that the previous worker stored
		// before it gave up the ordering key.
		found, err := c.load(t)
		if err != nil {
			if err := q.setAside(t, c, at.now, err); err != nil {
				return claims, err
			}
			continue
		}
		if !found {
			if _, err := c.remove(t); err != nil {
				return claims, err
			}
			continue
		}
		c.interrupted = c.token != 0 && before == c.entry.ID
		c.begun = c.interrupted && begun
		c.token = rand.Int64N(maxToken) + 1
		if _, err := t.exec(occupyKey, c.keyID, at.lease, c.token, c.head(), at.now, c.entry.ID); err != nil {
			return claims, err
		}
		q.occupy(c)
		claims = append(claims, c)
	}
	return claims, nil
}

// dueKeys locks up to n ordering keys that are due and not occupied by this process. The returned
// claims have the token and head of the last worker that held the ordering key.
func (q *Queue) dueKeys(t *tx, n int) (free []*claim, err error) {
	sent, shown := q.clock.boot(), int64(0)
	err = t.each(func(rows *sql.Rows) error {
		if len(free) == n {
			return errEnough
		}
		c := &claim{}
		free = append(free, c)
		return rows.Scan(&c.keyID, &c.low, &c.token, &c.entry.ID, &shown, new(string))
	}, t.due, q.now(), q.floor.from(t.dialect, q.now()), t.list(q.busy()), n)
	q.shown(shown, sent)
	return free, err
}

// shown corrects the clock of this process by ms, which the database's clock showed after the
// instant sent. If ms is 0, shown does nothing.
func (q *Queue) shown(ms int64, sent time.Duration) {
	if ms != 0 {
		q.clock.follow(ms, sent)
	}
}

const maxToken = 1<<63 - 2

const (
	occupyKey = `UPDATE signforms_ordering_keys SET lease = $2, token = $3, head = $4, since = $5, low = $6 WHERE id = $1`
	forgetLow = `UPDATE signforms_ordering_keys SET low = 0 WHERE id = $1`
	removeKey = `DELETE FROM signforms_ordering_keys WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM signforms_events WHERE ordering_key_id = $1 AND state = 0)`
)

// load reads the first pending event of the claim's ordering key. Its statement must read the index
// of pending events, starting at low. With ordering_key_id = $1 and ORDER BY id, Postgres might
// choose the primary key and read all settled events. Without low, Postgres would read the index
// entries of the events that were settled since its last VACUUM.
func (c *claim) load(t *tx) (found bool, err error) {
	var key blob
	var received int64
	e := &c.entry
	*e = Entry{State: Pending}
	found, err = t.first([]any{&e.ID, &key, &e.OrderingKey, &e.Type, &e.Subject, &e.Attempts, &received, &e.Error, &e.Note, &c.body}, t.dialect.first, c.keyID, c.low)
	e.Key, e.Received, e.Attempts = keyText(key), fromMillis(received), max(0, e.Attempts)
	return found, err
}

// remove removes the row of an ordering key in which no event was found. An event may still be
// pending: then its id is below low, because the counter of ids was set back. In that case the next
// search starts at 0.
func (c *claim) remove(t *tx) (removed bool, err error) {
	n, err := t.exec(removeKey, c.keyID)
	if err == nil && n == 0 {
		_, err = t.exec(forgetLow, c.keyID)
	}
	return n > 0, err
}

// head returns the value of the column head, which is the id of the claim's event. The value is
// negative if the event's function is known to have begun, in this claim or in an earlier claim
// without an outcome.
func (c *claim) head() int64 {
	if c.begun {
		return -c.entry.ID
	}
	return c.entry.ID
}

// event decodes the claim's event.
func (c *claim) event() (webhook.Event, error) {
	// The event is parsed as an element of an array, as it was delivered. A value that is not an
	// object then becomes an unknown event.
	events, err := webhook.Parse(slices.Concat([]byte("["), c.body, []byte("]")))
	if err == nil && len(events) != 1 {
		err = errors.New("the stored JSON is not one event")
	}
	if err != nil {
		return nil, webhook.Permanent(err)
	}
	return events[0], nil
}

// nextDue returns the time until the first ordering key that this process does not occupy is due.
// It returns false if there is no such ordering key.
func (q *Queue) nextDue(ctx context.Context) (wait time.Duration, found bool, err error) {
	if q.db.text().floors && q.floor.old(q.clock.boot()) {
		q.floor.lookup.wait(ctx, q.background, q.findFloor)
	}
	var due int64
	err = q.background.within(ctx, stepTimeout, "looking for due ordering keys", func(ctx context.Context) (err error) {
		due, found, err = q.firstDue(ctx, q.floor.from(q.db.text(), q.now()))
		return err
	})
	if err != nil {
		return 0, false, err
	}
	now := q.now()
	q.floor.raise(due, now)
	return time.Duration(due-now) * time.Millisecond, found, nil
}

// firstDue returns when the first ordering key that this process does not occupy is due. It
// searches from the floor on.
func (q *Queue) firstDue(ctx context.Context, floor int64) (due int64, found bool, err error) {
	var shown int64
	sent := q.clock.boot()
	t := q.query(ctx)
	found, err = t.first([]any{&due, &shown}, t.next, floor, t.list(q.busy()))
	if err == nil {
		q.shown(shown, sent)
	}
	return due, found, err
}

// findFloor searches all ordering keys and sets the floor. If the search fails, the floor does not
// change.
func (q *Queue) findFloor(ctx context.Context) {
	begun := q.clock.boot()
	due, _, err := q.firstDue(ctx, 0)
	q.floor.set(due, q.now(), begun, q.clock.boot(), err)
	if q.clock.boot()-begun > lookupPatience {
		q.wakeUp() // Run did not wait for the search
	}
}

// floor is a time before which no ordering key is due. In Postgres the index of ordering keys keeps
// the entries of past times for as long as any client has a transaction open, and a search from the
// start would read all of these entries. So only a lookup in the background searches from the
// start.
type floor struct {
	lookup lookup

	mu    sync.Mutex
	known bool
	ms    int64
	full  time.Duration // when all ordering keys were searched last, since boot
	again time.Duration // how long after full the search is repeated
}

const (
	floorBelow  = 3 * time.Second // longer than a delivery waits for its commit
	floorFor    = 5 * time.Second // after this time all ordering keys are searched again
	floorAtMost = 5 * time.Minute // the same, if the search took long
)

// from returns the time from which on a search starts. On SQLite it always returns 0.
func (f *floor) from(d *dialect, now int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !d.floors:
		return 0
	case !f.known:
		return now - floorBelow.Milliseconds()
	}
	return f.ms
}

// old reports whether all ordering keys must be searched again.
func (f *floor) old(boot time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.again == 0 || boot-f.full > f.again
}

// set sets the floor after a search of all ordering keys, unless the search failed with err.
func (f *floor) set(due, now int64, begun, ended time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.full, f.again = ended, min(max(floorFor, 20*(ended-begun)), floorAtMost)
	if err == nil {
		f.known, f.ms = true, min(due, now)-floorBelow.Milliseconds()
	}
}

// raise raises the floor after a search. The search found an ordering key that is due at due, or no
// ordering key.
func (f *floor) raise(due, now int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known {
		f.ms = max(f.ms, min(due, now)-floorBelow.Milliseconds())
	}
}

// reset makes the next search include all ordering keys.
func (f *floor) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = 0
}

// busy returns the ordering keys that this process must not start now.
func (q *Queue) busy() []int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	keys := make([]int64, 0, len(q.occupied))
	for id := range q.occupied {
		keys = append(keys, id)
	}
	return keys
}

func (q *Queue) occupy(c *claim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.occupied[c.keyID] = true
}

func (q *Queue) vacate(claims ...*claim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range claims {
		delete(q.occupied, c.keyID)
	}
}

func keyText(key []byte) string {
	var k webhook.ReplayKey
	copy(k[:], key)
	return k.String()
}

// unreadableWait is how long an ordering key waits if its first event cannot be read, so that a
// damaged row stops no other ordering key.
const unreadableWait = time.Minute

// isDamage reports whether an error is about the data that was read, such as a damaged page or a
// disk error. Errors about the connection or other transactions are not damage.
func isDamage(err error) bool {
	if code := sqliteCode(err); code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_IOERR {
		return true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (strings.HasPrefix(e.Code, "XX") || strings.HasPrefix(e.Code, "58") || strings.HasPrefix(e.Code, "22"))
}

// unreadableError means that the first event of an ordering key could not be read, and that the
// transaction cannot continue. In Postgres no transaction can continue after an error.
type unreadableError struct {
	keyID int64
	err   error
}

func (e *unreadableError) Error() string { return "an event cannot be read: " + e.err.Error() }
func (e *unreadableError) Unwrap() error { return e.err }

func isUnreadable(err error) bool {
	_, ok := errors.AsType[*unreadableError](err)
	return ok
}

// setAside gives up an ordering key whose first event could not be read. This process must hold or
// have locked the ordering key. If the transaction cannot continue, setAside returns an
// unreadableError.
func (q *Queue) setAside(t *tx, c *claim, now int64, unreadable error) error {
	if err := c.giveUp(t, now, unreadableWait); err != nil {
		if isDamage(unreadable) {
			return &unreadableError{c.keyID, unreadable}
		}
		return unreadable
	}
	q.logUnreadable(t.ctx, c.keyID, unreadable)
	return nil
}

const putOffFree = `UPDATE signforms_ordering_keys SET due = $2, since = $3 WHERE id = $1 AND due <= $3 AND lease <= $3`

// setAsideFree calls setAside in a separate transaction, for an ordering key that no worker holds.
func (q *Queue) setAsideFree(t *tx, u *unreadableError) error {
	now := q.now()
	if _, err := t.first([]any{new(string)}, t.silent); err != nil {
		return err
	}
	changed, err := t.exec(putOffFree, u.keyID, now+unreadableWait.Milliseconds(), now)
	if changed > 0 && err == nil {
		q.logUnreadable(t.ctx, u.keyID, u.err)
	}
	return err
}

func (q *Queue) logUnreadable(ctx context.Context, keyID int64, err error) {
	q.Logger.LogAttrs(ctx, slog.LevelError, "queue: an event cannot be read, its ordering key waits for a minute: is the database damaged?",
		slog.Int64("ordering_key_id", keyID), slog.String("error", err.Error()))
}

// settleUnread settles like settle, but reads no further event, because u says that it is
// unreadable. It gives the ordering key up.
func (r *runner) settleUnread(c *claim, mark func(*tx, instant) (time.Duration, error), u *unreadableError) error {
	return r.fenced(c, func(t *tx, at instant) error {
		wait, err := mark(t, at)
		if err != nil {
			return err
		}
		if u.keyID == c.keyID {
			return r.setAside(t, c, at.now, u.err)
		}
		return c.giveUp(t, at.now, max(wait, 0))
	})
}
