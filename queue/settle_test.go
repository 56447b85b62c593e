package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// lookUntil runs functions of a queue for a second each, as a process does that looks once a
// second, until one was called.
func (s stage) lookUntil(q *queue.Queue, limit time.Duration, called <-chan time.Time, on webhook.Funcs) time.Time {
	s.Helper()
	for begun := time.Now(); time.Since(begun) < limit; {
		ctx, cancel := context.WithTimeout(s.Context(), time.Second)
		require.NoError(s, q.Run(ctx, on))
		cancel()
		select {
		case at := <-called:
			return at
		default:
		}
	}
	require.Fail(s, "no function was called")
	return time.Time{}
}

// soon waits a minute at most, on virtual time.
func (s stage) soon(what string, reached func() bool) {
	s.Helper()
	for begun := time.Now(); !reached(); time.Sleep(time.Second) {
		require.Less(s, time.Since(begun), time.Minute, what)
	}
}

// Until the lease ends, no other process runs the event of an abandoned function. This holds if the
// event is tried again, has failed as the last of its ordering key, or was erased, and when Run ends.
func TestRun_abandonedFunctionKeepsItsLease(t *testing.T) {
	for _, row := range []struct {
		what    string
		retries []time.Duration
	}{{what: "tried again", retries: []time.Duration{0, 0}}, {what: "failed", retries: []time.Duration{}}, {what: "erased", retries: []time.Duration{0}},
		{what: "end of Run", retries: []time.Duration{0}}} {
		t.Run(row.what, func(t *testing.T) {
			eachStoreVirtually(t, func(s stage) {
				var retry time.Time
				o := queue.Options{Retries: row.retries, OnSettled: func(_ context.Context, set queue.Settled) { retry = set.Retry }}
				q, other := s.queue(&o), s.queue(nil)
				began, goOn := make(chan time.Time, 1), make(chan struct{})
				defer close(goOn)
				s.accept(q, completed("a", 1))
				stop := s.run(q, webhook.Funcs{Default: func(context.Context, webhook.Event) error {
					began <- time.Now()
					<-goOn
					return nil
				}})
				at := <-began
				if row.what == "end of Run" {
					stop()
				} else {
					time.Sleep(91 * time.Second) // abandoned after a minute and a half
				}
				if row.what == "erased" {
					_, err := q.Erase(s.Context(), queue.Filter{Document: "a"})
					require.NoError(s, err)
					s.accept(q, completed("a", 1)) // a repeat
				}
				s.accept(q, completed("a", 2))
				called := make(chan time.Time, 9)
				next := s.lookUntil(other, 10*time.Minute, called, webhook.Funcs{Default: func(context.Context, webhook.Event) error {
					called <- time.Now()
					return nil
				}})
				require.GreaterOrEqual(s, next.Sub(at), 2*time.Minute-time.Second, "the lease")
				require.LessOrEqual(s, next.Sub(at), 2*time.Minute+5*time.Second)
				if row.what == "tried again" {
					require.WithinDuration(s, next, retry, 5*time.Second)
				}
			})
		})
	}
}

// An ordering key that has no event left is free again once the abandoned function has returned.
func TestRun_abandonedFunctionOfTheLastEvent(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{}})
		goOn := make(chan struct{})
		var j journal
		s.run(q, j.noting(func(_ context.Context, e webhook.Event) error {
			if name(e) == "a/1" {
				<-goOn
			}
			return nil
		}))
		s.accept(q, completed("a", 1))
		time.Sleep(100 * time.Second)
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		require.Zero(s, st.Running, "given up, though not to be started")
		close(goOn)
		s.accept(q, completed("a", 2))
		time.Sleep(2 * time.Hour)
		s.settled(q)
		require.Equal(s, []string{"a/1", "a/2"}, j.all())
	})
}

func TestRetry_runningEvent(t *testing.T) {
	for _, row := range []struct {
		what    string
		failure error
	}{{what: "an error", failure: errors.New("no")}, {what: "for good", failure: webhook.Permanent(errors.New("no"))}} {
		t.Run(row.what, func(t *testing.T) {
			eachStoreVirtually(t, func(s stage) {
				q := s.queue(&queue.Options{Retries: []time.Duration{8 * time.Hour}})
				began, goOn := make(chan int, 9), make(chan struct{})
				s.accept(q, completed("a", 1))
				s.run(q, webhook.Funcs{Default: func(ctx context.Context, _ webhook.Event) error {
					entry, _ := queue.EntryFromContext(ctx)
					began <- entry.Attempts
					<-goOn
					return row.failure
				}})
				<-began
				n, err := q.Retry(s.Context(), queue.Filter{Document: "a"})
				require.NoError(s, err)
				require.Equal(s, 1, n)
				require.Zero(s, s.list(q, queue.Filter{})[0].Attempts)
				goOn <- struct{}{}
				s.soon("due now", func() bool { return len(began) > 0 })
				require.Zero(s, <-began, "it has all its tries again")
				goOn <- struct{}{}
				time.Sleep(time.Minute)
				entry := s.list(q, queue.Filter{})[0]
				require.Equal(s, 1, entry.Attempts)
				require.Equal(s, webhook.IsPermanent(row.failure), entry.State == queue.Failed)
			})
		})
	}
}

func TestRetry_eventInterruptedByTheEndOfRun(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{}})
		began := make(chan struct{}, 1)
		s.accept(q, completed("a", 1))
		stop := s.run(q, webhook.Funcs{Default: func(ctx context.Context, _ webhook.Event) error {
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}})
		<-began
		_, err := q.Retry(s.Context(), queue.Filter{})
		require.NoError(s, err)
		stop()
		var j journal
		s.run(q, j.noting(func(context.Context, webhook.Event) error { return errors.New("no") }))
		s.settledSlowly(q)
		require.Equal(s, []string{"a/1"}, j.all(), "its one try, not one more")
	})
}

func TestRetry_doesNotWaitForTheNextEvent(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{8 * time.Hour}})
		began, goOn := make(chan struct{}), make(chan struct{})
		ran := make(chan struct{}, 1)
		broken, first := true, true
		s.accept(q, completed("a", 1))
		s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
			switch {
			case name(e) == "a/2" && first:
				first = false
				began <- struct{}{}
				<-goOn
				return errors.New("no")
			case broken:
				broken = false
				return webhook.Permanent(errors.New("a bug"))
			}
			if name(e) == "a/1" {
				ran <- struct{}{}
			}
			return nil
		}})
		s.settledSlowly(q)
		s.accept(q, completed("a", 2))
		<-began
		n, err := q.Retry(s.Context(), queue.Filter{States: []queue.State{queue.Failed}})
		require.NoError(s, err)
		require.Equal(s, 1, n)
		goOn <- struct{}{}
		s.soon("a/1 ran", func() bool { return len(ran) > 0 })
	})
}

func TestErase_eventThatFails(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		outcomes := make(chan queue.Outcome, 2)
		q := s.queue(&queue.Options{Retries: []time.Duration{4 * time.Hour}, OnSettled: func(_ context.Context, set queue.Settled) {
			outcomes <- set.Outcome
		}})
		began, goOn := make(chan struct{}), make(chan struct{})
		second := make(chan struct{}, 1)
		s.accept(q, completed("a", 1), completed("a", 2))
		s.run(q, webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
			if name(e) == "a/2" {
				second <- struct{}{}
				return nil
			}
			began <- struct{}{}
			<-goOn
			return errors.New("no")
		}})
		<-began
		go func() {
			time.Sleep(time.Second)
			close(goOn)
		}()
		n, err := q.Erase(s.Context(), queue.Filter{IDs: []int64{s.list(q, queue.Filter{})[0].ID}})
		require.NoError(s, err)
		require.Equal(s, 1, n)
		s.soon("a/2 ran", func() bool { return len(second) > 0 })
		require.Equal(s, queue.FailedPermanently, <-outcomes, "an erased event is not tried again")
	})
}

func TestRun_abandonedAtItsEndCountsNoTry(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{}})
		began, goOn := make(chan struct{}), make(chan struct{})
		var j journal
		s.accept(q, completed("a", 1))
		stop := s.run(q, webhook.Funcs{Default: func(context.Context, webhook.Event) error {
			began <- struct{}{}
			<-goOn
			return nil
		}})
		<-began
		stop()
		close(goOn)
		other := s.queue(&queue.Options{Retries: []time.Duration{}})
		s.run(other, j.noting(nil))
		time.Sleep(2 * time.Hour)
		require.Equal(s, []string{"a/1"}, j.all())
		entry := s.list(other, queue.Filter{})[0]
		require.Equal(s, queue.Done, entry.State)
		require.Zero(s, entry.Attempts)
	})
}

// A process that dies after a claim may have started the function or not. An event is given up only
// after a try whose start was stored.
func TestRun_startsAnEventBeforeItFailsPermanently(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		var told []string
		q := s.queue(&queue.Options{Retries: []time.Duration{}, OnSettled: func(ctx context.Context, set queue.Settled) {
			e, _ := queue.EntryFromContext(ctx)
			told = append(told, fmt.Sprint(e.Subject, " ", set.Outcome, " ", set.Entry.Attempts, " ", set.Err != nil, ctx.Err() != nil))
		}})
		s.accept(q, completed("a", 1))
		die := `UPDATE signforms_ordering_keys SET lease = 1, due = 1, token = 7`
		s.exec(die + ", head = (SELECT id FROM signforms_events)")
		began, goOn := make(chan struct{}, 1), make(chan struct{})
		stop := s.run(q, webhook.Funcs{Default: func(context.Context, webhook.Event) error {
			began <- struct{}{}
			<-goOn
			return nil
		}})
		s.soon("started", func() bool { return len(began) > 0 })
		s.exec(die)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			stop() // while the function runs: this queue must not look at the ordering key again
		}()
		time.Sleep(time.Second)
		goOn <- struct{}{}
		<-stopped
		var j journal
		other := s.queue(&queue.Options{Retries: []time.Duration{}, OnSettled: func(ctx context.Context, set queue.Settled) {
			e, _ := queue.EntryFromContext(ctx)
			told = append(told, fmt.Sprint("other: ", e.Subject, " ", set.Outcome, " ", set.Entry.Attempts, " ", set.Err != nil, ctx.Err() != nil))
		}})
		stop = s.run(other, j.noting(nil))
		time.Sleep(2 * time.Hour)
		stop()
		require.Empty(s, j.all(), "a second start would be one too many")
		failed := s.list(q, queue.Filter{States: []queue.State{queue.Failed}})
		require.Len(s, failed, 1)
		require.Equal(s, 1, failed[0].Attempts)
		require.Equal(s, []string{"a retrying 0 true true", "a stale 0 false true", "other: a failed_permanently 0 true true"}, told)
	})
}

// Erase also waits for a function that began after an interruption.
func TestErase_waitsForARunAfterAnInterruption(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("a", 1))
		s.exec(`UPDATE signforms_ordering_keys SET lease = 1, token = 7, head = (SELECT id FROM signforms_events)`)
		began, goOn := make(chan struct{}), make(chan struct{})
		var j journal
		s.run(q, j.noting(hold("a/1", began, goOn)))
		<-began
		erased := make(chan error, 1)
		go func() {
			_, err := q.Erase(s.Context(), queue.Filter{Document: "a"})
			erased <- err
		}()
		s.until(q, func(st queue.Stats) bool { return st.Pending == 0 })
		s.endsAfter(erased, goOn)
	})
}

// The lag of an ordering key whose events run is that of its next event, not of its first.
func TestStats_lagOfAnOrderingKey(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Timeout: 5 * time.Hour})
		began, goOn := make(chan struct{}), make(chan struct{})
		s.run(q, webhook.Funcs{Default: func(context.Context, webhook.Event) error {
			began <- struct{}{}
			<-goOn
			return nil
		}})
		s.accept(q, completed("a", 1))
		<-began
		time.Sleep(time.Hour)
		s.accept(q, completed("a", 2))
		goOn <- struct{}{}
		<-began
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		require.Less(s, st.Lag, time.Minute)
		close(goOn)
	})
}

// A settlement that fails when it is committed has claimed another ordering key within it, which must be free again.
func TestSettle_failureHoldsNoOrderingKey(t *testing.T) {
	s := stage{t, where(sharedPostgres(t).newSchema(t)), false}
	q := s.queue(&queue.Options{Workers: 1, Timeout: 200 * time.Millisecond})
	s.accept(q, completed("a", 1))
	s.exec(`CREATE FUNCTION refuse() RETURNS trigger AS 'BEGIN RAISE EXCEPTION ''planned''; END' LANGUAGE plpgsql`)
	s.exec(`CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON signforms_events DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW WHEN (NEW.state = 1 AND OLD.subject = 'a') EXECUTE FUNCTION refuse()`)
	began, goOn := make(chan struct{}, 9), make(chan struct{})
	var j journal
	s.run(q, j.noting(hold("a/1", began, goOn)))
	<-began
	s.accept(q, completed("b", 1))
	close(goOn)
	s.until(q, func(st queue.Stats) bool { return st.Processed == 1 })
	require.Contains(s, j.all(), "b/1")
}
