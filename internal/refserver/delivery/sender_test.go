package delivery_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

func TestSettle_cancelledDelivery(t *testing.T) {
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

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSender_statusAfterAResponse has endpoints answer while their webhook is as it was, or is disabled meanwhile.
func TestSender_statusAfterAResponse(t *testing.T) {
	for _, c := range []struct {
		answer  int
		disable bool
		want    store.DeliveryStatus
	}{
		{answer: 200, disable: false, want: store.DeliveryDelivered},
		{answer: 204, disable: false, want: store.DeliveryDelivered},
		{answer: 299, disable: false, want: store.DeliveryDelivered},
		{answer: 300, disable: false, want: store.DeliveryPending},
		{answer: 500, disable: false, want: store.DeliveryPending},
		{answer: 200, disable: true, want: store.DeliveryDelivered},
		{answer: 500, disable: true, want: store.DeliveryCancelled},
	} {
		synctest.Test(t, func(t *testing.T) {
			st := store.New(time.Now)
			put := func(disabled bool) {
				require.NoError(t, st.Update(func(tx *store.Tx) error {
					tx.PutWebhook(store.Webhook{ID: "w", URL: "http://app.test", Disabled: disabled})
					return nil
				}))
			}
			put(false)
			require.NoError(t, st.Update(func(tx *store.Tx) error {
				tx.Enqueue(store.Delivery{WebhookID: "w", Body: []byte("[]"), NextAttemptAt: time.Now()})
				return nil
			}))
			endpoint := roundTripper(func(*http.Request) (*http.Response, error) {
				put(c.disable)
				return &http.Response{StatusCode: c.answer, Body: http.NoBody}, nil
			})
			s := delivery.NewSender(delivery.Config{Store: st, Client: delivery.NewHTTPClient(endpoint), Stamp: func() string { return "1" }})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go s.Run(ctx)
			require.NoError(t, s.Settle(t.Context()))
			require.NoError(t, st.View(func(tx *store.Tx) error {
				require.Equal(t, c.want, slices.Collect(tx.Deliveries().All())[0].Status, "%+v", c)
				return nil
			}))
		})
	}
}
