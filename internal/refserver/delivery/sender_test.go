package delivery_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

func TestSettleSeesThatADueDeliveryWasCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(time.Now)
		require.NoError(t, st.Update(func(tx *store.Tx) error {
			tx.PutWebhook(store.Webhook{ID: "w", URL: "http://app.test", Family: signing.FamilyFormResponse})
			tx.Enqueue(store.Delivery{WebhookID: "w", NextAttemptAt: time.Now(), CreatedAt: time.Now()})
			return nil
		}))
		s := delivery.NewSender(delivery.Config{Store: st, Client: delivery.NewHTTPClient(http.DefaultTransport)})
		settled := make(chan error, 1)
		go func() { settled <- s.Settle(t.Context()) }()
		synctest.Wait()
		require.Empty(t, settled, "the delivery is due, and nothing sends it yet")

		require.NoError(t, st.Update(func(tx *store.Tx) error { return tx.DeleteWebhook("w") }))
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		require.NoError(t, <-settled)
		cancel()
	})
}
