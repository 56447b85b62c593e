package reminderlimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// grace is how long a call waits for its store once its context has ended, at most twice.
const grace = 100 * time.Millisecond

// A call that gives up while the store takes its time has sent nothing, and leaves no slot taken.
func TestBudget_unchangedByAbandonedTakes(t *testing.T) {
	for _, delay := range []time.Duration{80 * time.Millisecond, time.Second, 2900 * time.Millisecond} {
		for _, row := range []struct {
			name string
			slow func(*clienttest.OddStore)
		}{
			{name: "before", slow: func(s *clienttest.OddStore) {
				s.BeforeTake = func(context.Context) error { time.Sleep(delay); return nil }
			}},
			{name: "after", slow: func(s *clienttest.OddStore) { s.AfterTake = func() { time.Sleep(delay) } }},
		} {
			t.Run(fmt.Sprintf("%v %s", delay, row.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					service, store := &clienttest.UntracedTransport{}, clienttest.NewOddStore()
					row.slow(store)
					documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
					for range 5 {
						ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
						start := time.Now()
						_, err := documents.Remind(ctx, clienttest.DocNumber(0))
						require.ErrorIs(t, err, context.DeadlineExceeded)
						clienttest.RequireLocal(t, err, context.DeadlineExceeded, 0)
						require.LessOrEqual(t, time.Since(start), 50*time.Millisecond+2*grace)
						cancel()
					}
					time.Sleep(5 * delay)
					clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
					require.Zero(t, service.Count())
				})
			})
		}
	}
}

// lossyStore takes a slot and says that it did not.
type lossyStore struct{ *signforms.MemoryLimitStore }

func (s *lossyStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	_, _, _ = s.MemoryLimitStore.Take(ctx, key, limit, hold)
	return "", 0, errors.New("connection lost")
}

// If the store's reply is lost, its slot is held as long as a process that died would hold it.
func TestSlot_heldAfterALostReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: &lossyStore{signforms.NewMemoryLimitStore(nil)}})
		_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
		clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
		time.Sleep(16*time.Minute + 31*time.Second - 1)
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 4})
		time.Sleep(time.Nanosecond)
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
	})
}

// A call whose context ends does not wait until a slow store has heard what became of its slot. The store hears it all the
// same.
func TestSettle_endsWithTheContext(t *testing.T) {
	for _, delay := range []time.Duration{50 * time.Millisecond, 2 * time.Second} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				service, store := &clienttest.UntracedTransport{Answer: func(_ int, req *http.Request) (*http.Response, error) {
					cancel()
					return nil, req.Context().Err()
				}}, clienttest.NewOddStore()
				store.BeforeSettle = func(ctx context.Context) error { time.Sleep(delay); return ctx.Err() }
				documents := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store})
				start := time.Now()
				_, err := documents.Remind(ctx, clienttest.DocNumber(0))
				require.ErrorIs(t, err, context.Canceled)
				require.Equal(t, min(delay, grace), time.Since(start))
				time.Sleep(clienttest.Cycle + time.Minute + delay)
				clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 5})
			})
		})
	}
}

// A panic of a store is an error of the store. After the request went out, it loses nothing of the outcome.
func TestStore_panics(t *testing.T) {
	store := clienttest.NewOddStore()
	store.BeforeTake = func(context.Context) error { panic("in the store") }
	documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store})
	_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
	clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
	require.ErrorContains(t, err, "a method panicked: in the store")

	store, attempts := clienttest.NewOddStore(), 0
	store.BeforeSettle = func(context.Context) error { panic("in the store") }
	documents = clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store, OnAttempt: func(context.Context, signforms.Attempt) { attempts++ }})
	_, err = documents.Remind(t.Context(), clienttest.DocNumber(0))
	require.NoError(t, err)
	require.Equal(t, 1, attempts)
}

// An error of the store may wrap one of our sentinels. The reminder was not sent, so the call's error does not match it.
func TestStore_errorMatchesNoSentinel(t *testing.T) {
	for _, own := range []error{signforms.ErrOutcomeUnknown, (*signforms.Error)(nil), (*unreadable)(nil), &signforms.Error{StatusCode: 403}, fmt.Errorf("store: %w", signforms.ErrForbidden)} {
		t.Run(fmt.Sprint(own), func(t *testing.T) {
			store := clienttest.NewOddStore()
			store.BeforeTake = func(context.Context) error { return own }
			documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store})
			_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
			clienttest.RequireLocal(t, err, signforms.ErrUnavailable, time.Second)
			clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
		})
	}
}

// unreadable is an error that a nil pointer cannot say.
type unreadable struct{ code int }

func (e *unreadable) Error() string { return strconv.Itoa(e.code) }

// negativeStore has waits below 0, as one that subtracts times may.
type negativeStore struct{ *signforms.MemoryLimitStore }

func (s *negativeStore) Peek(context.Context, string, int) ([]time.Duration, error) {
	return []time.Duration{-time.Hour, -2, -1, 0, time.Minute}, nil
}

func TestStore_negativeWait(t *testing.T) {
	documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: &negativeStore{signforms.NewMemoryLimitStore(nil)}})
	clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 4})
}
