package refserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestHeadViewsNothing: programs that check links in mail ask with HEAD. That is no view, and fires no webhook.
func TestHeadViewsNothing(t *testing.T) {
	srv := servicetest.Start(t, nil)
	hook := newReceiver(t)
	srv.AddWebhook(refserver.Webhook{URL: hook.URL, Event: refserver.SignatureCompleted})
	srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	link := string(srv.Messages()[0].Link)
	for method, want := range map[string]int{link: 200, srv.URL + "/sign/none": 404} {
		answer, err := srv.HTTPClient().Head(method)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode)
	}
	require.NoError(t, srv.Settle(t.Context()))
	require.Empty(t, hook.all())

	answer, err := srv.HTTPClient().Get(link)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NoError(t, srv.Settle(t.Context()))
	require.Len(t, hook.all(), 1)
}
