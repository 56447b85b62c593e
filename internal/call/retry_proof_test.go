package call_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// moments of an attempt. Each does something the first time that it comes.
var moments = map[string]func(t *httptrace.ClientTrace, do func()){
	"GetConn":           func(t *httptrace.ClientTrace, do func()) { t.GetConn = func(string) { do() } },
	"ConnectStart":      func(t *httptrace.ClientTrace, do func()) { t.ConnectStart = func(string, string) { do() } },
	"ConnectDone":       func(t *httptrace.ClientTrace, do func()) { t.ConnectDone = func(string, string, error) { do() } },
	"TLSHandshakeStart": func(t *httptrace.ClientTrace, do func()) { t.TLSHandshakeStart = do },
	"TLSHandshakeDone": func(t *httptrace.ClientTrace, do func()) {
		t.TLSHandshakeDone = func(tls.ConnectionState, error) { do() }
	},
	"GotConn":              func(t *httptrace.ClientTrace, do func()) { t.GotConn = func(httptrace.GotConnInfo) { do() } },
	"WroteHeaderField":     func(t *httptrace.ClientTrace, do func()) { t.WroteHeaderField = func(string, []string) { do() } },
	"WroteHeaders":         func(t *httptrace.ClientTrace, do func()) { t.WroteHeaders = do },
	"WroteRequest":         func(t *httptrace.ClientTrace, do func()) { t.WroteRequest = func(httptrace.WroteRequestInfo) { do() } },
	"GotFirstResponseByte": func(t *httptrace.ClientTrace, do func()) { t.GotFirstResponseByte = do },
}

// TestEveryMomentOfAnAttempt cancels a call, or cuts its connections, at each moment of its first attempt, over TCP, TLS and
// HTTP/2, on a fresh connection and on a used one: no send or reminder arrives twice, and none that arrived is said not
// to have been sent.
func TestEveryMomentOfAnAttempt(t *testing.T) {
	protocols := []string{"http", "https", "HTTP/2"}
	for _, protocol := range protocols[:clienttest.Long(3, 1)] {
		m := &momentService{arrived: map[string]int{}, refused: map[string]error{}}
		m.start(t, protocol)
		for _, set := range moments {
			for _, name := range []string{"Templates.Send", "Documents.Remind"} {
				for _, used := range []bool{false, true} {
					for _, cut := range []bool{false, true} {
						m.run(t, set, clienttest.CallOf(t, name), used, cut)
					}
				}
			}
		}
		m.judge(t, protocol)
	}
}

// momentService counts the requests of each call, by x-request-id.
type momentService struct {
	srv     *httptest.Server
	mu      sync.Mutex
	arrived map[string]int
	refused map[string]error // calls whose error says that they were not carried out
}

func (m *momentService) start(t *testing.T, protocol string) {
	m.srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.arrived[r.Header.Get("X-Request-Id")]++
		m.mu.Unlock()
		_, _ = io.WriteString(w, clienttest.AnyAnswer)
	}))
	m.srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are cut off
	m.srv.EnableHTTP2 = protocol == "HTTP/2"
	if protocol == "http" {
		m.srv.Start()
	} else {
		m.srv.StartTLS()
	}
	t.Cleanup(m.srv.Close)
}

func (m *momentService) run(t *testing.T, set func(*httptrace.ClientTrace, func()), call clienttest.Call, used, cut bool) {
	transport := m.srv.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	o := clienttest.Options(nil)
	o.HTTPClient = &http.Client{Transport: transport}
	c, err := signforms.New(m.srv.URL, clienttest.APIKey, o)
	require.NoError(t, err)
	if used {
		require.NoError(t, clienttest.CallOf(t, "Documents.List").Do(t.Context(), c))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	do := sync.OnceFunc(cancel)
	if cut {
		do = sync.OnceFunc(m.srv.CloseClientConnections)
	}
	var trace httptrace.ClientTrace
	set(&trace, do)
	err = call.Do(httptrace.WithClientTrace(ctx, &trace), c)
	do() // a hook that is still running must not cut the connections of the next call
	if err != nil && !cut {
		require.ErrorIs(t, err, context.Canceled)
	}
	if err != nil && !errors.Is(err, signforms.ErrOutcomeUnknown) {
		m.refused[clienttest.AsError(t, err).RequestID] = err
	}
}

// judge compares what arrived with what the calls said. A handler of an HTTP/2 connection that was cut may still be on its
// way, which Close does not wait for: what it counts is missed, and never misjudged.
func (m *momentService) judge(t *testing.T, protocol string) {
	m.srv.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, n := range m.arrived {
		require.Equal(t, 1, n, "requests of one call over %s", protocol)
		require.NoError(t, m.refused[id], "it arrived over %s", protocol)
	}
}

// TestTransportWithHalfATrace: one that tells of looking for a connection, then reads the request's body and tells nothing
// more, has not proved that it wrote nothing.
func TestTransportWithHalfATrace(t *testing.T) {
	for _, name := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		attempts := 0
		err := clienttest.CallOf(t, name).Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			attempts++
			httptrace.ContextClientTrace(req.Context()).GetConn("api.example.com:443")
			_, err := io.Copy(io.Discard, req.Body)
			return nil, errors.Join(err, errors.New("stream reset"))
		})))
		clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 1, attempts, name)
	}
}

// TestTransportWithHalfATraceThatAnswers: an answer, however broken, says that the request arrived.
func TestTransportWithHalfATraceThatAnswers(t *testing.T) {
	for _, name := range []string{"Templates.Send", "Forms.Send", "Documents.Remind"} {
		attempts := 0
		err := clienttest.CallOf(t, name).Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			attempts++
			httptrace.ContextClientTrace(req.Context()).GetConn("api.example.com:443")
			resp := clienttest.Reply(req, 200, "")
			resp.Body = io.NopCloser(iotest.ErrReader(errors.New("stream reset")))
			return resp, nil
		})))
		clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
		require.Equal(t, 1, attempts, name)
	}
}

// TestTransportThatLogsBodies: reading the body before a connection is looked for is not writing it, where the call ends with
// the error for which there was no connection to its own host.
func TestTransportThatLogsBodies(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			_ = conn.Close()
		}
	}()
	noResolver := &net.Dialer{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}}
	for name, base := range map[string]string{
		"dial": nobody, "TLS": "https://" + listener.Addr().String(), "name": "http://api.example.com",
	} {
		attempts := 0
		o := clienttest.Options(nil)
		plain := &http.Transport{DialContext: noResolver.DialContext}
		o.HTTPClient = &http.Client{Transport: clienttest.Transport(func(req *http.Request) (*http.Response, error) {
			attempts++
			body, err := io.ReadAll(req.Body)
			require.NoError(t, err)
			req = req.Clone(req.Context())
			req.Body = io.NopCloser(bytes.NewReader(body))
			resp, err := plain.RoundTrip(req)
			if err != nil {
				err = fmt.Errorf("logged: %w", err)
			}
			return resp, err
		})}
		c, err := signforms.New(base, clienttest.APIKey, o)
		require.NoError(t, err)
		err = clienttest.CallOf(t, "Templates.Send").Do(t.Context(), c)
		clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
		require.Equal(t, 4, attempts, name)
	}
}

// TestTransportWithATimeOutOfItsOwn stops an HTTP/2 request by a context that only the transport knows, just before its
// write loop writes: RoundTrip returns first, and the request arrives all the same.
func TestTransportWithATimeOutOfItsOwn(t *testing.T) {
	var arrived atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	o := clienttest.Options(nil)
	o.HTTPClient = &http.Client{Transport: clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(req.Context())
		returned := make(chan struct{})
		defer close(returned)
		return srv.Client().Transport.RoundTrip(req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			WroteHeaderField: func(string, []string) { cancel(); <-returned }, // before the SDK's own hook
		})))
	})}
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

// TestStoreSlowerThanAnAttempt: an attempt that has no time left is not made, and gives its slot back.
func TestStoreSlowerThanAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clienttest.Scripted(t, clienttest.Silent(t), func(o *signforms.Options) {
			o.LimitStore, o.AttemptTimeout = &slowStore{signforms.NewMemoryLimitStore(nil), 2 * time.Second}, time.Second
		})
		err := clienttest.CallOf(t, "Documents.Remind").Do(t.Context(), c)
		clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
		require.ErrorContains(t, err, "no complete answer within Options.AttemptTimeout, 1s")
		budget, err := c.Documents.ReminderBudget(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5, budget.Remaining)
	})
}

// TestTransportThatReturnsNothing: an error, not a panic, which would be in a goroutine of All.
func TestTransportThatReturnsNothing(t *testing.T) {
	for _, resp := range []*http.Response{nil, {}} {
		for _, call := range clienttest.Calls {
			err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(*http.Request) (*http.Response, error) { return resp, nil })))
			clienttest.RequireUnreadable(t, call, err, 0)
			require.ErrorContains(t, err, "the Transport returned neither an answer with a status nor an error")
		}
	}
}
