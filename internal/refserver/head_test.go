package refserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestSigningLink_HEADIsNoView: programs that check links in mail use HEAD. A HEAD request is no view and fires no webhook.
func TestSigningLink_HEADIsNoView(t *testing.T) {
	srv := servicetest.Start(t, nil)
	hook := newReceiver(t)
	srv.AddWebhook(refserver.Webhook{URL: hook.URL, Event: refserver.SignatureCompleted})
	srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	link := string(srv.Messages()[0].Link)
	for _, row := range []struct {
		method string
		want   int
	}{{method: link, want: 200}, {method: srv.URL + "/sign/none", want: 404}} {
		t.Run(row.method, func(t *testing.T) {
			answer, err := srv.HTTPClient().Head(row.method)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, row.want, answer.StatusCode)
		})
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
