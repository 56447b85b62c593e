package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Queue receives, stores and processes events. Make a Queue with [OpenSQLite] or [OpenPostgres]. A
// Queue is safe for concurrent use.
type Queue struct {
	settings
	db         store
	clock      clock
	floor      floor
	background *background
	room       room
	wake       chan struct{} // has room for one
	count      counters

	jumps   int   // the jumps of the clock that are recorded in signforms_queue_clock; only the sweep uses it
	trusted int64 // since when the clock is known not to have jumped; at first, no time is known; only the sweep uses it

	handlers sync.Map    // the handlers of Receive, by *webhook.Verifier
	running  atomic.Bool // Run is running
	mu       sync.Mutex
	occupied map[int64]bool // ordering keys that workers hold, or whose abandoned functions have not returned
	closing  sync.Once
	closed   atomic.Bool
	closeErr error
}

// counters count events since the queue was opened in this process.
type counters struct {
	stored, duplicates, processed, retried, failed, refused, abandoned atomic.Int64
}

// OpenSQLite opens a SQLite file. If the file does not exist, OpenSQLite creates it, readable for
// its owner only. An existing file keeps its mode. opts may be nil. The caller closes the queue.
//
// Several processes of one machine may open the file at the same time, to receive, to work or both.
// The file must be on a disk of that machine, because SQLite's log does not work over a network.
//
// OpenSQLite returns an error in these cases:
//
//   - The file belongs to another program, or to another version of this package.
//   - A setting that durability needs does not take effect.
//   - Another process holds the lock of the file for a minute.
//
// A damaged event is logged, and the queue opens all the same.
func OpenSQLite(path string, opts *Options) (*Queue, error) {
	s, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	q := newQueue(s)
	if q.db, err = openSQLite(path, &q.settings, &q.clock); err != nil {
		return nil, fmt.Errorf("queue: opening %s: %w", path, err)
	}
	return q, nil
}

// OpenPostgres opens a queue in pool's database. opts may be nil. Any number of processes may
// receive and work, and all use the database's clock.
//
// The tables are signforms_events, signforms_ordering_keys, signforms_queue_clock and
// signforms_queue_schema. If they are missing, OpenPostgres makes them in the first schema of the
// search_path. If they exist, a role that may only read and write them suffices: see
// [CreateTables]. OpenPostgres refuses tables of another version of this package.
//
// Close does not close the pool. The pool should have a connection for each request that is being
// stored and for each worker; with fewer connections they wait for each other. Run takes one more
// connection, on which it listens (LISTEN) for events that other processes store. Counts and
// searches take two. If no notification arrives, as behind PgBouncer in transaction mode, Run
// checks the tables twice a second.
func OpenPostgres(ctx context.Context, pool *pgxpool.Pool, opts *Options) (*Queue, error) {
	s, err := newSettings(opts)
	if err == nil && s.Exclusive {
		err = errors.New("queue: Options.Exclusive is for a SQLite file: leave it out for Postgres")
	}
	if err != nil {
		return nil, err
	}
	q := newQueue(s)
	db, err := openPostgres(ctx, pool, q.background)
	if err != nil {
		return nil, fmt.Errorf("queue: opening the database: %w", err)
	}
	if err := db.clock(ctx, &q.clock); err != nil {
		return nil, fmt.Errorf("queue: reading the database's clock: %w", errors.Join(err, db.close()))
	}
	q.db = db
	return q, nil
}

func newQueue(s settings) *Queue {
	q := &Queue{settings: s, background: newBackground(s.Logger), wake: make(chan struct{}, 1), occupied: map[int64]bool{}, trusted: math.MaxInt64}
	q.room = room{limit: s.MaxPending, count: q.pending, background: q.background}
	q.clock.clocks = s.clocks
	q.clock.fill(s.Exclusive)
	return q
}

// Close refuses waiting writes and closes the file. Call Close after Shutdown of the server and
// after Run has returned. If Run is still working, the events whose outcome it can no longer store
// run again when their leases have ended. A second call returns the same result.
func (q *Queue) Close() error {
	q.closing.Do(func() {
		q.closed.Store(true)
		q.background.close()
		q.closeErr = q.db.close()
	})
	return q.closeErr
}

// orClosed returns ErrClosed in place of the errors of a closed database.
func (q *Queue) orClosed(err error) error {
	if err != nil && q.closed.Load() {
		return ErrClosed
	}
	return err
}

// wakeUp makes Run in this process check for ordering keys that are due.
func (q *Queue) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// query reads outside of a transaction.
func (q *Queue) query(ctx context.Context) *tx {
	return &tx{ctx: ctx, on: q.db.reader(), dialect: q.db.text()}
}

// pending counts the events that are not settled. It stops counting at one more than MaxPending.
func (q *Queue) pending(ctx context.Context) (n int, err error) {
	_, err = q.query(ctx).first([]any{&n},
		fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM signforms_events WHERE state = 0 LIMIT %d) AS counted", int64(q.MaxPending)+1))
	return n, err
}

// noteWithin calls store.note as one step of the background.
func (q *Queue) noteWithin(ctx context.Context, what string, do func(*tx) error) error {
	return q.background.within(ctx, stepTimeout, what, func(ctx context.Context) error { return q.db.note(ctx, do) })
}
