package queue

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// watchStore makes Run look for due lines when another process has stored something, until ctx ends. Where it cannot, Run only looks at
// intervals of poll.
func (r *runner) watchStore(ctx context.Context) {
	if r.unwatched {
		return
	}
	defer r.watching.Store(false)
	r.db.watch(ctx, r.wakeUp, r.watching.Store)
}

// dataVersionEvery is how often a worker asks SQLite whether another connection has written. This takes microseconds.
const dataVersionEvery = 10 * time.Millisecond

func (s *sqliteStore) watch(ctx context.Context, wake func(), working func(bool)) {
	for ctx.Err() == nil {
		s.watchVersion(ctx, wake, working)
		working(false)
		pause(ctx, time.Second)
	}
}

// watchVersion returns after an error.
func (s *sqliteStore) watchVersion(ctx context.Context, wake func(), working func(bool)) {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return
	}
	defer conn.Close()
	version, err := conn.PrepareContext(ctx, "PRAGMA data_version")
	if err != nil {
		return
	}
	defer version.Close()
	tick := time.NewTicker(dataVersionEvery)
	defer tick.Stop()
	for last := int64(-1); ; {
		var now int64
		if err := version.QueryRowContext(context.WithoutCancel(ctx)).Scan(&now); err != nil {
			return
		}
		if now != last {
			last = now
			wake()
		}
		working(true)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// announce does nothing, because other processes watch the file.
func (s *sqliteStore) announce() {}

// channelOf returns the channel on which the processes of a queue notify each other: each schema has its own.
func channelOf(ctx context.Context, db *sql.DB) (string, error) {
	var schema string
	_, err := (&tx{ctx: ctx, on: db}).first([]any{&schema}, ownSchema)
	return channelName(schema), err
}

// ownSchema selects the schema of the queue's tables.
const ownSchema = "SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('signforms_lines')"

func channelName(schema string) string {
	sum := sha256.Sum256([]byte(schema))
	return "signforms_queue_" + hex.EncodeToString(sum[:8])
}

// announce notifies other processes, after a commit. Notifications of several commits become one. It is not part of the transaction, because
// Postgres commits transactions that notify one after the other. If one is lost, others find out when they look.
func (s *postgresStore) announce() {
	select {
	case s.announcing <- struct{}{}:
	default:
	}
}

func (s *postgresStore) announceUntilClosed() {
	defer close(s.announced)
	for {
		select {
		case <-s.announcing:
		case <-s.stop:
			return
		}
		_ = s.notify(context.Background(), "")
	}
}

// notify sends a notification. Who does not get it finds out by looking.
func (s *postgresStore) notify(ctx context.Context, payload string) error {
	return s.background.within(ctx, stepTimeout, "notifying other processes", func(ctx context.Context) error {
		_, err := s.db.ExecContext(ctx, "SELECT pg_notify($1, $2)", s.channel, payload)
		return err
	})
}

const (
	proveEvery  = time.Minute     // how often it is tested that notifications arrive
	proveWithin = 5 * time.Second // how long a test notification may take
	listenAgain = time.Minute     // the longest pause before it is tried again
)

// proof begins the payload of a test notification.
const proof = "proof "

func (s *postgresStore) watch(ctx context.Context, wake func(), working func(bool)) {
	for wait := time.Second; ctx.Err() == nil; wait = min(2*wait, listenAgain) {
		if s.listen(ctx, wake, working) {
			wait = time.Second
		}
		working(false)
		pause(ctx, wait)
	}
}

// listen listens on a connection of the pool until that fails. It reports whether a notification arrived. Behind a pooler that gives the
// connection to others between transactions, such as PgBouncer in transaction mode, LISTEN succeeds but nothing arrives.
func (s *postgresStore) listen(ctx context.Context, wake func(), working func(bool)) (worked bool) {
	var conn *pgx.Conn
	err := s.background.within(ctx, stepTimeout, "listening", func(ctx context.Context) error {
		pooled, err := s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		conn = pooled.Hijack() // one that listens must not go back to the pool
		_, err = conn.Exec(ctx, "LISTEN "+s.channel)
		return err
	})
	if conn != nil {
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			conn.Close(ctx)
		}()
	}
	if err != nil {
		return false
	}
	for s.prove(ctx, conn, wake) {
		worked = true
		working(true)
		wake() // for what came before
		if !received(ctx, conn, proveEvery, func(payload string) bool {
			if !strings.HasPrefix(payload, proof) {
				wake()
			}
			return false
		}) {
			break
		}
	}
	return worked
}

// prove sends a notification by another connection, and reports whether it arrives.
func (s *postgresStore) prove(ctx context.Context, conn *pgx.Conn, wake func()) bool {
	payload := proof + rand.Text()
	if err := s.notify(ctx, payload); err != nil {
		return false
	}
	arrived := false
	received(ctx, conn, proveWithin, func(got string) bool {
		if !strings.HasPrefix(got, proof) {
			wake()
		}
		arrived = got == payload
		return arrived
	})
	return arrived
}

// received calls got for each notification until that returns true or the time is over. It returns false if the connection failed.
func received(ctx context.Context, conn *pgx.Conn, within time.Duration, got func(payload string) (enough bool)) bool {
	wait, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(wait)
		if err != nil {
			return wait.Err() != nil && ctx.Err() == nil && !conn.IsClosed()
		}
		if got(n.Payload) {
			return true
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
