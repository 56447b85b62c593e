package control_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// waitFor makes a request without a network, and returns how long the answer took.
func waitFor(ctx context.Context, api *control.API, path string) (answer *httptest.ResponseRecorder, took time.Duration) {
	began := time.Now()
	answer = httptest.NewRecorder()
	api.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, wire.Prefix+path, nil))
	return answer, time.Since(began)
}

// TestWaits: an answer comes as soon as what was asked for is there, or when the wait is over.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		server := servicetest.Start(t, &refserver.Options{Network: network})
		defer server.Close()
		api := control.New(control.Config{Server: server.Server})
		hook := network.Serve("app.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(3 * time.Second) }))
		server.AddWebhook(refserver.Webhook{URL: hook, Event: refserver.SignatureCompleted})
		client := server.Client()
		add := func(to string, expires time.Duration) string {
			return server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: to}}, ExpiresFor: expires})
		}
		ann, fay := add("ann@example.com", 0), add("fay@example.com", 0)
		for _, c := range []struct {
			path   string
			after  time.Duration
			happen func()
		}{
			{"/messages?to=ben@example.com&wait=10s", 1500 * time.Millisecond, func() { add("ben@example.com", 0) }},
			{"/messages?to=cy@example.com&wait=10s&count=2", 1500 * time.Millisecond, func() { add("cy@example.com", 0); add("cy@example.com", 0) }},
			{"/documents?status=SIGNED&wait=10s", 1500 * time.Millisecond, func() { require.NoError(t, server.Signer(ann, "ann@example.com").Sign()) }},
			{"/deliveries?status=delivered&wait=10s&about=" + fay, 4500 * time.Millisecond, func() { require.NoError(t, server.Signer(fay, "fay@example.com").Sign()) }},
			{"/requests?operation=list+documents&wait=10s", 1500 * time.Millisecond, func() {
				_, err := client.Documents.List(t.Context(), signforms.DocumentListParams{})
				require.NoError(t, err)
			}},
		} {
			require.NoError(t, server.Settle(t.Context()))
			time.AfterFunc(1500*time.Millisecond, c.happen)
			answer, took := waitFor(t.Context(), api, c.path)
			require.Equal(t, http.StatusOK, answer.Code, "%s: %s", c.path, answer.Body)
			require.InDelta(t, c.after, took, float64(100*time.Millisecond), c.path)
		}
		_, took := waitFor(t.Context(), api, "/messages?to=ben@example.com&wait=10s")
		require.Zero(t, took, "it is there")

		time.AfterFunc(2*time.Second, func() { add("dee@example.com", 0) })
		answer, took := waitFor(t.Context(), api, "/messages?to=dee@example.com&wait=10s&count=2")
		require.Equal(t, http.StatusRequestTimeout, answer.Code)
		require.Equal(t, 10*time.Second, took)
		require.Contains(t, answer.Body.String(), `{"error":{"code":"timeout","message":"after 10s there are 1 that match, not 2"},"items":[{`)
		require.Contains(t, answer.Body.String(), `"to":"dee@example.com"`)

		add("eve@example.com", 3*time.Second)
		answer, took = waitFor(t.Context(), api, "/documents?status=EXPIRED&wait=1m")
		require.Equal(t, http.StatusOK, answer.Code)
		require.Less(t, took, 5*time.Second, "no event says so")

		ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
		defer leave()
		_, took = waitFor(ctx, api, "/requests?operation=send&wait=1m")
		require.Equal(t, 3*time.Second, took, "it ends with its client")
	})
}

// TestWaitsAreBounded: how long, for how many, and how many at a time in all workspaces.
func TestWaitsAreBounded(t *testing.T) {
	var readers atomic.Int64
	server := servicetest.Start(t, nil)
	api := control.New(control.Config{Server: server.Server, Readers: &readers})
	for query, says := range map[string]string{
		"wait=61s": "at most 1m0s", "wait=": "wait is empty", "wait": "wait is empty", "wait=1s&count=": "count is empty", "to=": "to is empty", "limit=": "limit is empty", "wait=0s": "at most 1m0s", "wait=-1s": "at most 1m0s", "wait=soon": "as in 10s",
		"wait=1s&count=0": "from 1 to 1000", "count=2": "count is for a wait", "wait=1s&wait=2s": "given 2 times", "wait=1s&colour=red": "no parameter",
	} {
		answer, _ := waitFor(t.Context(), api, "/messages?"+query)
		require.Equal(t, http.StatusBadRequest, answer.Code, query)
		require.Contains(t, answer.Body.String(), says, query)
	}
	readers.Store(1000)
	answer, _ := waitFor(t.Context(), api, "/messages?wait=1m")
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.Contains(t, answer.Body.String(), `"code":"busy"`)
	require.EqualValues(t, 1000, readers.Load())
}
