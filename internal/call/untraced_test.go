package call_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestUntracedSendBesideAFailedConnection: a transport that sends the call by a way without trace, and beside it looks in vain
// for a connection with the call's context, proves nothing.
func TestUntracedSendBesideAFailedConnection(t *testing.T) {
	var arrived atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived.Add(1)
		panic(http.ErrAbortHandler)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of TLS handshakes
	srv.Start()
	defer srv.Close()
	plain, refused := &http.Transport{DisableKeepAlives: true}, &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("refused")
	}}
	dead := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(nobody, "http://")) // with its trace
	}}
	untraced := func(req *http.Request) error {
		body, err := io.ReadAll(req.Body)
		require.NoError(t, err)
		other, err := http.NewRequest(req.Method, req.URL.String(), bytes.NewReader(body))
		require.NoError(t, err)
		_, err = plain.RoundTrip(other)
		return err
	}
	overTLS := strings.Replace(srv.URL, "http:", "https:", 1)
	for name, send := range map[string]func(*http.Request) error{
		"another host, before":    func(r *http.Request) error { _ = get(r.Context(), plain, nobody); return untraced(r) },
		"another host, after":     func(r *http.Request) error { err := untraced(r); _ = get(r.Context(), plain, nobody); return err },
		"another host, its error": func(r *http.Request) error { _ = untraced(r); return get(r.Context(), plain, nobody) },
		"both errors": func(r *http.Request) error {
			err := untraced(r)
			return errors.Join(err, get(r.Context(), refused, srv.URL))
		},
		"the same host, before, and both told": func(r *http.Request) error {
			body, err := io.ReadAll(r.Body) // before it looks for a connection, as for a log
			require.NoError(t, err)
			first := get(r.Context(), dead, srv.URL)
			r.Body = io.NopCloser(bytes.NewReader(body))
			return fmt.Errorf("first: %w; second: %v", first, untraced(r))
		},
		"the same host, before": func(r *http.Request) error { _ = get(r.Context(), refused, srv.URL); return untraced(r) },
		"the same host, after":  func(r *http.Request) error { err := untraced(r); _ = get(r.Context(), refused, srv.URL); return err },
		"TLS, before":           func(r *http.Request) error { _ = get(r.Context(), plain, overTLS); return untraced(r) },
		"TLS, after":            func(r *http.Request) error { err := untraced(r); _ = get(r.Context(), plain, overTLS); return err },
	} {
		for _, inputs := range []signforms.Inputs{signforms.InputsQuery, signforms.InputsBody} {
			for _, call := range []string{"Templates.Send", "Documents.Remind"} {
				arrived.Store(0)
				o := clienttest.Options(nil)
				o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpSendReminder: {Inputs: inputs}}
				o.HTTPClient = &http.Client{Transport: clienttest.Transport(func(req *http.Request) (*http.Response, error) { return nil, send(req) })}
				c, err := signforms.New(srv.URL, clienttest.APIKey, o)
				require.NoError(t, err)
				err = clienttest.CallOf(t, call).Do(t.Context(), c)
				require.ErrorIs(t, err, signforms.ErrOutcomeUnknown, "%s %s", name, call)
				require.EqualValues(t, 1, arrived.Load(), name)
				if call == "Documents.Remind" {
					clienttest.RequireBudget(t, c.Documents, signforms.Budget{Remaining: 4})
				}
			}
		}
	}
}

// TestUntracedSendWithoutABody: one that takes the inputs from the URL does not read the empty body.
func TestUntracedSendWithoutABody(t *testing.T) {
	o, arrived := clienttest.Options(nil), 0
	o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpSendReminder: {Inputs: signforms.InputsQuery}}
	o.HTTPClient = &http.Client{Transport: clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		arrived++
		_ = get(req.Context(), &http.Transport{}, nobody)
		return nil, io.EOF
	})}
	c, err := signforms.New("https://api.example.com", clienttest.APIKey, o)
	require.NoError(t, err)
	clienttest.RequireMatches(t, clienttest.CallOf(t, "Documents.Remind").Do(t.Context(), c), signforms.ErrOutcomeUnknown)
	require.Equal(t, 1, arrived)
}
