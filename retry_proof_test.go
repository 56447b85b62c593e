package signforms_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// TestTransportWithHalfATrace: one that tells of looking for a connection, then reads the request's body and tells nothing
// more, has not proved that it wrote nothing.
func TestTransportWithHalfATrace(t *testing.T) {
	for _, name := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		attempts := 0
		err := callOf(t, name).do(t.Context(), scriptedClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
			attempts++
			httptrace.ContextClientTrace(req.Context()).GetConn("api.example.com:443")
			_, err := io.Copy(io.Discard, req.Body)
			return nil, errors.Join(err, errors.New("stream reset"))
		})))
		requireMatches(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 1, attempts, name)
	}
}

// TestTransportWithHalfATraceThatAnswers: an answer, however broken, says that the request arrived.
func TestTransportWithHalfATraceThatAnswers(t *testing.T) {
	for _, name := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		attempts := 0
		err := callOf(t, name).do(t.Context(), scriptedClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
			attempts++
			httptrace.ContextClientTrace(req.Context()).GetConn("api.example.com:443")
			resp := reply(req, 200, "")
			resp.Body = io.NopCloser(errorReader{errors.New("stream reset")})
			return resp, nil
		})))
		requireMatches(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 1, attempts, name)
	}
}

// TestTransportThatLogsBodies: reading the body before a connection is looked for is not writing it.
func TestTransportThatLogsBodies(t *testing.T) {
	attempts := 0
	err := callOf(t, "Templates.Send").do(t.Context(), scriptedClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
		attempts++
		_, err := io.Copy(io.Discard, req.Body)
		httptrace.ContextClientTrace(req.Context()).GetConn("api.example.com:443")
		return nil, errors.Join(err, errors.New("no route to host"))
	})))
	requireMatches(t, err, signforms.ErrUnavailable)
	require.Equal(t, 4, attempts)
}

// TestTransportWithATimeOutOfItsOwn stops an HTTP/2 request by a context that only the transport knows, just before its
// write loop writes: RoundTrip returns first, and the request arrives all the same.
func TestTransportWithATimeOutOfItsOwn(t *testing.T) {
	var arrived atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	o := testOptions(nil)
	o.HTTPClient = &http.Client{Transport: transportFunc(func(req *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(req.Context())
		returned := make(chan struct{})
		defer close(returned)
		return srv.Client().Transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			WroteHeaderField: func(string, []string) { cancel(); <-returned }, // before the SDK's own hook
		})))
	})}
	c, err := signforms.New(srv.URL, exampleKey, o)
	require.NoError(t, err)
	err = callOf(t, "Templates.Send").do(t.Context(), c)
	requireMatches(t, err, signforms.ErrOutcomeUnknown)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, asError(t, err).Attempts)
	srv.Close()
	require.LessOrEqual(t, arrived.Load(), int64(1))
}

// slowStore gives every slot too late for the attempt that it is for.
type slowStore struct {
	*signforms.MemoryLimitStore
	takes time.Duration
}

func (s *slowStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	time.Sleep(s.takes)
	return s.MemoryLimitStore.Take(ctx, key, limit, hold)
}

// TestStoreSlowerThanAnAttempt: an attempt that has no time left is not made, and gives its slot back.
func TestStoreSlowerThanAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := scriptedClient(t, silent(t), func(o *signforms.Options) {
			o.LimitStore, o.AttemptTimeout = &slowStore{signforms.NewMemoryLimitStore(nil), 2 * time.Second}, time.Second
		})
		err := callOf(t, "Documents.Remind").do(t.Context(), c)
		requireMatches(t, err, signforms.ErrUnavailable)
		require.ErrorContains(t, err, "no complete answer within Options.AttemptTimeout, 1s")
		budget, err := c.Documents.ReminderBudget(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5, budget.Remaining)
	})
}

// TestTransportThatReturnsNothing: an error, not a panic, which would be in a goroutine of All.
func TestTransportThatReturnsNothing(t *testing.T) {
	for _, resp := range []*http.Response{nil, {}} {
		for _, call := range everyCall {
			err := call.do(t.Context(), scriptedClient(t, transportFunc(func(*http.Request) (*http.Response, error) { return resp, nil })))
			requireUnreadable(t, call, err, 0)
			require.ErrorContains(t, err, "the Transport returned neither an answer with a status nor an error")
		}
	}
}
