package control_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/signformstest"
)

// A delivery that waits for its finished file is counted and found like any other, and the description lists every status.
func TestDeliveriesOfEveryStatusAreFound(t *testing.T) {
	goOn := make(chan struct{})
	server := signformstest.NewServer(t, &signformstest.Options{Finish: func(context.Context, signformstest.DocumentState) ([]byte, error) {
		<-goOn
		return []byte("%PDF-finished"), nil
	}})
	defer close(goOn)
	server.AddWebhook(signformstest.Webhook{URL: "http://127.0.0.1:1", Event: signformstest.SignatureCompleted})
	id := server.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, server.Signer(id, "ann@example.com").Sign())
	client, err := wire.NewClient(newAPIOf(t, server).URL, "")
	require.NoError(t, err)
	var status wire.Status
	require.NoError(t, client.Get(t.Context(), "/status", nil, &status))
	listed := 0
	var described []any
	for _, known := range signformstest.DeliveryStatuses() {
		var found wire.Page[wire.Delivery]
		require.NoError(t, client.Get(t.Context(), "/deliveries", url.Values{"status": {string(known)}}, &found))
		listed += found.Total
		described = append(described, string(known))
		if known == signformstest.DeliveryWaiting {
			require.Equal(t, 1, found.Total)
		}
	}
	require.Equal(t, 2, listed)
	require.Equal(t, 2, status.Pending+status.Failed)
	doc := description(t)
	require.Equal(t, described, doc.Components.Schemas["Delivery"].Value.Properties["status"].Value.Enum)
	require.Equal(t, described, doc.Paths.Value("/deliveries").Get.Parameters.GetByInAndName("query", "status").Schema.Value.Enum)
}
