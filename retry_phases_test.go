package signforms_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
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
	for _, protocol := range []string{"http", "https", "HTTP/2"} {
		m := &momentService{arrived: map[string]int{}, refused: map[string]error{}}
		m.start(t, protocol)
		for _, set := range moments {
			for _, name := range []string{"Templates.Send", "Documents.Remind"} {
				for _, used := range []bool{false, true} {
					for _, cut := range []bool{false, true} {
						m.run(t, set, callOf(t, name), used, cut)
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
		_, _ = io.WriteString(w, anyAnswer)
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

func (m *momentService) run(t *testing.T, set func(*httptrace.ClientTrace, func()), call aCall, used, cut bool) {
	transport := m.srv.Client().Transport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	o := testOptions(nil)
	o.HTTPClient = &http.Client{Transport: transport}
	c, err := signforms.New(m.srv.URL, exampleKey, o)
	require.NoError(t, err)
	if used {
		require.NoError(t, callOf(t, "Documents.List").do(t.Context(), c))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	do := sync.OnceFunc(cancel)
	if cut {
		do = sync.OnceFunc(m.srv.CloseClientConnections)
	}
	var trace httptrace.ClientTrace
	set(&trace, do)
	err = call.do(httptrace.WithClientTrace(ctx, &trace), c)
	do() // a hook that is still running must not cut the connections of the next call
	if err != nil && !cut {
		require.ErrorIs(t, err, context.Canceled)
	}
	if err != nil && !errors.Is(err, signforms.ErrOutcomeUnknown) {
		m.refused[asError(t, err).RequestID] = err
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
