package reminderlimit_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// peculiarStore is a store in memory that rounds, fails, takes its time or counts.
type peculiarStore struct {
	*signforms.MemoryLimitStore
	key, slot       string
	delay, truncate time.Duration
	afterPeek       func()
	closeErr        error
	takes, peeks    atomic.Int64
	negative        bool
}

func newPeculiarStore() *peculiarStore {
	return &peculiarStore{MemoryLimitStore: signforms.NewMemoryLimitStore(nil), truncate: 1}
}

func (s *peculiarStore) Take(ctx context.Context, key string, n int, hold time.Duration) (string, time.Duration, error) {
	if s.takes.Add(1) > 20_000 {
		return "", 0, errors.New("busy loop")
	}
	time.Sleep(s.delay)
	id, wait, err := s.MemoryLimitStore.Take(ctx, key, n, hold)
	if id != "" {
		s.key, s.slot = key, id
	}
	return id, wait.Truncate(s.truncate), err
}

func (s *peculiarStore) Peek(ctx context.Context, key string, n int) ([]time.Duration, error) {
	if s.peeks.Add(1) > 20_000 {
		return nil, errors.New("busy loop")
	}
	waits, err := s.MemoryLimitStore.Peek(ctx, key, n)
	if s.negative {
		waits = []time.Duration{-1, -1, -1, -1, -1}
	}
	if s.afterPeek != nil {
		s.afterPeek()
	}
	return waits, err
}

func (s *peculiarStore) Block(ctx context.Context, key string, d time.Duration) error {
	if s.closeErr != nil {
		return s.closeErr
	}
	return s.MemoryLimitStore.Block(ctx, key, d)
}

// Callers whose deadline is too near are refused at once, even while the store is busy with the first caller.
func TestReminderMaxWait_zeroIsRefusedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newPeculiarStore()
		hasty := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store})
		clienttest.UseUp(t, hasty)
		store.delay, store.afterPeek = 2900*time.Millisecond, func() { time.Sleep(time.Millisecond) }
		start := time.Now()
		var calls sync.WaitGroup
		for range 100 {
			calls.Go(func() {
				_, err := hasty.Remind(t.Context(), clienttest.DocNumber(0))
				assert.ErrorIs(t, err, signforms.ErrRateLimited)
			})
		}
		calls.Wait()
		require.Less(t, time.Since(start), 8*time.Second, "%d takes, %d peeks", store.takes.Load(), store.peeks.Load())
		require.Less(t, store.peeks.Load(), int64(300))
	})
}

// A store that rounds a wait down to nothing has given no slot.
func TestStore_returnsNeitherSlotNorWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &clienttest.UntracedTransport{}, newPeculiarStore()
		store.truncate = time.Millisecond // a store that rounds down: ("", 0, nil) in the last ms
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store})
		clienttest.UseUp(t, documents)
		time.Sleep(clienttest.Cycle - time.Microsecond)
		for range 50 {
			documents.Remind(t.Context(), clienttest.DocNumber(0))
		}
		require.Equal(t, 5, service.Count())
	})
}

// If the store's Block fails after a 429, the reminder is not repeated at once.
func TestStore_cannotBlock(t *testing.T) {
	for _, retryAfter := range []string{"600", ""} {
		t.Run(retryAfter, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) { return clienttest.Answers429(retryAfter), nil }}
				store := newPeculiarStore()
				store.closeErr = errors.New("READONLY")
				_, err := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store}).Remind(t.Context(), clienttest.DocNumber(0))
				require.ErrorIs(t, err, signforms.ErrRateLimited)
				require.Equal(t, 1, service.Count())
			})
		})
	}
}

func TestStore_tinyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newPeculiarStore()
		var now atomic.Int64
		store.MemoryLimitStore = signforms.NewMemoryLimitStore(func() time.Time { return time.Unix(0, now.Load()) })
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		clienttest.UseUp(t, documents)
		now.Store(int64(clienttest.Cycle - 1)) // a clock that ticks coarsely
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		var calls sync.WaitGroup
		for range 2 { // the first waiter, and one behind
			calls.Go(func() { documents.Remind(ctx, clienttest.DocNumber(0)) })
		}
		calls.Wait()
		require.Less(t, store.takes.Load(), int64(1000))
		require.Less(t, store.peeks.Load(), int64(1000))
	})
}
