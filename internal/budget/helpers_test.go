package budget_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

const cycle = 15*time.Minute + time.Second // of a slot that is answered at once

// budgetClient returns the documents of a client with a reminder budget of its own, over a transport.
func budgetClient(t *testing.T, transport http.RoundTripper, o signforms.Options) *signforms.DocumentsService {
	t.Helper()
	o.HTTPClient = &http.Client{Transport: transport}
	if o.LimitStore == nil {
		o.LimitStore = signforms.NewMemoryLimitStore(nil)
	}
	client, err := signforms.New("https://api.example.com", "key", &o)
	require.NoError(t, err)
	return client.Documents
}

// trips is a transport without trace events. It keeps which document each request was about, and when.
type trips struct {
	answer func(n int, req *http.Request) (*http.Response, error) // n counts from 0; nil: a success at once

	mu   sync.Mutex
	docs []string
	at   []time.Time
}

func (s *trips) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	n := len(s.docs)
	s.docs, s.at = append(s.docs, req.URL.Query().Get("documentId")), append(s.at, time.Now())
	s.mu.Unlock()
	if s.answer != nil {
		return s.answer(n, req)
	}
	return httpmock.NewStringResponse(http.StatusOK, `{"message":"Reminder sent successfully"}`), nil
}

func (s *trips) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.docs)
}

// answers429 returns a 429 whose Retry-After has this value; empty is none.
func answers429(retryAfter string) *http.Response {
	resp := httpmock.NewStringResponse(http.StatusTooManyRequests, `{"message":"At most 5 reminders in 15 minutes"}`)
	if retryAfter != "" {
		resp.Header.Set("Retry-After", retryAfter)
	}
	return resp
}

func docNumber(n int) signforms.DocumentRef {
	return signforms.PDFDocument(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
}

// useUp takes the whole budget with reminders that succeed at once.
func useUp(t *testing.T, documents *signforms.DocumentsService) {
	t.Helper()
	for range 5 {
		_, err := documents.Remind(t.Context(), docNumber(0))
		require.NoError(t, err)
	}
}

func requireBudget(t *testing.T, documents *signforms.DocumentsService, want signforms.Budget) {
	t.Helper()
	got, err := documents.ReminderBudget(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// requireLocal checks an error that the SDK made before anything was sent.
func requireLocal(t *testing.T, err error, kind error, retryAfter time.Duration) {
	t.Helper()
	var e *signforms.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, kind)
	require.True(t, e.Local, "Local of %v", err)
	require.Zero(t, e.Attempts)
	require.Equal(t, retryAfter, e.RetryAfter)
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
