package refserver_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestServer_workspacesAtOneAddress runs two workspaces at one address. A change in one does not show in the other.
func TestServer_workspacesAtOneAddress(t *testing.T) {
	var behind atomic.Pointer[refserver.Server]
	first := servicetest.Start(t, &refserver.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.Header.Get("x-api-key"), "b_") || strings.Contains(r.URL.Path, "/b_") {
				behind.Load().ServeHTTP(w, r)
			} else {
				next.ServeHTTP(w, r)
			}
		})
	}})
	second := servicetest.Start(t, &refserver.Options{Behind: first.Server, Prefix: "b_"})
	behind.Store(second.Server)
	require.Equal(t, first.URL, second.URL)

	received := newReceiver(t)
	second.AddWebhook(refserver.Webhook{URL: received.URL, Event: refserver.SignatureCompleted})
	doc := second.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF of the second")})
	_, err := first.Client().Documents.Void(t.Context(), signforms.PDFDocument(doc))
	require.ErrorIs(t, err, signforms.ErrNotFound, "the key of another workspace finds nothing")
	state, _ := second.FindDocument(doc)
	link := string(state.Signers[0].Link)
	require.Contains(t, link, first.URL+"/sign/b_")
	require.Equal(t, http.StatusOK, status(t, http.MethodPost, link))
	require.NoError(t, second.Settle(t.Context()))
	require.Len(t, received.all(), 2, "signed, and completed")

	url := first.URL + "/documents/b_" + doc + ".pdf"
	require.Contains(t, string(received.all()[0].body), url)
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "%PDF of the second", string(content))
	require.Equal(t, http.StatusNotFound, status(t, http.MethodGet, first.URL+"/documents/"+doc+".pdf"), "the first has no such document")

	second.Advance(72 * time.Hour)
	require.Less(t, first.Now(), second.Now().Add(-71*time.Hour))
	require.Empty(t, second.Requests(), "the first got it")
	_, err = second.Client().Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	require.Len(t, second.Requests(), 1)
	require.Zero(t, first.Counts().Documents)

	first.AddDocument(refserver.Document{Name: "Offer", Signers: ann})
	require.NoError(t, second.Reset())
	second.Close()
	_, err = first.Client().Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err, "the first goes on")
	require.Equal(t, 1, first.Counts().Documents)
}

// status returns the status of an answer.
func status(t *testing.T, method, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	return answer.StatusCode
}
