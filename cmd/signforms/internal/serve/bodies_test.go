package serve

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBodiesHaveABoundTogether holds uploads that do not end, and lets them go.
func TestBodiesHaveABoundTogether(t *testing.T) {
	var b bodies
	entered, release, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	handler := b.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		if r.Header.Get("Hold") != "" {
			entered <- struct{}{}
			<-release
		}
	}))
	send := func(announced int64, size int, hold string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(strings.Repeat("x", size)))
		r.ContentLength = announced
		r.Header.Set("Hold", hold)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	for _, size := range []int64{-1, 32 << 20, 1 << 40, 32 << 20} { // each counts 32 MiB
		go func() { send(size, smallBody+1, "yes"); left <- struct{}{} }()
		<-entered
	}
	refused := send(smallBody+1, 0, "")
	require.Equal(t, http.StatusServiceUnavailable, refused.Code)
	require.Equal(t, "1", refused.Header().Get("Retry-After"))
	require.Contains(t, refused.Body.String(), `"code":"busy"`)
	require.Contains(t, send(-1, smallBody+1, "").Body.String(), "other uploads")
	for _, announced := range []int64{-1, smallBody} {
		require.Equal(t, http.StatusOK, send(announced, smallBody, "").Code, "small ones go on")
	}
	close(release)
	for range 4 {
		<-left
	}
	require.Equal(t, http.StatusOK, send(32<<20, 0, "").Code)
	require.Zero(t, b.held.Load())
}
