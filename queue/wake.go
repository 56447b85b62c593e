package queue

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	watchAgain       = time.Second           // wait after an error
	listenAgain      = time.Minute           // checks whether the connection still responds
	dataVersionEvery = 10 * time.Millisecond // one check takes microseconds
)

// wakeAll makes Run of all processes check for ordering keys that are due.
func (q *Queue) wakeAll() {
	q.wakeUp()
	q.db.announce()
}

// watchStore makes Run check for ordering keys that are due when another process has stored
// something, until ctx ends. If watchStore misses a change, Run finds it at intervals of poll.
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

// announce does nothing, because the other processes watch the file.
func (s *sqliteStore) announce() {}

// watch listens on a connection of the pool. Some poolers give the connection to other clients
// between transactions, as PgBouncer does in transaction mode. Behind such a pooler LISTEN
// succeeds, but no notification arrives.
func (s *postgresStore) watch(ctx context.Context, wake func()) {
	bounded, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	pooled, err := s.pool.Acquire(bounded)
	if err != nil {
		return
	}
	conn := pooled.Hijack() // a connection that listens must not go back to the pool
	defer conn.Close(ctx)
	for err == nil {
		err = s.listen(ctx, conn, wake)
	}
}

// listen listens for listenAgain at most. It returns an error if conn did not respond since the
// last call.
func (s *postgresStore) listen(ctx context.Context, conn *pgx.Conn, wake func()) error {
	bounded, cancel := context.WithTimeout(ctx, listenAgain)
	defer cancel()
	_, err := conn.Exec(bounded, "LISTEN "+s.channel)
	for failed := err; failed == nil; {
		wake() // the first call covers earlier changes
		_, failed = conn.WaitForNotification(bounded)
	}
	return err
}

// announce notifies other processes, after a commit. Several commits may share a notification. The
// notification is not part of the transaction, because Postgres serializes the commits of
// transactions that notify.
func (s *postgresStore) announce() {
	select {
	case s.announcing <- struct{}{}:
	default:
	}
}

// announceUntil sends notifications until ctx ends. If a notification is lost, other processes only
// find the change later.
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
