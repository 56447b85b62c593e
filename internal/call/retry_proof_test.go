package call_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// nobody listens there.
const nobody = "http://127.0.0.1:1"

// TestTransport_partialTrace: the transport reports GetConn, reads the request's body if there is one, and reports no
// further event. This does not prove that it wrote nothing.
func TestTransport_partialTrace(t *testing.T) {
	withoutBody := func(o *signforms.Options) {
		o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpRemind: {Inputs: signforms.InputsQuery}}
	}
	for _, name := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		t.Run(name, func(t *testing.T) {
			attempts := 0
			err := clienttest.CallOf(t, name).Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (_ *http.Response, err error) {
				attempts++
				httptrace.ContextClientTrace(req.Context()).GetConn("api.example.com:443")
				if req.ContentLength > 0 {
					_, err = io.Copy(io.Discard, req.Body)
				}
				return nil, errors.Join(err, errors.New("stream reset"))
			}), withoutBody))
			clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
			require.Equal(t, 1, attempts)
		})
	}
}

// TestTransport_partialTraceAndResponse: an answer, however broken, says that the request arrived.
func TestTransport_partialTraceAndResponse(t *testing.T) {
	for _, name := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		t.Run(name, func(t *testing.T) {
			attempts := 0
			err := clienttest.CallOf(t, name).Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
				attempts++
				httptrace.ContextClientTrace(req.Context()).GetConn("api.example.com:443")
				resp := clienttest.Reply(req, 200, "")
				resp.Body = io.NopCloser(iotest.ErrReader(errors.New("stream reset")))
				return resp, nil
			})))
			clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
			require.Equal(t, 1, attempts)
		})
	}
}

// TestTransport_logsBodies: one that has read the body may have sent it by a way that reports nothing.
func TestTransport_logsBodies(t *testing.T) {
	attempts := 0
	o := clienttest.Options(nil)
	o.Transport = clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		attempts++
		return (&http.Transport{}).RoundTrip(withCopy(req))
	})
	c, err := signforms.New(nobody, clienttest.APIKey, o)
	require.NoError(t, err)
	clienttest.RequireMatches(t, clienttest.CallOf(t, "Templates.Send").Do(t.Context(), c), signforms.ErrOutcomeUnknown)
	require.Equal(t, 1, attempts)
}

// TestTransport_ownTimeout stops an HTTP/2 request by a context that only the transport knows, just before its
// write loop writes: RoundTrip returns first, and the request arrives all the same.
func TestTransport_ownTimeout(t *testing.T) {
	var arrived atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	o := clienttest.Options(nil)
	o.Transport = clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(req.Context())
		returned := make(chan struct{})
		defer close(returned)
		return srv.Client().Transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			WroteHeaderField: func(string, []string) { cancel(); <-returned }, // before the SDK's own hook
		})))
	})
	c, err := signforms.New(srv.URL, clienttest.APIKey, o)
	require.NoError(t, err)
	err = clienttest.CallOf(t, "Templates.Send").Do(t.Context(), c)
	clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, clienttest.AsError(t, err).Attempts)
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

// TestLimitStore_slowerThanAnAttempt: an attempt that has no time left is not made, and gives its slot back.
func TestLimitStore_slowerThanAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clienttest.Scripted(t, clienttest.Silent(t), func(o *signforms.Options) {
			o.LimitStore, o.AttemptTimeout = &slowStore{signforms.NewMemoryLimitStore(nil), 2 * time.Second}, time.Second
		})
		err := clienttest.CallOf(t, "Documents.Remind").Do(t.Context(), c)
		clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
		require.ErrorContains(t, err, "no complete response within Options.AttemptTimeout, 1s")
		budget, err := c.Documents.ReminderBudget(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5, budget.Remaining)
	})
}

// TestTransport_returnsNothing: an error, not a panic, which would be in a goroutine of All.
func TestTransport_returnsNothing(t *testing.T) {
	for _, resp := range []*http.Response{nil, {}} {
		for _, call := range clienttest.Calls {
			err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(*http.Request) (*http.Response, error) { return resp, nil })))
			clienttest.RequireUnreadable(t, call, err, 0)
			require.ErrorContains(t, err, "the Transport returned neither a response with a status nor an error")
		}
	}
}

// TestRequest_sentAgainOnAConnectionOfAnother: HTTP/2 may repeat a request on a connection that was made for another call, and then reports no GetConn.
// HTTP/1.1 would write on its connection, although the context has ended.
func TestRequest_sentAgainOnAConnectionOfAnother(t *testing.T) {
	for _, row := range []struct {
		field    string
		writable bool
	}{{field: ":authority", writable: true}, {field: "Host", writable: false}} {
		t.Run(row.field, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, far := net.Pipe()
				go io.Copy(io.Discard, far)
				err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
					trace := httptrace.ContextClientTrace(req.Context())
					trace.GetConn("api.example.com:443")
					trace.GotConn(httptrace.GotConnInfo{Conn: conn})
					trace.WroteHeaderField(row.field, nil)
					trace.WroteHeaderField("x-request-id", req.Header["X-Request-Id"])
					trace.GotConn(httptrace.GotConnInfo{Conn: conn})
					return nil, req.Context().Err()
				})))
				clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
				require.ErrorContains(t, err, "a second time, and was stopped")
				_, err = conn.Write([]byte{0})
				require.Equal(t, row.writable, err == nil)
				conn.Close()
			})
		})
	}
}
