package queue_test

import (
	"context"
	"errors"
	"runtime/debug"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// hourly are options of a worker that looks by itself once an hour only.
func hourly() *queue.Options {
	o := &queue.Options{Retries: []time.Duration{time.Hour}}
	o.SetPoll(time.Hour)
	return o
}

// next returns the event that a function was called for, long before Run looks or listens again.
func (s stage) next(called <-chan string) string {
	s.Helper()
	select {
	case event := <-called:
		return event
	case <-time.After(30 * time.Second):
		require.Fail(s, "nothing has woken Run")
		return ""
	}
}

// A worker starts at once what another process has stored, retried or freed by an erasure.
func TestRun_wokenByOtherProcesses(t *testing.T) {
	eachStore(t, func(s stage) {
		receiver, worker := s.queue(nil), s.queue(hourly())
		called := make(chan string, 9)
		s.run(worker, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
			called <- name(e)
			if name(e) == "a/1" {
				return errors.New("no")
			}
			return nil
		}})
		blocked := func(st queue.Stats) bool { return st.BlockedOrderingKeys == 1 }
		s.accept(receiver, completed("a", 1), completed("a", 2))
		require.Equal(s, "a/1", s.next(called))
		s.until(receiver, blocked)
		_, err := receiver.Retry(s.Context(), queue.Filter{States: []queue.State{queue.Pending}})
		require.NoError(s, err)
		require.Equal(s, "a/1", s.next(called))
		s.until(receiver, blocked)
		_, err = receiver.Erase(s.Context(), queue.Filter{IDs: []int64{s.list(receiver, queue.Filter{})[0].ID}})
		require.NoError(s, err)
		require.Equal(s, "a/2", s.next(called))
	})
}

// connections are those of a stage whose DSN has this application_name, and listening is the one on which Run listens.
const (
	connections = " FROM pg_stat_activity WHERE application_name = 'worker'"
	listening   = connections + " AND query LIKE 'LISTEN %'"
)

// When the connection on which Run listens is lost, Run listens on another one. None is left when the queue is closed.
func TestRun_listensAgain(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close what Run has left open
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	receiver := s.queue(nil)
	worker, close, err := (s.where + " application_name=worker").open(t.Context(), hourly())
	require.NoError(t, err)
	pool, err := pgxpool.New(t.Context(), string(s.where))
	require.NoError(t, err)
	defer pool.Close()
	eventually := func(condition string) {
		require.Eventually(t, func() bool {
			var holds bool
			return pool.QueryRow(t.Context(), "SELECT "+condition).Scan(&holds) == nil && holds
		}, time.Minute, 10*time.Millisecond)
	}
	called := make(chan string, 9)
	stop := s.run(worker, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
		called <- name(e)
		return nil
	}})
	for _, document := range []string{"a", "b"} {
		eventually("count(pg_terminate_backend(pid)) > 0" + listening)
		s.accept(receiver, completed(document, 1))
		require.Equal(t, document+"/1", s.next(called))
	}
	eventually("count(*) > 0" + listening)
	stop()
	require.NoError(t, close())
	eventually("count(*) = 0" + connections)
}

// While the connection on which Run would listen does not answer, Run finds out by looking, and it ends in time.
func TestRun_frozenListener(t *testing.T) {
	t.Parallel()
	p, s := newProxy(t, "LISTEN ")
	defer p.end()
	q := s.queue(nil)
	called := make(chan string, 9)
	stop := s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
		called <- name(e)
		return nil
	}})
	s.accept(p.beside(s).queue(nil), completed("a", 1))
	require.Equal(t, "a/1", s.next(called))
	began := time.Now()
	stop()
	require.NoError(t, q.Close())
	require.Less(t, time.Since(began), 10*time.Second)
}
