package control_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A delivery that waits for its finished file is counted and found like any other, and the description lists every status.
func TestDeliveriesOfEveryStatusAreFound(t *testing.T) {
	goOn := make(chan struct{})
	server := refserver.NewServer(t, &refserver.Options{Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
		<-goOn
		return []byte("%PDF-finished"), nil
	}})
	defer close(goOn)
	server.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1", Event: refserver.SignatureCompleted})
	id := server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, server.Signer(id, "ann@example.com").Sign())
	client, err := wire.NewClient(newAPIOf(t, server).URL, "")
	require.NoError(t, err)
	var status wire.Status
	require.NoError(t, client.Get(t.Context(), "/status", nil, &status))
	listed := 0
	var described []any
	for _, known := range refserver.DeliveryStatuses() {
		var found wire.Page[wire.Delivery]
		require.NoError(t, client.Get(t.Context(), "/deliveries", url.Values{"status": {string(known)}}, &found))
		listed += found.Total
		described = append(described, string(known))
		if known == refserver.DeliveryWaiting {
			require.Equal(t, 1, found.Total)
		}
	}
	require.Equal(t, 2, listed)
	require.Equal(t, 2, status.Pending+status.Failed)
	doc := description(t)
	require.Equal(t, described, doc.Components.Schemas["Delivery"].Value.Properties["status"].Value.Enum)
	require.Equal(t, described, doc.Paths.Value("/deliveries").Get.Parameters.GetByInAndName("query", "status").Schema.Value.Enum)
}
