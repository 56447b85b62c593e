package budget_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &trips{}, signforms.NewMemoryLimitStore(nil)
		clients := []*signforms.DocumentsService{
			budgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1}),
			budgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1}),
		}
		start := time.Now()
		var calls sync.WaitGroup
		for n := range 28 {
			calls.Go(func() {
				_, err := clients[n%2].Remind(t.Context(), docNumber(n))
				require.NoError(t, err)
			})
			time.Sleep(time.Second) // so that slots free one by one
		}
		calls.Wait()
		for n := range 28 {
			require.Equal(t, docNumber(n), signforms.PDFDocument(service.docs[n]), "request %d", n)
			require.Equal(t, time.Duration(n/5)*cycle+time.Duration(n%5)*time.Second, service.at[n].Sub(start), "request %d", n)
		}
	})
}

// Five slots that free at one moment are used at that moment: nobody waits for the answer of the one before.
func TestEachInLineIsWokenByTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &trips{answer: func(int, *http.Request) (*http.Response, error) {
			time.Sleep(9 * time.Second)
			return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
		}}
		documents := budgetClient(t, service, signforms.Options{ReminderMaxWait: -1})
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for n := range 20 {
			calls.Go(func() {
				ctx := ctx
				if n < 5 || n >= 10 {
					ctx = t.Context()
				}
				documents.Remind(ctx, docNumber(n))
			})
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		cancel() // of the next five, so that those behind come a whole cycle earlier than it seemed
		calls.Wait()
		for n := range 15 {
			require.Equal(t, time.Duration(n/5)*(cycle+9*time.Second), service.at[n].Sub(start), "request %d", n)
		}
	})
}

func TestCancelledWaiterFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &trips{}
		documents := budgetClient(t, service, signforms.Options{ReminderMaxWait: -1})
		start := time.Now()
		cancels := make([]context.CancelFunc, 17)
		var calls sync.WaitGroup
		for n := range cancels {
			var ctx context.Context
			ctx, cancels[n] = context.WithCancel(t.Context())
			calls.Go(func() {
				_, err := documents.Remind(ctx, docNumber(n))
				require.Equal(t, n == 5 || n == 6 || n == 11, errors.Is(err, context.Canceled), "call %d: %v", n, err)
				require.NotErrorIs(t, err, signforms.ErrOutcomeUnknown)
			})
			time.Sleep(time.Second) // so that slots free one by one
		}
		for _, n := range []int{5, 11, 6} { // the first in line twice, and one in the middle
			cancels[n]()
			synctest.Wait()
		}
		calls.Wait()
		require.Equal(t, 14, service.count())
		for i, n := range []int{0, 1, 2, 3, 4, 7, 8, 9, 10, 12, 13, 14, 15, 16} {
			require.Equal(t, docNumber(n), signforms.PDFDocument(service.docs[i]))
			require.Equal(t, time.Duration(i/5)*cycle+time.Duration(i%5)*time.Second, service.at[i].Sub(start), "request %d", i)
			cancels[n]()
		}
	})
}

// A slot that is given back goes to the next in line at once, not when that one would have looked again.
func TestSlotGivenBackWakesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var dialled []time.Duration
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			mu.Lock()
			dialled = append(dialled, time.Since(start))
			mu.Unlock()
			time.Sleep(17 * time.Second)
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
		store := signforms.NewMemoryLimitStore(nil)
		documents := budgetClient(t, service, signforms.Options{LimitStore: store, MaxAttempts: 1, ReminderMaxWait: time.Hour})
		unhurried := budgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		start := time.Now()
		for range 4 {
			documents.Remind(t.Context(), docNumber(0))
		}
		var calls sync.WaitGroup
		calls.Go(func() { documents.Remind(t.Context(), docNumber(0)) })
		synctest.Wait()
		patient, cancel := context.WithCancel(t.Context())
		calls.Go(func() { unhurried.Remind(patient, docNumber(0)) }) // stays the first in line
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
		time.Sleep(time.Minute)
		cancel()
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

// One that comes and sees a slot which another process gave back tells the first, which sleeps.
func TestOneThatComesWakesTheFirstForASlotOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &trips{}, signforms.NewMemoryLimitStore(nil)
		taker := &takenKeys{LimitStore: store}
		patient := budgetClient(t, service, signforms.Options{LimitStore: taker, ReminderMaxWait: -1})
		hasty := budgetClient(t, service, signforms.Options{LimitStore: taker})
		useUp(t, patient)
		start := time.Now()
		var calls sync.WaitGroup
		calls.Go(func() { patient.Remind(t.Context(), docNumber(0)) })
		time.Sleep(time.Second)
		store.Settle(t.Context(), taker.key, taker.slot, 0)
		_, err := hasty.Remind(t.Context(), docNumber(1))
		require.ErrorIs(t, err, signforms.ErrRateLimited, "the slot is for the first")
		calls.Wait()
		require.Equal(t, time.Second, time.Since(start))
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
		require.Equal(t, 7*time.Second+grace, time.Since(start), "the context ends first")
		require.Zero(t, service.count())
		time.Sleep(2 * time.Second) // until the store was given up
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

// The one before may take its slot before, while or after the store is asked for one behind: it must not count twice.
func TestOneAheadIsNotCountedTwice(t *testing.T) {
	second := func(context.Context) error { time.Sleep(time.Second); return nil }
	for name, slow := range map[string]func(*oddStore){
		"before": func(s *oddStore) { s.afterTake = func() { time.Sleep(time.Second) } },
		"while": func(s *oddStore) {
			s.beforeTake = second
			s.beforePeek = func(context.Context) error { time.Sleep(2 * time.Second); return nil }
		},
		"after": func(s *oddStore) { s.beforeTake = second },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newOddStore()
				documents := budgetClient(t, &trips{}, signforms.Options{LimitStore: store})
				for range 3 {
					documents.Remind(t.Context(), docNumber(0))
				}
				slow(store)
				var calls sync.WaitGroup
				for range 2 {
					calls.Go(func() {
						_, err := documents.Remind(t.Context(), docNumber(0))
						require.NoError(t, err, "there were slots for both")
					})
					synctest.Wait()
				}
				calls.Wait()
			})
		})
	}
}

// A slot that the first gets after it had to wait does not count twice either.
func TestOneThatHadToWaitIsNotCountedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, start := newOddStore(), time.Now()
		store.afterTake = func() {
			if time.Since(start) >= cycle {
				time.Sleep(2 * time.Second)
			}
		}
		patient := budgetClient(t, &trips{}, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		hasty := budgetClient(t, &trips{}, signforms.Options{LimitStore: store})
		for n := range 5 {
			if n == 2 {
				time.Sleep(time.Minute)
			}
			patient.Remind(t.Context(), docNumber(0))
		}
		var calls sync.WaitGroup
		calls.Go(func() { patient.Remind(t.Context(), docNumber(0)) })
		time.Sleep(cycle - time.Minute + time.Second) // two slots are free, and the first is about to get one
		_, err := hasty.Remind(t.Context(), docNumber(0))
		require.NoError(t, err)
		calls.Wait()
	})
}

// One behind the first that comes while the store is being asked is refused at once if even without the first there is no slot.
func TestOneBehindIsRefusedAsSoonAsThatIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newOddStore()
		patient := budgetClient(t, &trips{}, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		hasty := budgetClient(t, &trips{}, signforms.Options{LimitStore: store})
		useUp(t, patient)
		store.beforeTake = func(context.Context) error { time.Sleep(2 * time.Second); return nil }
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() { patient.Remind(ctx, docNumber(0)) })
		synctest.Wait()
		for range 3 {
			calls.Go(func() {
				_, err := hasty.Remind(t.Context(), docNumber(0))
				require.ErrorIs(t, err, signforms.ErrRateLimited)
				require.Zero(t, time.Since(start))
			})
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		cancel()
		calls.Wait()
		time.Sleep(3 * time.Second) // until the store has answered
	})
}

// movedStore is a store whose clock can be moved, and which tells so.
type movedStore struct {
	*signforms.MemoryLimitStore
	by      atomic.Int64
	changed atomic.Pointer[chan struct{}]
}

func newMovedStore() *movedStore {
	s := &movedStore{}
	s.MemoryLimitStore = signforms.NewMemoryLimitStore(func() time.Time { return time.Now().Add(time.Duration(s.by.Load())) })
	s.changed.Store(new(make(chan struct{})))
	return s
}

func (s *movedStore) Changed() <-chan struct{} { return *s.changed.Load() }

func (s *movedStore) move(by time.Duration) {
	s.by.Add(int64(by))
	close(*s.changed.Swap(new(make(chan struct{}))))
}

func TestWaitEndsWhenTheClockOfTheStoreIsMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMovedStore()
		documents := budgetClient(t, &trips{}, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		useUp(t, documents)
		start := time.Now()
		var calls sync.WaitGroup
		for range 6 {
			calls.Go(func() {
				_, err := documents.Remind(t.Context(), docNumber(0))
				require.NoError(t, err)
			})
		}
		for range 2 {
			synctest.Wait()
			store.move(cycle)
		}
		calls.Wait()
		require.Zero(t, time.Since(start))
	})
}
