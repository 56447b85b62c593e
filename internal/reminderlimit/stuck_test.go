package reminderlimit_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// stuckStore has methods that do not look at their context: each waits until the test releases it, and then does its work.
type stuckStore struct {
	*signforms.MemoryLimitStore
	release                   chan struct{}
	take, settle, block, peek atomic.Bool
	inside                    atomic.Int64
}

func newStuckStore() *stuckStore {
	return &stuckStore{MemoryLimitStore: signforms.NewMemoryLimitStore(nil), release: make(chan struct{})}
}

func (s *stuckStore) wait(stuck *atomic.Bool) {
	if stuck.Load() {
		s.inside.Add(1)
		<-s.release
		s.inside.Add(-1)
	}
}

func (s *stuckStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	s.wait(&s.take)
	return s.MemoryLimitStore.Take(ctx, key, limit, hold)
}

func (s *stuckStore) Settle(ctx context.Context, key, slot string, keep time.Duration) error {
	s.wait(&s.settle)
	return s.MemoryLimitStore.Settle(ctx, key, slot, keep)
}

func (s *stuckStore) Block(ctx context.Context, key string, d time.Duration) error {
	s.wait(&s.block)
	return s.MemoryLimitStore.Block(ctx, key, d)
}

func (s *stuckStore) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	s.wait(&s.peek)
	return s.MemoryLimitStore.Peek(ctx, key, limit)
}

const storeTime = 3*time.Second + grace

// within runs fn and checks how long it took.
func within(t *testing.T, most time.Duration, fn func()) {
	t.Helper()
	start := time.Now()
	fn()
	require.LessOrEqual(t, time.Since(start), most)
}

// A store that does not return holds up nobody for longer than its 3 seconds, or the end of the context. A slot that it
// grants too late is returned.
func TestStore_doesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, service := newStuckStore(), &clienttest.UntracedTransport{}
		store.take.Store(true)
		store.peek.Store(true)
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store})
		for range 3 {
			within(t, storeTime, func() {
				_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
				clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
				require.ErrorContains(t, err, "a method did not return within 3s")
			})
			within(t, storeTime, func() {
				_, err := documents.ReminderBudget(t.Context())
				clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			within(t, time.Second+2*grace, func() {
				_, err := documents.ReminderBudget(ctx)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			within(t, time.Second+2*grace, func() { // it stays the first until the store is overdue
				_, err := documents.Remind(ctx, clienttest.DocNumber(0))
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
			cancel()
		}
		time.Sleep(storeTime)
		store.take.Store(false)
		store.peek.Store(false)
		within(t, 0, func() {
			_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
			require.NoError(t, err, "nobody waits any more")
		})
		close(store.release)
		synctest.Wait()
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 4})
		require.Equal(t, 1, service.Count())
	})
}

// Settling a slot after the attempt delays the call by no more than these 3 seconds either.
func TestStore_doesNotReturnAfterTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStuckStore()
		store.settle.Store(true)
		store.block.Store(true)
		service := &clienttest.UntracedTransport{Answer: func(_ int, req *http.Request) (*http.Response, error) { return clienttest.Reply(req, 429, ""), nil }}
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store})
		within(t, 2*storeTime, func() {
			_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
			require.ErrorIs(t, err, signforms.ErrRateLimited)
		})
		close(store.release)
		synctest.Wait()
		store.settle.Store(false)
		store.block.Store(false)
		budget, err := documents.ReminderBudget(t.Context())
		require.NoError(t, err)
		require.Zero(t, budget.Remaining, "it was blocked after all")
	})
}

// All calls that wait behind one which the store does not answer fail with it, instead of asking in turn.
func TestStore_doesNotReturnFailsAllWaiters(t *testing.T) {
	for _, wait := range []time.Duration{0, time.Hour, -1} {
		t.Run(fmt.Sprint(wait), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, service := newStuckStore(), &clienttest.UntracedTransport{}
				store.take.Store(true)
				documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: wait})
				var all sync.WaitGroup
				for range 5 {
					all.Go(func() {
						within(t, storeTime, func() {
							_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
							clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
							require.ErrorContains(t, err, "a method did not return within 3s")
						})
					})
				}
				all.Wait()
				require.EqualValues(t, 1, store.inside.Load(), "methods that the store has not answered")
				store.take.Store(false)
				close(store.release)
				synctest.Wait()
				clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
				require.Zero(t, service.Count())
			})
		})
	}
}

// A store that answers slowly holds up a call that does not wait for slots for 3 seconds, and for its own question.
func TestStore_slowHoldsUpNoWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := clienttest.NewOddStore()
		store.BeforeTake = func(context.Context) error { time.Sleep(2500 * time.Millisecond); return nil }
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store})
		var all sync.WaitGroup
		var sent atomic.Int64
		for range 5 {
			all.Go(func() {
				within(t, 2*storeTime+grace, func() {
					_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
					if err == nil {
						sent.Add(1)
						return
					}
					clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
					require.ErrorContains(t, err, "it took longer than 3s for the calls before this one")
				})
			})
		}
		all.Wait()
		require.EqualValues(t, 2, sent.Load())
	})
}
