package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// A worker that looks by itself once an hour only starts at once what another process has stored, retried or freed by an erasure.
func TestOtherProcessesWakeRun(t *testing.T) {
	eachStore(t, func(s stage) {
		receiver := s.queue(nil)
		o := &queue.Options{Retries: []time.Duration{time.Hour}}
		o.SetPoll(time.Hour)
		worker := s.queue(o)
		fail := true
		called := make(chan string, 9)
		s.run(worker, webhook.Funcs{Other: func(_ context.Context, e webhook.Event) error {
			called <- name(e)
			if name(e) == "a/1" && fail {
				fail = false
				return context.Canceled
			}
			return nil
		}})
		s.until(worker, func(st queue.Stats) bool { return !st.Polling })
		s.accept(receiver, completed("a", 1))
		require.Equal(s, "a/1", <-called)
		s.until(receiver, func(st queue.Stats) bool { return st.BlockedLines == 1 })
		_, err := receiver.Retry(s.Context(), queue.Filter{Pending: true})
		require.NoError(s, err)
		require.Equal(s, "a/1", <-called)
	})
}

// When the connection on which Run listens is lost, Stats says that Run is polling, and it listens again.
func TestListeningAgain(t *testing.T) {
	s := stage{T: t, where: where(sharedPostgres(t).newSchema(t))}
	q := s.queue(nil)
	var j journal
	s.run(q, j.noting(nil))
	s.until(q, func(st queue.Stats) bool { return !st.Polling })
	s.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %'`)
	s.until(q, func(st queue.Stats) bool { return st.Polling })
	s.until(q, func(st queue.Stats) bool { return !st.Polling })
	require.NoError(t, t.Context().Err())
}
