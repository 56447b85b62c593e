package queue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

func TestRun_poisonFailsAlone(t *testing.T) {
	long(t)
	eachStoreVirtually(t, func(s stage) {
		never := make(chan struct{})
		defer close(never)
		q := s.queue(&queue.Options{Retries: []time.Duration{time.Minute, time.Minute}})
		for key := range 1000 {
			s.accept(q, completed(fmt.Sprint("healthy-", key), 1), completed(fmt.Sprint("healthy-", key), 2))
		}
		for _, poison := range []string{"error", "permanent", "panic", "goexit", "late", "never"} {
			s.accept(q, completed(poison, 1), completed(poison, 2))
		}
		require.Equal(s, 200, s.deliver(q, []byte(`[{"webhookEvent":7}]`)).Code)
		begun := time.Now()
		var healthy atomic.Int64
		var last time.Time
		var j journal
		s.run(q, webhook.Funcs{SignatureCompleted: func(ctx context.Context, e *webhook.SignatureCompleted) error {
			if strings.HasPrefix(e.DocumentID, "healthy") {
				time.Sleep(10 * time.Millisecond)
				if healthy.Add(1) == 2000 {
					last = time.Now()
				}
				return nil
			}
			j.note(name(e))
			if e.DocumentName == "2" {
				return nil
			}
			switch e.DocumentID {
			case "permanent":
				return webhook.Permanent(errors.New("never again"))
			case "panic":
				panic("at the function")
			case "goexit":
				runtime.Goexit()
			case "late":
				<-ctx.Done()
				return ctx.Err()
			case "never":
				<-never
			}
			return errors.New("always")
		}})
		s.until(q, func(queue.Stats) bool { return healthy.Load() == 2000 })
		require.Less(s, last.Sub(begun), 10*time.Second, "2,000 functions of 10 ms on 8 workers, two of them held up")
		time.Sleep(time.Hour)
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		require.EqualValues(s, 1, st.Abandoned)
		require.Equal(s, 2, st.Pending, "the ordering key whose function never returns")
		require.Equal(s, 6, st.Failed)
		counts := map[string]int{}
		for _, run := range j.all() {
			counts[run]++
		}
		require.Equal(s, map[string]int{
			"error/1": 3, "error/2": 1, "permanent/1": 1, "permanent/2": 1, "panic/1": 3, "panic/2": 1,
			"goexit/1": 3, "goexit/2": 1, "late/1": 3, "late/2": 1, "never/1": 1,
		}, counts)
		for _, e := range s.list(q, queue.Filter{States: []queue.State{queue.Failed}}) {
			if e.Subject == "" {
				require.Contains(s, e.Error, "webhookEvent is not a string; Funcs.Unknown would take the event")
				require.Equal(s, 1, e.Attempts)
			}
		}
	})
}

func TestRun_abandonedFunctionAndOtherProcesses(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(&queue.Options{Retries: []time.Duration{0, 0, 0}})
		other := s.queue(nil)
		began, goOn := make(chan struct{}, 10), make(chan struct{})
		var here, there journal
		s.run(q, here.noting(hold("a/1", began, goOn)))
		s.accept(q, completed("a", 1), completed("a", 2))
		<-began
		time.Sleep(10 * time.Minute)
		s.accept(q, completed("b", 1)) // claims are made again
		s.until(q, func(st queue.Stats) bool { return st.Processed == 1 && st.Running == 0 })
		require.Equal(s, []string{"a/1", "b/1"}, here.all())
		stop := s.run(other, there.noting(nil))
		s.settledSlowly(q)
		stop()
		require.Equal(s, []string{"a/1", "a/2"}, there.all())
		s.accept(q, completed("a", 3))
		time.Sleep(10 * time.Minute)
		require.Equal(s, []string{"a/1", "b/1"}, here.all())
		close(goOn)
		s.settledSlowly(q)
		require.Equal(s, []string{"a/1", "b/1", "a/3"}, here.all())
	})
}

func TestRun_tooManyAbandonedFunctions(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		never := make(chan struct{})
		defer close(never)
		q := s.queue(&queue.Options{Workers: 50})
		for key := range 120 {
			s.accept(q, completed(fmt.Sprint(key), 1))
		}
		err := q.Run(s.Context(), webhook.Funcs{Default: func(context.Context, webhook.Event) error { <-never; return nil }})
		require.ErrorIs(s, err, queue.ErrAbandoned)
	})
}

func TestRun_end(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		q := s.queue(nil)
		s.accept(q, completed("quick", 1), completed("quick", 2), completed("slow", 1), completed("idle", 1))
		var j journal
		ctx, cancel := context.WithCancel(s.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- q.Run(ctx, j.noting(func(ctx context.Context, e webhook.Event) error {
				switch name(e) {
				case "quick/1":
					time.Sleep(15 * time.Second)
					return ctx.Err()
				case "slow/1":
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}))
		}()
		time.Sleep(10 * time.Second)
		begun := time.Now()
		cancel()
		require.NoError(s, <-ended)
		require.Equal(s, 20*time.Second, time.Since(begun).Round(time.Second))
		require.Equal(s, []string{"idle/1", "quick/1", "slow/1"}, j.sorted(), "what runs goes on, nothing else begins")
		pending := s.list(q, queue.Filter{States: []queue.State{queue.Pending}})
		require.Len(s, pending, 2)
		for _, e := range pending {
			require.Zero(s, e.Attempts, "the end of Run is not the event's fault")
		}
		st, err := q.Stats(s.Context())
		require.NoError(s, err)
		require.Zero(s, st.Running, "ordering keys are given up at once")
		s.run(q, j.noting(nil))
		s.settledSlowly(q)
		require.Len(s, j.all(), 5)
	})
}

// A process that dies leaves a counted try of the event that it had claimed, and of no other
// event, and an ordering key without events.
func TestRun_afterADeadProcess(t *testing.T) {
	eachStore(t, func(s stage) {
		tries := map[string]int{}
		var mu sync.Mutex
		q := s.queue(nil)
		s.accept(q, completed("a", 1), completed("b", 1), completed("c", 1))
		held := `UPDATE signforms_ordering_keys SET token = 7, lease = 1, head = (SELECT id FROM signforms_events WHERE subject = 'a')
			WHERE id = (SELECT ordering_key_id FROM signforms_events WHERE subject = `
		s.exec(held + "'a')")
		s.exec(held + "'b')")
		s.exec("INSERT INTO signforms_ordering_keys (id, due) VALUES (1, 1)")
		s.run(q, webhook.Funcs{SignatureCompleted: func(ctx context.Context, e *webhook.SignatureCompleted) error {
			mu.Lock()
			defer mu.Unlock()
			entry, _ := queue.EntryFromContext(ctx)
			tries[e.DocumentID] = entry.Attempts
			return nil
		}})
		s.settled(q)
		require.Equal(s, map[string]int{"a": 1, "b": 0, "c": 0}, tries)
	})
}

// A claim that fails half way leaves its ordering keys to the next one.
func TestClaim_failureHoldsNothing(t *testing.T) {
	s := stage{T: t, where: newFile(t)}
	q := s.queue(nil)
	s.accept(q, completed("a", 1), completed("b", 1), completed("c", 1))
	s.exec(`CREATE TRIGGER second BEFORE UPDATE ON signforms_ordering_keys WHEN (SELECT count(*) FROM signforms_ordering_keys WHERE lease > 0) = 1
		BEGIN SELECT RAISE(ABORT, 'planned'); END`)
	logged := make(chan string, 100)
	failing := s.queue(&queue.Options{Logger: slog.New(slog.NewTextHandler(lineWriter(logged), nil))})
	var j journal
	s.run(failing, j.noting(nil))
	require.Contains(t, <-logged, "planned")
	s.exec("DROP TRIGGER second")
	s.settled(failing)
	require.Equal(t, []string{"a/1", "b/1", "c/1"}, j.sorted())
}

// lineWriter sends what is written, a line each time.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	select {
	case w <- string(p):
	default:
	}
	return len(p), nil
}

// The token alone keeps a worker from changing an ordering key that it has lost, whatever its clock says.
func TestSettle_comparesTheToken(t *testing.T) {
	eachStore(t, func(s stage) {
		outcomes := make(chan queue.Outcome, 10)
		loser := s.queue(&queue.Options{OnSettled: func(_ context.Context, set queue.Settled) { outcomes <- set.Outcome }})
		winner := s.queue(nil)
		var lost, won journal
		began, goOn := make(chan struct{}, 1), make(chan struct{})
		began2, goOn2 := make(chan struct{}, 1), make(chan struct{})
		s.accept(loser, completed("a", 1), completed("a", 2))
		stop := s.run(loser, lost.noting(hold("a/1", began, goOn)))
		<-began
		s.exec("UPDATE signforms_ordering_keys SET lease = 1")
		s.run(winner, won.noting(hold("a/1", began2, goOn2)))
		<-began2
		close(goOn)
		require.Equal(s, queue.Stale, <-outcomes)
		stop()
		st, err := winner.Stats(s.Context())
		require.NoError(s, err)
		require.Equal(s, 2, st.Pending)
		require.Equal(s, 1, st.Running)
		close(goOn2)
		s.settled(winner)
		require.Equal(s, []string{"a/1"}, lost.all())
		require.Equal(s, []string{"a/1", "a/2"}, won.all())
	})
}

// However Run is ended, no ordering key stays claimed: it would wait for the end of the lease.
func TestRun_leavesNothingClaimed(t *testing.T) {
	eachStore(t, func(s stage) {
		q := s.queue(nil)
		var j journal
		for n := range times(60) {
			s.accept(q, completed(fmt.Sprint(n), 1))
			ctx, cancel := context.WithTimeout(s.Context(), rand.N(3*time.Millisecond))
			require.NoError(s, q.Run(ctx, j.noting(nil)))
			cancel()
			st, err := q.Stats(s.Context())
			require.NoError(s, err)
			require.Zero(s, st.Running)
		}
	})
}

// Random deliveries, repeats and failures on two workers must give what one thinks of when reading the guarantees.
func TestQueue_model(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		seed := rand.Uint64()
		if text := os.Getenv("QUEUE_TEST_SEED"); text != "" {
			fmt.Sscan(text, &seed)
		}
		s.Logf("QUEUE_TEST_SEED=%d", seed)
		random := rand.New(rand.NewPCG(seed, 1))
		m := &model{s: s, reached: map[string]int{}, busy: map[string]bool{}, failures: map[string]int{}}
		queues := []*queue.Queue{s.queue(&queue.Options{Workers: 4}), s.queue(&queue.Options{Workers: 4})}
		for _, q := range queues {
			s.run(q, webhook.Funcs{SignatureCompleted: m.run})
		}
		sent := map[string]int{}
		var payloads [][]byte
		for range times(300) {
			var events []webhook.Event
			for range 1 + random.IntN(4) {
				key := fmt.Sprint("key", random.IntN(12))
				sent[key]++
				m.plan(fmt.Sprint(key, "/", sent[key]), random.IntN(8)-5)
				events = append(events, completed(key, sent[key]))
			}
			payloads = append(payloads, webhooktest.Payload(events...))
			s.deliver(queues[random.IntN(2)], payloads[len(payloads)-1])
			if random.IntN(3) == 0 {
				s.deliver(queues[random.IntN(2)], payloads[random.IntN(len(payloads))])
			}
			time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
		}
		s.settledSlowly(queues[0])
		require.Equal(s, sent, m.reached, "each event was processed once")
		require.Empty(s, m.mistakes)
	})
}

// model is what the guarantees say of a run.
type model struct {
	s        stage
	mu       sync.Mutex
	reached  map[string]int
	busy     map[string]bool
	failures map[string]int // event → how often its function still fails
	mistakes []string
}

func (m *model) plan(event string, failures int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures[event] = failures
}

func (m *model) run(_ context.Context, e *webhook.SignatureCompleted) error {
	m.enter(e.DocumentID)
	time.Sleep(time.Duration(len(e.DocumentName)) * 300 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy[e.DocumentID] = false
	if want := fmt.Sprint(m.reached[e.DocumentID] + 1); e.DocumentName != want {
		m.mistakes = append(m.mistakes, name(e)+" instead of "+want)
	}
	if m.failures[name(e)]--; m.failures[name(e)] >= 0 {
		return errors.New("planned")
	}
	m.reached[e.DocumentID]++
	return nil
}

func (m *model) enter(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy[key] {
		m.mistakes = append(m.mistakes, key+" twice at a time")
	}
	m.busy[key] = true
}

func TestRun_longOrderingKey(t *testing.T) {
	long(t)
	eachStore(t, func(s stage) {
		q := s.queue(&queue.Options{Workers: 1})
		const all = 10_000
		for n := 0; n < all; n += 500 {
			var events []webhook.Event
			for i := range 500 {
				events = append(events, completed("a", n+i))
			}
			s.accept(q, events...)
		}
		s.accept(q, completed("b", 0))
		var next, other atomic.Int64
		s.run(q, webhook.Funcs{SignatureCompleted: func(_ context.Context, e *webhook.SignatureCompleted) error {
			if e.DocumentID == "b" {
				other.Store(next.Load() + 1)
			} else if e.DocumentName == fmt.Sprint(next.Load()) {
				next.Add(1)
			}
			return nil
		}})
		s.settled(q)
		require.EqualValues(s, all, next.Load(), "in order")
		require.Less(s, other.Load(), int64(all/2), "another ordering key does not wait for a long one")
	})
}
