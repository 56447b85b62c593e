package console_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestFailedFile: the page of a document says why its finished file is missing, and has a button that makes it again.
func TestFailedFile(t *testing.T) {
	works := atomic.Bool{}
	service := refserver.NewServer(t, &refserver.Options{
		Start: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
			if works.Load() {
				return []byte("%PDF-finished"), nil
			}
			return nil, errors.New("no <paper>")
		},
	})
	id := service.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, service.Signer(id, "ann@example.com").Sign())
	pages := httptest.NewServer(console.New(service, console.Options{PublicURL: service.URL}))
	defer pages.Close()
	text := func(answer *http.Response, err error) string {
		require.NoError(t, err)
		defer answer.Body.Close()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		page, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return string(page)
	}
	const button = "Make the finished file again"
	address := pages.URL + "/_/documents/" + id
	require.NoError(t, service.Settle(t.Context()))
	page := text(http.Get(address))
	require.Contains(t, page, "the finished file could not be made, try 1 of 5: no &lt;paper&gt;")
	require.NotContains(t, page, button, "it is still tried")

	service.Advance(340 * time.Second)
	page = text(http.Get(address))
	require.Contains(t, page, "try 5 of 5: no &lt;paper&gt;")
	require.Contains(t, page, button)
	works.Store(true)
	page = text(http.Post(address+"/act", "application/x-www-form-urlencoded", strings.NewReader(url.Values{"act": {"finish"}}.Encode())))
	require.Contains(t, page, "The finished file is tried again.")
	require.NoError(t, service.Settle(t.Context()))
	page = text(http.Get(address))
	require.NotContains(t, page, button)
	require.Contains(t, page, "Signed PDF")
}
