package control_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Deliveries of every status are counted and found, and the description lists every status.
func TestDeliveriesOfEveryStatusAreFound(t *testing.T) {
	server := servicetest.Start(t, nil)
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
	}
	require.Equal(t, 2, listed)
	require.Equal(t, 2, status.Pending+status.Failed)
	doc := description(t)
	require.Equal(t, described, doc.Components.Schemas["Delivery"].Value.Properties["status"].Value.Enum)
	require.Equal(t, described, doc.Paths.Value("/deliveries").Get.Parameters.GetByInAndName("query", "status").Schema.Value.Enum)
}
