package refserver_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// newHanging returns a server in a bubble with a webhook whose receiver never answers and one whose receiver always fails. Each has one
// delivery due for each of the documents.
func newHanging(t *testing.T, documents int) (srv *servicetest.Server, hangs, fails string) {
	t.Helper()
	network := refserver.NewNetwork()
	t.Cleanup(func() { network.Close() })
	srv = servicetest.Start(t, &refserver.Options{Network: network})
	hangs = srv.AddWebhook(refserver.Webhook{Event: refserver.SignatureCompleted, URL: network.Serve("hangs.test",
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))})
	fails = srv.AddWebhook(refserver.Webhook{Event: refserver.SignatureCompleted, URL: network.Serve("fails.test",
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }))})
	for range documents {
		require.NoError(t, srv.Signer(srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann}), ann[0].Email).View())
	}
	return srv, hangs, fails
}

// A receiver that hangs holds an advance up once. The deliveries of others are made at their times.
func TestAdvance_waitsOnceForAHangingReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const documents = 50
		srv, hangs, fails := newHanging(t, documents)
		began := time.Now()
		for range 3 {
			srv.Advance(8 * time.Hour)
			require.Equal(t, []string{hangs}, srv.Unanswering())
		}
		require.LessOrEqual(t, time.Since(began), 11*time.Second)
		for _, d := range srv.Deliveries() {
			if d.WebhookID == hangs {
				require.LessOrEqual(t, len(d.Attempts), 1)
				continue
			}
			require.Equal(t, fails, d.WebhookID)
			require.Equal(t, refserver.DeliveryDead, d.Status)
			require.Len(t, d.Attempts, 8)
			for i, wait := range []time.Duration{5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour} {
				require.Equal(t, wait, d.Attempts[i+1].At.Sub(d.Attempts[i].At))
				require.Zero(t, d.Attempts[i].Took)
			}
		}
		require.NoError(t, srv.DeleteWebhook(hangs))
		require.Empty(t, srv.Unanswering())
		require.NoError(t, srv.Settle(t.Context()))
	})
}

// An advance ends with its context, and so does one that waits for another. The clock then stays, and what was not due is due at its time.
func TestAdvance_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, hangs, fails := newHanging(t, 1)
		synctest.Wait()
		before := srv.Now()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for range 2 {
			go func() { ended <- srv.Server.Advance(ctx, 30*24*time.Hour) }()
		}
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.ErrorIs(t, <-ended, context.Canceled)
		require.Equal(t, before, srv.Now())
		for _, d := range srv.Deliveries() {
			if d.WebhookID == fails {
				require.Equal(t, d.CreatedAt.Add(5*time.Second), d.NextAttemptAt)
			}
		}
		require.NoError(t, srv.DeleteWebhook(hangs))
		srv.Advance(5 * time.Second)
		for _, d := range srv.Deliveries() {
			if d.WebhookID == fails {
				require.Len(t, d.Attempts, 2)
			}
		}
	})
}
