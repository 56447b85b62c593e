package reminderlimit_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/internal/reminderlimit"
)

func TestWaiters_firstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &clienttest.UntracedTransport{}, signforms.NewMemoryLimitStore(nil)
		clients := []*signforms.DocumentsService{
			clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1}),
			clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1}),
		}
		start := time.Now()
		var calls sync.WaitGroup
		for n := range 28 {
			calls.Go(func() {
				_, err := clients[n%2].Remind(t.Context(), clienttest.DocNumber(n))
				assert.NoError(t, err)
			})
			time.Sleep(time.Second) // so that slots free one by one
		}
		calls.Wait()
		for n := range 28 {
			require.Equal(t, clienttest.DocNumber(n), signforms.PDFDocument(service.Docs[n]), "request %d", n)
			require.Equal(t, time.Duration(n/5)*clienttest.Cycle+time.Duration(n%5)*time.Second, service.At[n].Sub(start), "request %d", n)
		}
	})
}

// Five slots that free at one moment are used at that moment: nobody waits for the answer of the one before.
func TestWaiters_eachWakesTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(int, *http.Request) (*http.Response, error) {
			time.Sleep(9 * time.Second)
			return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
		}}
		documents := clienttest.BudgetClient(t, service, signforms.Options{ReminderMaxWait: -1})
		start := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for n := range 20 {
			calls.Go(func() {
				ctx := ctx
				if n < 5 || n >= 10 {
					ctx = t.Context()
				}
				documents.Remind(ctx, clienttest.DocNumber(n))
			})
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		cancel() // of the next five, so that those behind come a whole clienttest.Cycle earlier than it seemed
		calls.Wait()
		for n := range 15 {
			require.Equal(t, time.Duration(n/5)*(clienttest.Cycle+9*time.Second), service.At[n].Sub(start), "request %d", n)
		}
	})
}

func TestWaiters_cancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{}
		documents := clienttest.BudgetClient(t, service, signforms.Options{ReminderMaxWait: -1})
		start := time.Now()
		cancels := make([]context.CancelFunc, 17)
		var calls sync.WaitGroup
		for n := range cancels {
			var ctx context.Context
			ctx, cancels[n] = context.WithCancel(t.Context())
			calls.Go(func() {
				_, err := documents.Remind(ctx, clienttest.DocNumber(n))
				assert.Equal(t, n == 5 || n == 6 || n == 11, errors.Is(err, context.Canceled), "call %d: %v", n, err)
				assert.NotErrorIs(t, err, signforms.ErrOutcomeUnknown)
			})
			time.Sleep(time.Second) // so that slots free one by one
		}
		for _, n := range []int{5, 11, 6} { // the first waiter twice, and one in the middle
			cancels[n]()
			synctest.Wait()
		}
		calls.Wait()
		require.Equal(t, 14, service.Count())
		for i, n := range []int{0, 1, 2, 3, 4, 7, 8, 9, 10, 12, 13, 14, 15, 16} {
			require.Equal(t, clienttest.DocNumber(n), signforms.PDFDocument(service.Docs[i]))
			require.Equal(t, time.Duration(i/5)*clienttest.Cycle+time.Duration(i%5)*time.Second, service.At[i].Sub(start), "request %d", i)
			cancels[n]()
		}
	})
}

// A slot that is given back goes to the next waiter at once, not when that one would have looked again.
func TestSlot_returnedWakesTheNextWaiter(t *testing.T) {
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
		documents := clienttest.BudgetClient(t, transport, signforms.Options{MaxAttempts: 1, ReminderMaxWait: -1})
		var calls sync.WaitGroup
		for range 13 {
			calls.Go(func() {
				_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
				assert.ErrorIs(t, err, signforms.ErrUnavailable)
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

func TestWaiters_failedBy429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &clienttest.UntracedTransport{Answer: func(n int, _ *http.Request) (*http.Response, error) {
			if n == 4 {
				time.Sleep(20 * time.Second)
				return clienttest.Answers429("7200"), nil
			}
			return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
		}}
		store := signforms.NewMemoryLimitStore(nil)
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, MaxAttempts: 1, ReminderMaxWait: time.Hour})
		unhurried := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		start := time.Now()
		for range 4 {
			documents.Remind(t.Context(), clienttest.DocNumber(0))
		}
		var calls sync.WaitGroup
		calls.Go(func() { documents.Remind(t.Context(), clienttest.DocNumber(0)) })
		synctest.Wait()
		patient, cancel := context.WithCancel(t.Context())
		calls.Go(func() { unhurried.Remind(patient, clienttest.DocNumber(0)) }) // stays the first in line
		synctest.Wait()
		for range 7 {
			calls.Go(func() {
				_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
				assert.Equal(t, 20*time.Second, time.Since(start))
				var e *signforms.Error
				if assert.ErrorAs(t, err, &e) {
					assert.Zero(t, e.Attempts)
					assert.GreaterOrEqual(t, e.RetryAfter, 2*time.Hour)
				}
			})
		}
		time.Sleep(time.Minute)
		cancel()
		calls.Wait()
		require.Equal(t, 5, service.Count())
	})
}

// Another process gives a slot back without a word to this one.
func TestWaiters_askAgainForSlotsOfOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &clienttest.UntracedTransport{}, signforms.NewMemoryLimitStore(nil)
		taker := &takenKeys{LimitStore: store}
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: taker, ReminderMaxWait: -1})
		clienttest.UseUp(t, documents)
		start := time.Now()
		go func() {
			time.Sleep(time.Minute + time.Second)
			store.Settle(t.Context(), taker.key, taker.slot, 0)
		}()
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(1))
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

func TestStore_noReplyNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &clienttest.UntracedTransport{}, clienttest.NewOddStore()
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		store.BeforeTake = func(context.Context) error { return errors.New("dial tcp 10.0.0.7:6379: connection refused") }
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
		require.ErrorContains(t, err, "nothing was sent, because the limit store did not respond")
		store.BeforeTake = func(context.Context) error { return errors.New(strings.Repeat("long ", 100)) }
		_, err = documents.Remind(t.Context(), clienttest.DocNumber(0))
		require.LessOrEqual(t, len(clienttest.AsError(t, err).Message), 200)

		store.BeforeTake, store.BeforePeek = clienttest.Hangs, clienttest.Hangs
		start := time.Now()
		_, err = documents.Remind(t.Context(), clienttest.DocNumber(0))
		clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
		require.Equal(t, 3*time.Second, time.Since(start), "a store that clienttest.Hangs")
		_, err = documents.ReminderBudget(t.Context())
		clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = documents.Remind(ctx, clienttest.DocNumber(0))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 7*time.Second+grace, time.Since(start), "the context ends first")
		require.Zero(t, service.Count())
		time.Sleep(2 * time.Second) // until the store was given up
	})
}

// The slot of a process that dies or cannot reach its store must cover its request: the attempt, the allowance for
// stragglers, the window and the margin.
func TestSlot_neverSettledIsHeldLongEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := clienttest.NewOddStore()
		store.BeforeSettle = clienttest.Hangs
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store, AttemptTimeout: time.Minute})
		for range 5 {
			_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
			require.NoError(t, err)
		}
		clienttest.RequireBudget(t, documents, signforms.Budget{NextIn: 17*time.Minute + time.Second - 5*3*time.Second})
	})
}

// An attempt ends with the time that its slot was taken for, however slow the store was.
func TestStore_slowShortensTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := clienttest.NewOddStore()
		store.AfterTake = func() { time.Sleep(2 * time.Second) }
		service := &clienttest.UntracedTransport{Answer: func(_ int, req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}}
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store})
		start := time.Now()
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		require.ErrorIs(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 30*time.Second, time.Since(start))
	})
}

func TestTake_contextEndsAsTheSlotIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, store := &clienttest.UntracedTransport{}, clienttest.NewOddStore()
		ctx, cancel := context.WithCancel(t.Context())
		store.AfterTake = cancel
		documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store})
		_, err := documents.Remind(ctx, clienttest.DocNumber(0))
		clienttest.RequireLocal(t, err, context.Canceled, 0)
		require.NotErrorIs(t, err, signforms.ErrOutcomeUnknown)
		require.Zero(t, service.Count())
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
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

func TestStore_clockIsMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMovedStore()
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		clienttest.UseUp(t, documents)
		start := time.Now()
		var calls sync.WaitGroup
		for range 6 {
			calls.Go(func() {
				_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
				assert.NoError(t, err)
			})
		}
		for range 2 {
			synctest.Wait()
			store.move(clienttest.Cycle)
		}
		calls.Wait()
		require.Zero(t, time.Since(start))
	})
}

// delayedStore takes its time to give a slot.
type delayedStore struct {
	*signforms.MemoryLimitStore
	delay atomic.Int64 // a time.Duration
}

func (s *delayedStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	time.Sleep(time.Duration(s.delay.Load()))
	return s.MemoryLimitStore.Take(ctx, key, limit, hold)
}

// A caller may join while the new first waiter asks the store. It is not refused for the wait that the store returned to the
// previous first waiter.
func TestWaiters_newFirstAsksTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &delayedStore{MemoryLimitStore: signforms.NewMemoryLimitStore(nil)}
		budget := reminderlimit.New(reminderlimit.NewLines(), store, "key", time.Second)
		var slots []string
		for range reminderlimit.Limit {
			slot, _, err := store.Take(t.Context(), "key", reminderlimit.Limit, time.Hour)
			require.NoError(t, err)
			slots = append(slots, slot)
		}
		join := func(maxWait time.Duration) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := budget.Take(t.Context(), maxWait, 0)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		callers := []<-chan error{join(-1), join(-1)}
		store.delay.Store(int64(2 * time.Second))
		for _, slot := range slots[:3] { // by another process
			require.NoError(t, store.Settle(t.Context(), "key", slot, 0))
		}
		require.NoError(t, <-callers[0])
		synctest.Wait()
		callers = append(callers, join(5*time.Second))
		require.NoError(t, <-callers[1])
		require.NoError(t, <-callers[2])
	})
}
