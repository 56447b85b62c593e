package console_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestFinishedFileOnThePage: the page of a document makes no file. It has a link to it, and says why one could not be made.
func TestFinishedFileOnThePage(t *testing.T) {
	var calls atomic.Int32
	service := servicetest.Start(t, &refserver.Options{Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
		if calls.Add(1) == 1 {
			return nil, errors.New("no <paper>")
		}
		return []byte("%PDF-finished"), nil
	}})
	id := service.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, service.Signer(id, "ann@example.com").Sign())
	pages := httptest.NewServer(console.New(service.Server, console.Options{PublicURL: service.URL}))
	defer pages.Close()
	get := func(path string) (int, string) {
		answer, err := http.Get(pages.URL + "/_/documents/" + id + path)
		require.NoError(t, err)
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(page)
	}
	_, page := get("")
	require.Contains(t, page, "Signed PDF")
	require.Zero(t, calls.Load())
	status, _ := get("/finished.pdf")
	require.Equal(t, http.StatusServiceUnavailable, status)
	_, page = get("")
	require.Contains(t, page, "the finished file could not be made: no &lt;paper&gt;")
	status, page = get("/finished.pdf")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "%PDF-finished", page)
}
