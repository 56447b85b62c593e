package endtoend_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// SIGTERM lets an attempt under way end. After the next start the delivery counts as delivered and is not repeated.
func TestStopFinishesAnAttemptUnderWay(t *testing.T) {
	arrived, answer := make(chan bool, 10), make(chan bool)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-answer
	}))
	defer receiver.Close()
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data)
	var hook, delivery wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/webhooks", refserver.Webhook{URL: receiver.URL, Event: "new_signature_completed"}, &hook))
	require.NoError(t, s.client.Post(t.Context(), "/webhooks/"+hook.ID+"/test", nil, &delivery))
	<-arrived
	require.NoError(t, s.process.Signal(syscall.SIGTERM))
	close(answer)
	require.NoError(t, s.wait())
	require.Contains(t, s.stderr.String(), "stopping")

	s = start(t, "--data", data)
	require.NoError(t, s.client.Post(t.Context(), "/clock/settle", nil, nil))
	var found wire.Delivery
	require.NoError(t, s.client.Get(t.Context(), "/deliveries/"+delivery.ID, nil, &found))
	require.Equal(t, refserver.DeliveryDelivered, found.Status)
	require.Len(t, found.Attempts, 1)
	require.Empty(t, arrived, "it was made again")
}
