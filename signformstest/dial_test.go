package signformstest_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/signformstest"
)

func TestDialWebhookMayRefuseATarget(t *testing.T) {
	asked := make(chan string, 1)
	srv := signformstest.NewServer(t, &signformstest.Options{DialWebhook: func(_ context.Context, network, addr string) (net.Conn, error) {
		asked <- network + " " + addr
		return nil, errors.New("not to this one")
	}})
	hook := srv.AddWebhook(signformstest.Webhook{URL: "http://receiver.test/hook", Event: signformstest.SignatureCompleted})
	srv.TestWebhook(hook)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, "tcp receiver.test:80", <-asked)
	delivery := srv.Deliveries()[0]
	require.Equal(t, signformstest.DeliveryPending, delivery.Status)
	require.Contains(t, delivery.Attempts[0].Error, "not to this one")
}
