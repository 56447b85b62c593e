package signforms_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/limitstoretest"
)

// defaultStoreClient returns the documents of a client on the default store.
func defaultStoreClient(t *testing.T, baseURL, key string, transport http.RoundTripper) *signforms.DocumentsService {
	t.Helper()
	client, err := signforms.New(baseURL, key, &signforms.Options{Transport: transport})
	require.NoError(t, err)
	return client.Documents
}

// newKey returns an API key that no other test, nor an earlier run of this one, has used with the default store.
func newKey() string { return fmt.Sprintf("key-%x", rand.Uint64()) }

func TestReminderBudget_sharedByBaseURLAndKey(t *testing.T) {
	key := newKey()
	service := &clienttest.UntracedTransport{}
	first := defaultStoreClient(t, "https://api.example.com/v1", key, service)
	clienttest.UseUp(t, first)
	for _, same := range []string{"https://api.example.com/v1/", "HTTPS://API.example.com:443/v1", "https://api.example.com./v1"} {
		t.Run(same, func(t *testing.T) {
			got, err := defaultStoreClient(t, same, key, service).ReminderBudget(t.Context())
			require.NoError(t, err)
			require.Zero(t, got.Remaining)
		})
	}
	for _, other := range [][2]string{
		{"https://api.example.com/v1", newKey()}, {"https://api.example.com/V1", key}, {"https://api.example.com", key},
		{"https://api.example.com:8443/v1", key}, {"https://other.example.com/v1", key},
	} {
		t.Run(fmt.Sprint(other), func(t *testing.T) {
			got, err := defaultStoreClient(t, other[0], other[1], service).ReminderBudget(t.Context())
			require.NoError(t, err)
			require.Equal(t, 5, got.Remaining, "budget left at %s", other[0])
		})
	}
}

func TestReminderBudget_insideAndOutsideBubbles(t *testing.T) {
	key := newKey()
	outside := defaultStoreClient(t, "https://api.example.com", key, &clienttest.UntracedTransport{})
	clienttest.UseUp(t, outside)
	var bubbles sync.WaitGroup
	for range 2 {
		bubbles.Go(func() {
			synctest.Test(t, func(t *testing.T) {
				store := &signforms.MemoryLimitStore{}
				client, err := signforms.New("https://api.example.com", key, &signforms.Options{
					LimitStore: store, ReminderMaxWait: -1, Transport: &clienttest.UntracedTransport{},
				})
				assert.NoError(t, err)
				var calls sync.WaitGroup
				for range 50 {
					calls.Go(func() {
						_, err := client.Documents.Remind(t.Context(), clienttest.DocNumber(0))
						assert.NoError(t, err)
					})
				}
				start := time.Now()
				calls.Wait()
				assert.Equal(t, 9*clienttest.Cycle, time.Since(start))
			})
		})
	}
	for range 20 {
		_, err := outside.Remind(t.Context(), clienttest.DocNumber(0))
		require.ErrorIs(t, err, signforms.ErrRateLimited)
	}
	bubbles.Wait()
}

// keysSeen remembers the keys that a store was asked for.
type keysSeen struct {
	*signforms.MemoryLimitStore
	keys []string
}

func (s *keysSeen) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	s.keys = append(s.keys, key)
	return s.MemoryLimitStore.Peek(ctx, key, limit)
}

func TestLimitStore_getsAHashOfTheKey(t *testing.T) {
	store := &keysSeen{MemoryLimitStore: signforms.NewMemoryLimitStore(nil)}
	for _, apiKey := range []string{"secret-api-key", "secret-api-kez"} {
		client, err := signforms.New("https://api.example.com", apiKey, &signforms.Options{LimitStore: store})
		require.NoError(t, err)
		_, err = client.Documents.ReminderBudget(t.Context())
		require.NoError(t, err)
	}
	require.Regexp(t, "^[0-9a-f]{64}$", store.keys[0])
	require.NotContains(t, store.keys[0], "secret")
	require.NotEqual(t, store.keys[0], store.keys[1])
}

func TestMemoryLimitStore(t *testing.T) {
	limitstoretest.Run(t, func(*testing.T) (signforms.LimitStore, func(time.Duration)) {
		var passed time.Duration
		store := signforms.NewMemoryLimitStore(func() time.Time { return time.Now().Add(passed) })
		return store, func(d time.Duration) { passed += d }
	})
}

// lowerLimit is a store for a service that accepts two reminders in 15 minutes.
type lowerLimit struct{ *signforms.MemoryLimitStore }

func (s lowerLimit) Take(ctx context.Context, key string, _ int, hold time.Duration) (string, time.Duration, error) {
	return s.MemoryLimitStore.Take(ctx, key, 2, hold)
}

func (s lowerLimit) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	waits, err := s.MemoryLimitStore.Peek(ctx, key, 2)
	for i := 0; err == nil && len(waits) < limit; i++ {
		waits = append(waits, waits[i]+clienttest.Cycle)
	}
	return waits, err
}

func TestLimitStore_lowerLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &lowerLimit{signforms.NewMemoryLimitStore(nil)}
		documents := clienttest.BudgetClient(t, &clienttest.UntracedTransport{}, signforms.Options{LimitStore: store, ReminderMaxWait: -1})
		clienttest.RequireBudget(t, documents, signforms.Budget{Remaining: 2})
		start := time.Now()
		var calls sync.WaitGroup
		for range 6 {
			calls.Go(func() {
				_, err := documents.Remind(t.Context(), clienttest.DocNumber(0))
				assert.NoError(t, err)
			})
		}
		calls.Wait()
		require.Equal(t, 2*clienttest.Cycle, time.Since(start))
		clienttest.RequireBudget(t, documents, signforms.Budget{NextIn: clienttest.Cycle})
	})
}
