package signforms_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

const cycle = 15*time.Minute + time.Second // of a slot that is answered at once

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &trips{}, signforms.NewMemoryLimitStore(nil)
		clients := []*signforms.DocumentsService{
			budgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1}),
			budgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1}),
		}
		useUp(t, clients[0])
		start := time.Now()
		var waiting sync.WaitGroup
		for n := range 23 {
			waiting.Go(func() {
				_, err := clients[n%2].Remind(t.Context(), docNumber(n+1))
				require.NoError(t, err)
			})
			time.Sleep(time.Second)
		}
		waiting.Wait()
		for n := range 23 {
			require.Equal(t, docNumber(n+1), signforms.PDF(service.docs[5+n]), "request %d", n)
			require.Equal(t, time.Duration(n/5+1)*cycle, service.at[5+n].Sub(start), "request %d", n)
		}
	})
}

func TestCancelledWaiterFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &trips{}
		documents := budgetClient(t, service, signforms.Options{ReminderMaxWait: -1})
		useUp(t, documents)
		start := time.Now()
		cancels := make([]context.CancelFunc, 12)
		var waiting sync.WaitGroup
		for n := range cancels {
			var ctx context.Context
			ctx, cancels[n] = context.WithCancel(t.Context())
			waiting.Go(func() {
				_, err := documents.Remind(ctx, docNumber(n+1))
				require.Equal(t, n < 2 || n == 6, errors.Is(err, context.Canceled), "call %d: %v", n, err)
				require.NotErrorIs(t, err, signforms.ErrOutcomeUnknown)
			})
			time.Sleep(time.Second)
		}
		for _, n := range []int{0, 6, 1} { // the first in line twice, and one in the middle
			cancels[n]()
			synctest.Wait()
		}
		require.Less(t, time.Since(start), cycle)
		waiting.Wait()
		require.Equal(t, 5+9, service.count())
		for i, n := range []int{2, 3, 4, 5, 7, 8, 9, 10, 11} {
			require.Equal(t, docNumber(n+1), signforms.PDF(service.docs[5+i]))
			require.Equal(t, time.Duration(i/5+1)*cycle, service.at[5+i].Sub(start), "request %d", i)
		}
		for _, cancel := range cancels {
			cancel()
		}
	})
}

// A slot that is given back goes to the next in line at once, not when that one would have looked again.
func TestSlotGivenBackWakesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, fail := time.Now(), true
		var dialled []time.Duration
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			dialled = append(dialled, time.Since(start))
			if fail {
				time.Sleep(17 * time.Second)
			}
			return nil, errors.New("connection refused")
		}}
		documents := budgetClient(t, transport, signforms.Options{MaxAttempts: 1, ReminderMaxWait: -1})
		var calls sync.WaitGroup
		for range 13 {
			calls.Go(func() {
				_, err := documents.Remind(t.Context(), docNumber(0))
				require.ErrorIs(t, err, signforms.ErrUnavailable)
			})
			synctest.Wait()
		}
		time.Sleep(time.Second)
		require.Len(t, dialled, 5, "requests under way")
		calls.Wait()
		require.Equal(t, 51*time.Second, time.Since(start), "three rounds of 17 s")
		require.Equal(t, []time.Duration{
			0, 0, 0, 0, 0, 17 * time.Second, 17 * time.Second, 17 * time.Second, 17 * time.Second, 17 * time.Second,
			34 * time.Second, 34 * time.Second, 34 * time.Second,
		}, dialled)
	})
}

func Test429FailsAllThatCannotWaitSoLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &trips{answer: func(n int, _ *http.Request) (*http.Response, error) {
			if n == 4 {
				time.Sleep(20 * time.Second)
				return answers429("7200"), nil
			}
			return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
		}}
		documents := budgetClient(t, service, signforms.Options{MaxAttempts: 1, ReminderMaxWait: time.Hour})
		start := time.Now()
		for range 4 {
			documents.Remind(t.Context(), docNumber(0))
		}
		var calls sync.WaitGroup
		calls.Go(func() { documents.Remind(t.Context(), docNumber(0)) })
		synctest.Wait()
		for range 7 {
			calls.Go(func() {
				_, err := documents.Remind(t.Context(), docNumber(0))
				require.Equal(t, 20*time.Second, time.Since(start))
				var e *signforms.Error
				require.ErrorAs(t, err, &e)
				require.True(t, e.Local)
				require.GreaterOrEqual(t, e.RetryAfter, 2*time.Hour)
			})
		}
		calls.Wait()
		require.Equal(t, 5, service.count())
	})
}

// Another process gives a slot back without a word to this one.
func TestWaiterLooksAgainForSlotsOfOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &trips{}, signforms.NewMemoryLimitStore(nil)
		taker := &takenKeys{LimitStore: store}
		documents := budgetClient(t, service, signforms.Options{LimitStore: taker, ReminderMaxWait: -1})
		useUp(t, documents)
		start := time.Now()
		go func() {
			time.Sleep(time.Minute + time.Second)
			store.Settle(t.Context(), taker.key, taker.slot, 0)
		}()
		_, err := documents.Remind(t.Context(), docNumber(1))
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(start), time.Minute+11*time.Second)
	})
}

// takenKeys remembers the last slot that was taken.
type takenKeys struct {
	signforms.LimitStore
	key, slot string
}

func (s *takenKeys) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	slot, wait, err := s.LimitStore.Take(ctx, key, limit, hold)
	if slot != "" {
		s.key, s.slot = key, slot
	}
	return slot, wait, err
}

// oddStore is a store whose methods take their time or fail.
type oddStore struct {
	*signforms.MemoryLimitStore
	beforeTake, beforePeek, beforeSettle func(context.Context) error
	afterTake                            func()
}

func newOddStore() *oddStore {
	none := func(context.Context) error { return nil }
	return &oddStore{signforms.NewMemoryLimitStore(nil), none, none, none, func() {}}
}

func (s *oddStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	if err := s.beforeTake(ctx); err != nil {
		return "", 0, err
	}
	defer s.afterTake()
	return s.MemoryLimitStore.Take(ctx, key, limit, hold)
}

func (s *oddStore) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	if err := s.beforePeek(ctx); err != nil {
		return nil, err
	}
	return s.MemoryLimitStore.Peek(ctx, key, limit)
}

func (s *oddStore) Settle(ctx context.Context, key, slot string, keep time.Duration) error {
	if err := s.beforeSettle(ctx); err != nil {
		return err
	}
	return s.MemoryLimitStore.Settle(ctx, key, slot, keep)
}

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestNoAnswerFromTheStoreNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &trips{}, newOddStore()
		documents := budgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		store.beforeTake = func(context.Context) error { return errors.New("dial tcp 10.0.0.7:6379: connection refused") }
		_, err := documents.Remind(t.Context(), docNumber(0))
		requireLocal(t, err, signforms.ErrUnavailable, 0)
		require.ErrorContains(t, err, "the limit store did not answer, so nothing was sent")

		store.beforeTake, store.beforePeek = hangs, hangs
		start := time.Now()
		_, err = documents.Remind(t.Context(), docNumber(0))
		requireLocal(t, err, signforms.ErrUnavailable, 0)
		require.Equal(t, 3*time.Second, time.Since(start), "a store that hangs")
		_, err = documents.ReminderBudget(t.Context())
		requireLocal(t, err, signforms.ErrUnavailable, 0)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = documents.Remind(ctx, docNumber(0))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 7*time.Second, time.Since(start), "the context ends first")
		require.Zero(t, service.count())
	})
}

// What a process that dies or cannot reach its store leaves behind must cover its request: the attempt, the allowance for
// stragglers, the window and the margin.
func TestSlotThatIsNeverSettledIsHeldLongEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newOddStore()
		store.beforeSettle = hangs
		documents := budgetClient(t, &trips{}, signforms.Options{LimitStore: store, AttemptTimeout: time.Minute})
		for range 5 {
			_, err := documents.Remind(t.Context(), docNumber(0))
			require.NoError(t, err)
		}
		requireBudget(t, documents, signforms.Budget{NextIn: 17*time.Minute + time.Second - 5*3*time.Second})
	})
}

// An attempt ends with the time that its slot was taken for, however slow the store was.
func TestSlowStoreShortensTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newOddStore()
		store.afterTake = func() { time.Sleep(2 * time.Second) }
		service := &trips{answer: func(_ int, req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}}
		documents := budgetClient(t, service, signforms.Options{LimitStore: store})
		start := time.Now()
		_, err := documents.Remind(t.Context(), docNumber(0))
		require.ErrorIs(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 30*time.Second, time.Since(start))
	})
}

func TestContextThatEndsAsTheSlotIsTakenSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &trips{}, newOddStore()
		ctx, cancel := context.WithCancel(t.Context())
		store.afterTake = cancel
		documents := budgetClient(t, service, signforms.Options{LimitStore: store})
		_, err := documents.Remind(ctx, docNumber(0))
		requireLocal(t, err, context.Canceled, 0)
		require.NotErrorIs(t, err, signforms.ErrOutcomeUnknown)
		require.Zero(t, service.count())
		requireBudget(t, documents, signforms.Budget{Remaining: 5})
	})
}
