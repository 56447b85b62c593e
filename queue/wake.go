package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	watchAgain       = time.Second           // after an error
	listenAgain      = time.Minute           // finds out whether the connection still answers
	dataVersionEvery = 10 * time.Millisecond // takes microseconds
)

// wakeAll makes Run of all processes look for ordering keys that are due.
func (q *Queue) wakeAll() {
	q.wakeUp()
	q.db.announce()
}

// watchStore makes Run look for ordering keys that are due when another process has stored
// something, until ctx ends. What it misses, Run finds at intervals of poll.
func (r *runner) watchStore(ctx context.Context) {
	for !r.unwatched && ctx.Err() == nil {
		r.db.watch(ctx, r.wakeUp)
		select {
		case <-time.After(watchAgain):
		case <-ctx.Done():
		}
	}
}

func (s *sqliteStore) watch(ctx context.Context, wake func()) {
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
	for last := int64(-1); ctx.Err() == nil; {
		var now int64
		if err := version.QueryRowContext(context.WithoutCancel(ctx)).Scan(&now); err != nil {
			return
		}
		if now != last {
			last = now
			wake()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// announce does nothing, because other processes watch the file.
func (s *sqliteStore) announce() {}

// watch listens on a connection of the pool. Behind a pooler that gives it to others between transactions, such as
// PgBouncer in transaction mode, LISTEN succeeds but nothing arrives.
func (s *postgresStore) watch(ctx context.Context, wake func()) {
	bounded, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	pooled, err := s.pool.Acquire(bounded)
	if err != nil {
		return
	}
	conn := pooled.Hijack() // one that listens must not go back to the pool
	defer conn.Close(ctx)
	for err == nil {
		err = s.listen(ctx, conn, wake)
	}
}

// listen listens for listenAgain at most. It returns an error if conn did not answer, as when it broke the last time.
func (s *postgresStore) listen(ctx context.Context, conn *pgx.Conn, wake func()) error {
	bounded, cancel := context.WithTimeout(ctx, listenAgain)
	defer cancel()
	_, err := conn.Exec(bounded, "LISTEN "+s.channel)
	for failed := err; failed == nil; {
		wake() // the first time for what came before
		_, failed = conn.WaitForNotification(bounded)
	}
	return err
}

// announce notifies other processes, after a commit. Notifications of several commits become one. It is not part of the
// transaction, because Postgres commits transactions that notify one after the other.
func (s *postgresStore) announce() {
	select {
	case s.announcing <- struct{}{}:
	default:
	}
}

// announceUntil sends notifications until ctx ends. One that is lost only makes others find out later.
func (s *postgresStore) announceUntil(ctx context.Context) {
	for {
		select {
		case <-s.announcing:
			bounded, cancel := context.WithTimeout(ctx, stepTimeout)
			_, _ = s.db.ExecContext(bounded, "SELECT pg_notify($1, '')", s.channel)
			cancel()
		case <-ctx.Done():
			return
		}
	}
}
