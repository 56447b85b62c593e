package endtoend_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConnections_stayAfterRefusals makes each request and then a list, which must succeed over the same connection.
// The transport never repeats a POST, so a connection that ends without notice fails the test.
func TestConnections_stayAfterRefusals(t *testing.T) {
	s := start(t, "--memory", "--token", "open sesame")
	transport := &http.Transport{MaxConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	send := func(t *testing.T, method, path, body string, chunked bool, header ...string) (status int, reused, closes bool) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, bytes.NewReader([]byte(body)))
		require.NoError(t, err)
		if chunked {
			r.Body, r.ContentLength, r.GetBody = io.NopCloser(strings.NewReader(body)), -1, nil
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		r.Host = r.Header.Get("Host")
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }}))
		resp, err := transport.RoundTrip(r)
		require.NoError(t, err)
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, reused, resp.Close
	}
	const jsonBody = `{"documentId":"11111111-2222-4333-8444-555555555555"}`
	for _, c := range []struct {
		name, method, path, body string
		chunked                  bool
		header                   []string
		status                   int
		closes                   bool
	}{
		{name: "wrong key", method: "POST", path: "/void-document", body: jsonBody, header: []string{"x-api-key", "wrong"}, status: 403},
		{name: "wrong key, chunked", method: "POST", path: "/void-document", body: jsonBody, chunked: true, header: []string{"x-api-key", "wrong"}, status: 403},
		{name: "wrong media type", method: "POST", path: "/pdf-template-lambda", body: jsonBody, header: []string{"x-api-key", s.APIKey, "Content-Type", "text/plain"}, status: 415},
		{name: "unknown path", method: "POST", path: "/nowhere", body: jsonBody, status: 404},
		{name: "wrong method", method: "PUT", path: "/get-documents", body: jsonBody, status: 405},
		{name: "list with a body", method: "GET", path: "/get-documents", body: jsonBody, header: []string{"x-api-key", s.APIKey}, status: 200},
		{name: "list with an empty chunked body", method: "GET", path: "/get-documents", chunked: true, header: []string{"x-api-key", s.APIKey}, status: 200},
		{name: "another host", method: "POST", path: "/_/api/v1/reset", body: jsonBody, header: []string{"Host", "evil.example"}, status: 421},
		{name: "another origin", method: "POST", path: "/_/api/v1/reset", body: jsonBody, header: []string{"Origin", "https://evil.example"}, status: 403},
		{name: "no token", method: "POST", path: "/_/api/v1/reset", body: jsonBody, status: 401},
		{name: "no cookie", method: "POST", path: "/_/documents/new", body: jsonBody, status: 303},
		{name: "unknown control path", method: "POST", path: "/_/api/v1/nowhere", body: jsonBody, header: []string{"Authorization", "Bearer open sesame"}, status: 404},
		{name: "wrong control method", method: "PUT", path: "/_/api/v1/documents", body: jsonBody, header: []string{"Authorization", "Bearer open sesame"}, status: 405},
		{name: "unknown link", method: "POST", path: "/sign/nothing", body: jsonBody, status: 404},
		{name: "health with a body", method: "GET", path: "/livez", body: jsonBody, status: 200},
		{name: "unread large body", method: "POST", path: "/nowhere", body: strings.Repeat("x", 1<<20), status: 404, closes: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 40 {
				status, _, closes := send(t, c.method, c.path, c.body, c.chunked, c.header...)
				require.Equal(t, c.status, status)
				require.Equal(t, c.closes, closes, "Connection: close")
				status, reused, _ := send(t, "POST", "/send-reminder?documentId=11111111-2222-4333-8444-555555555555", "", false, "x-api-key", "wrong")
				require.Equal(t, 403, status)
				require.Equal(t, !c.closes, reused, "same connection")
			}
		})
	}
}
