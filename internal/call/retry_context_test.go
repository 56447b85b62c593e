package call_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestContext_ends ends a call's context in each of its phases, after five seconds, by cancelling it and by its deadline.
func TestContext_ends(t *testing.T) {
	const half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"mess"
	phases := []failure{
		{name: "dialling", dial: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			reads: cell{0, 1, 0, signforms.ErrUnavailable}, sends: cell{0, 1, 0, signforms.ErrUnavailable}},
		{name: "TLS handshake", scheme: "https", behave: func(_ *wireService, c net.Conn) { io.Copy(io.Discard, c) },
			reads: cell{0, 1, 0, signforms.ErrUnavailable}, sends: cell{0, 1, 0, signforms.ErrUnavailable}},
		{name: "writing", behave: func(s *wireService, _ net.Conn) { <-s.done }, // reads nothing
			reads: cell{0, 1, 0, signforms.ErrUnavailable}, sends: cell{0, 1, 0, signforms.ErrOutcomeUnknown}},
		{name: "waiting for the answer", behave: silentAfter(""), reads: cell{1, 1, 0, signforms.ErrUnavailable}, sends: onceUnknown},
		{name: "reading the answer", behave: silentAfter(half), reads: cell{1, 1, 200, signforms.ErrUnavailable}, sends: onceUnknown.with(200)},
		{name: "reading an error", behave: silentAfter("HTTP/1.1 404 X\r\nContent-Length: 100\r\n\r\n{half"),
			reads: cell{1, 1, 404, signforms.ErrNotFound}, sends: cell{1, 1, 404, signforms.ErrNotFound}},
		{name: "waiting to retry", behave: answer(429, "Retry-After: 20\r\n", "later"),
			reads: cell{1, 1, 429, signforms.ErrRateLimited}, sends: cell{1, 1, 429, signforms.ErrRateLimited}},
	}
	for _, f := range phases {
		for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
			if f.name == "waiting to retry" && cause == context.DeadlineExceeded {
				continue // a wait that outlasts the deadline does not begin
			}
			for _, call := range clienttest.Calls {
				t.Run(fmt.Sprintf("%s/%v/%s", f.name, cause, call.Name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { f.end(t, call, cause) })
				})
			}
		}
	}
}

// TestTransport_hidesTheEndOfTheContext: the caller learns why it ended, whatever the transport says.
func TestTransport_hidesTheEndOfTheContext(t *testing.T) {
	for _, call := range clienttest.Calls {
		ctx, cancel := context.WithCancel(t.Context())
		var attempt error
		c := clienttest.Scripted(t, clienttest.Transport(func(*http.Request) (*http.Response, error) {
			cancel()
			return nil, syscall.ECONNRESET
		}), func(o *signforms.Options) {
			o.OnAttempt = func(_ context.Context, a signforms.Attempt) { attempt = a.Err }
		})
		err := call.Do(ctx, c)
		for _, err := range []error{err, attempt} {
			t.Run(fmt.Sprint(err), func(t *testing.T) {
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, syscall.ECONNRESET)
				require.Equal(t, "context canceled", clienttest.AsError(t, err).Message)
			})
		}
	}
}

func (f failure) end(t *testing.T, call clienttest.Call, cause error) {
	s, change := f.service()
	c := s.client(t, map[string]string{"": "http", "https": "https"}[f.scheme], change, func(_ *http.Transport, o *signforms.Options) {
		o.ReminderMaxWait = -1
	})
	ctx, cancel := context.WithCancel(t.Context())
	if cause == context.DeadlineExceeded {
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
	} else {
		time.AfterFunc(5*time.Second, cancel)
	}
	defer cancel()
	start := time.Now()
	err := call.Do(ctx, c)
	require.Equal(t, 5*time.Second, time.Since(start), "it ends with its context")
	want, e := f.want(call), clienttest.AsError(t, err)
	require.Equal(t, want.attempts, e.Attempts)
	require.Equal(t, want.status, e.StatusCode)
	require.Len(t, s.requests(), want.seen)
	clienttest.RequireMatches(t, err, want.kind)
	if want.status != 404 { // that one was told all it needs
		require.ErrorIs(t, err, cause)
	}
	if want.status == 0 {
		require.Contains(t, err.Error(), cause.Error())
	}
}

func TestContext_alreadyEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range clienttest.Calls {
		err := call.Do(ctx, clienttest.Scripted(t, clienttest.Silent(t)))
		require.ErrorIs(t, err, context.Canceled)
		clienttest.RequireMatches(t, err)
		e := clienttest.AsError(t, err)
		require.Zero(t, e.Attempts)
		require.Zero(t, e.Attempts)
		require.EqualError(t, err, call.Says+": nothing was sent: context canceled")
	}
}

func TestContext_nil(t *testing.T) {
	var none context.Context
	for _, call := range clienttest.Calls {
		err := call.Do(none, clienttest.Scripted(t, clienttest.Silent(t)))
		require.EqualError(t, err, call.Says+": invalid input: net/http: nil Context")
		clienttest.RequireMatches(t, err, signforms.ErrInvalid)
	}
}

// TestTransport_withoutTrace: an error that looks like one of dialling proves nothing when the transport does not report
// what it does.
func TestTransport_withoutTrace(t *testing.T) {
	for _, failed := range []error{
		&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}, &net.DNSError{Err: "no such host", IsNotFound: true},
	} {
		t.Run(fmt.Sprint(failed), func(t *testing.T) {
			for _, call := range clienttest.Calls {
				attempts := 0
				err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(*http.Request) (*http.Response, error) {
					attempts++
					return nil, failed
				})))
				if call.SendsMail() {
					require.Equal(t, 1, attempts)
					clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
				} else {
					require.Equal(t, 4, attempts)
					clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
				}
				require.ErrorIs(t, err, failed)
			}
		})
	}
}

// TestTrace_provesThatNothingWasWritten plays a transport that reports some of what it does, and then fails.
func TestTrace_provesThatNothingWasWritten(t *testing.T) {
	getConn := func(tr *httptrace.ClientTrace) { tr.GetConn("service.test:80") }
	gotConn := func(tr *httptrace.ClientTrace) { tr.GotConn(httptrace.GotConnInfo{}) }
	field := func(tr *httptrace.ClientTrace) { tr.WroteHeaderField("Host", []string{"service.test"}) }
	headers := func(tr *httptrace.ClientTrace) { tr.WroteHeaders() }
	all := func(tr *httptrace.ClientTrace) { tr.WroteRequest(httptrace.WroteRequestInfo{}) }
	type events []func(*httptrace.ClientTrace)
	for _, c := range []struct {
		name   string
		events events
		proof  bool
		late   bool  // and only when the attempt has timed out
		err    error // of the transport, io.EOF unless said
	}{
		{name: "nothing reported"},
		{name: "no connection", events: events{getConn}, proof: true},
		{name: "no connection in time", events: events{getConn}, proof: true, late: true},
		{name: "a connection", events: events{getConn, gotConn}, proof: true},
		{name: "a connection, and now out of time", events: events{getConn, gotConn}, late: true},
		{name: "a connection, and out of its own time", events: events{getConn, gotConn}, err: context.DeadlineExceeded},
		{name: "a connection, and cancelled by itself", events: events{getConn, gotConn}, err: context.Canceled},
		{name: "a connection from who knows where", events: events{gotConn}},
		{name: "a header field", events: events{getConn, gotConn, field}},
		{name: "the headers", events: events{getConn, gotConn, headers}},
		{name: "the request", events: events{getConn, gotConn, all}},
		{name: "a header field, then no new connection", events: events{getConn, gotConn, field, getConn}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{"Templates.Send", "Documents.Remind"} {
				t.Run(method, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						attempts := 0
						transport := clienttest.Transport(func(req *http.Request) (*http.Response, error) {
							attempts++
							for _, event := range c.events {
								event(httptrace.ContextClientTrace(req.Context()))
							}
							if c.late {
								<-req.Context().Done()
							}
							return nil, cmp.Or(c.err, io.EOF)
						})
						err := clienttest.CallOf(t, method).Do(t.Context(), clienttest.Scripted(t, transport))
						if c.proof {
							require.Equal(t, 4, attempts)
							clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
						} else {
							require.Equal(t, 1, attempts)
							clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
						}
					})
				})
			}
		})
	}
}

// TestTransport_wrapped: a transport around http.Transport keeps its trace.
func TestTransport_wrapped(t *testing.T) {
	dials := 0
	below := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		dials++
		return nil, syscall.ECONNREFUSED
	}}
	err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		req = req.Clone(req.Context())
		req.Header.Set("X-Extra", "1")
		return below.RoundTrip(req)
	})))
	clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
	require.Equal(t, 4, dials)
}

// TestConnection_closedWhileIdle: that the service hangs up between two calls is no failure of the second.
func TestConnection_closedWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &wireService{behave: closingAfter(-1, "HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{\"message\":\"a\"}")}
		c := s.client(t, "http")
		for range 3 {
			require.NoError(t, clienttest.CallOf(t, "Documents.Remind").Do(t.Context(), c))
			synctest.Wait()
		}
		require.Equal(t, 3, s.dials)
		require.Len(t, s.requests(), 3)
	})
}

// TestRetry_notAfterASuccess: after a success no further attempt is made.
func TestRetry_notAfterASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s := &wireService{}
		s.behave = func(s *wireService, c net.Conn) {
			if n++; n < 3 {
				return
			}
			answer(200, "", `{"message":"Voided"}`)(s, c)
		}
		require.NoError(t, clienttest.CallOf(t, "Documents.Void").Do(t.Context(), s.client(t, "http")))
		require.Len(t, s.requests(), 1)
		require.Equal(t, 3, s.dials)
	})
}
