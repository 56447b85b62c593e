package queue_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// nilError is an error whose methods read its fields, so that they panic for a nil pointer.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// An error that cannot be read, and a hook that panics, fail their own try and nothing else.
func TestRun_unreadableErrorsAndPanickingHooks(t *testing.T) {
	eachStore(t, func(s stage) {
		var log logged
		q := s.queue(&queue.Options{
			Retries: []time.Duration{0}, Logger: log.logger(),
			OnReceived: func(context.Context, queue.Received) { panic("received") },
			OnSettled: func(_ context.Context, set queue.Settled) {
				if set.Outcome == queue.Processed {
					runtime.Goexit()
				}
				panic("settled")
			},
		})
		s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
			if e.SubjectID() == "nil" {
				return queue.RetryAfter((*nilError)(nil), 0)
			}
			return nil
		}})
		s.accept(q, completed("sound", 1), completed("nil", 1)) // 200 although the hook panics
		s.settled(q)
		failed := s.list(q, queue.Filter{States: []queue.State{queue.Failed}})
		require.Len(s, failed, 1)
		require.Contains(s, failed[0].Error, "cannot be read")
		require.Equal(s, 2, failed[0].Attempts)
		require.Eventually(s, func() bool { return log.count("hook=OnSettled") == 3 }, time.Minute, time.Millisecond)
	})
}
