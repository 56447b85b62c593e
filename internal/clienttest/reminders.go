package clienttest

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

// Cycle is how long a slot is held if the response comes at once.
const Cycle = 15*time.Minute + time.Second

// BudgetClient returns the documents service of a client over a transport, with a separate reminder
// budget.
func BudgetClient(t *testing.T, transport http.RoundTripper, o signforms.Options) *signforms.DocumentsService {
	t.Helper()
	o.Transport = transport
	if o.LimitStore == nil {
		o.LimitStore = signforms.NewMemoryLimitStore(nil)
	}
	client, err := signforms.New("https://api.example.com", "key", &o)
	require.NoError(t, err)
	return client.Documents
}

// UntracedTransport is a transport without trace events. It records the document and the time of each request.
type UntracedTransport struct {
	Answer func(n int, req *http.Request) (*http.Response, error) // makes the response to the n-th request, counted from 0; nil: a success at once

	mu   sync.Mutex
	Docs []string
	At   []time.Time
}

// RoundTrip implements [http.RoundTripper].
func (s *UntracedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	n := len(s.Docs)
	s.Docs, s.At = append(s.Docs, req.URL.Query().Get("documentId")), append(s.At, time.Now())
	s.mu.Unlock()
	if s.Answer != nil {
		return s.Answer(n, req)
	}
	return httpmock.NewStringResponse(http.StatusOK, `{"message":"Reminder sent successfully"}`), nil
}

// Count returns the number of requests so far.
func (s *UntracedTransport) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.Docs)
}

// Answers429 returns a 429 response with this value of Retry-After; an empty value means no header.
func Answers429(retryAfter string) *http.Response {
	resp := httpmock.NewStringResponse(http.StatusTooManyRequests, `{"message":"At most 5 reminders in 15 minutes"}`)
	if retryAfter != "" {
		resp.Header.Set("Retry-After", retryAfter)
	}
	return resp
}

// DocNumber returns a reference to the n-th of many documents.
func DocNumber(n int) signforms.DocumentRef {
	return signforms.PDFDocument(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
}

// DocNumbers returns the references 0 to n-1.
func DocNumbers(n int) []signforms.DocumentRef {
	refs := make([]signforms.DocumentRef, n)
	for i := range refs {
		refs[i] = DocNumber(i)
	}
	return refs
}

// UseUp takes the whole budget with reminders that succeed at once.
func UseUp(t *testing.T, documents *signforms.DocumentsService) {
	t.Helper()
	for range 5 {
		_, err := documents.Remind(t.Context(), DocNumber(0))
		require.NoError(t, err)
	}
}

// RequireBudget checks the remaining reminder budget.
func RequireBudget(t *testing.T, documents *signforms.DocumentsService, want signforms.Budget) {
	t.Helper()
	got, err := documents.ReminderBudget(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// RequireLocal checks an error that the SDK returned before it sent anything.
func RequireLocal(t *testing.T, err error, kind error, retryAfter time.Duration) {
	t.Helper()
	var e *signforms.Error
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, kind)
	require.Zero(t, e.Attempts, "attempts of %v", err)
	require.Equal(t, retryAfter, e.RetryAfter)
}

// OddStore is a store whose methods can be slow or fail.
type OddStore struct {
	*signforms.MemoryLimitStore
	BeforeTake, BeforePeek, BeforeSettle func(context.Context) error
	AfterTake                            func()
}

// NewOddStore returns an OddStore whose hooks do nothing.
func NewOddStore() *OddStore {
	none := func(context.Context) error { return nil }
	return &OddStore{signforms.NewMemoryLimitStore(nil), none, none, none, func() {}}
}

// Take implements [signforms.LimitStore].
func (s *OddStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	if err := s.BeforeTake(ctx); err != nil {
		return "", 0, err
	}
	defer s.AfterTake()
	return s.MemoryLimitStore.Take(ctx, key, limit, hold)
}

// Peek implements [signforms.LimitStore].
func (s *OddStore) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	if err := s.BeforePeek(ctx); err != nil {
		return nil, err
	}
	return s.MemoryLimitStore.Peek(ctx, key, limit)
}

// Settle implements [signforms.LimitStore].
func (s *OddStore) Settle(ctx context.Context, key, slot string, keep time.Duration) error {
	if err := s.BeforeSettle(ctx); err != nil {
		return err
	}
	return s.MemoryLimitStore.Settle(ctx, key, slot, keep)
}

// Hangs waits until ctx ends and returns its error.
func Hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
