package refserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestClose_whileInUse closes servers that many goroutines use. All of them must return. The race detector must find nothing.
// Clients go on calling a closed server, so it has no port that a receiver of another test could get.
func TestClose_whileInUse(t *testing.T) {
	t.Parallel()
	network := refserver.NewNetwork()
	defer network.Close()
	app := network.Serve("app.test", &receiver{})
	for range clienttest.Long(10, 3) {
		srv := servicetest.Start(t, &refserver.Options{Network: network})
		form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
		hook := srv.AddWebhook(refserver.Webhook{URL: app, Event: refserver.FormResponse})
		srv.Fail(refserver.Fault{Latency: time.Hour, Times: 2})
		client := srv.Client()
		var users sync.WaitGroup
		for _, act := range []func(){
			func() { srv.Server.TestWebhook(hook) },
			func() { srv.Server.Advance(context.Background(), time.Hour) },
			func() { srv.Settle(context.Background()) },
			func() { client.Documents.List(context.Background(), signforms.DocumentListParams{}) },
			func() { srv.Server.Fail(refserver.Fault{Status: 500}); srv.ClearFaults() },
			func() { srv.Server.FailWebhooks(refserver.WebhookFault{Drop: true, Probability: 0.5}) },
			func() { srv.DisableWebhook(hook); srv.EnableWebhook(hook) },
			func() { srv.ResendFailed(hook, time.Time{}) },
			func() { _, _, _, _ = srv.Deliveries(), srv.Requests(), srv.Messages(), srv.Audit(form) },
		} {
			users.Go(func() {
				for range 5 {
					act()
				}
			})
		}
		for range 5 {
			_, err := srv.SubmitForm(form, refserver.Submission{})
			require.NoError(t, err)
		}
		srv.Close()
		users.Wait()
	}
}

// TestAdvance_concurrently moves the clock from many goroutines, past the retries of many deliveries that are due at different times.
func TestAdvance_concurrently(t *testing.T) {
	t.Parallel()
	const deliveries = 50
	srv, _, submit := newPair(t, &refserver.Options{Start: start}, newReceiver(t, slices.Repeat([]int{500}, 8*deliveries)...).URL)
	for range deliveries {
		submit()
		srv.Advance(7 * time.Millisecond)
	}
	var users sync.WaitGroup
	for range 48 {
		users.Go(func() { srv.Advance(time.Hour) })
	}
	users.Wait()
	require.Equal(t, start.Add(48*time.Hour+deliveries*7*time.Millisecond), srv.Now())
	for i, d := range srv.Deliveries() {
		require.Len(t, d.Attempts, 8)
		want := start.Add(time.Duration(i)*7*time.Millisecond + 17*time.Hour + 36*time.Minute + 5*time.Second)
		require.Equal(t, want, d.Attempts[7].At)
	}
}

// TestSettle_actsInReceivers: each event leads to the next act in its receiver, and Settle waits for all of them.
func TestSettle_actsInReceivers(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{
		Name: "Lease", SigningOrder: true, Signers: []refserver.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}},
	})
	signers := []refserver.Actor{srv.Signer(doc, "ann@example.com"), srv.Signer(doc, "ben@example.com")}
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if len(signers) > 0 {
			next := signers[0]
			signers = signers[1:]
			if err := next.Sign(); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(endpoint.Close)
	srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.SignatureCompleted})
	require.NoError(t, srv.Signer(doc, "ann@example.com").View())
	require.NoError(t, srv.Settle(t.Context()))
	var got []string
	for _, d := range srv.Deliveries() {
		require.Equal(t, refserver.DeliveryDelivered, d.Status)
		got = append(got, d.EventTypes[0])
	}
	require.Equal(t, []string{
		"new_signature_pdf_individual_viewed", "new_signature_pdf_individual_signed", "new_signature_pdf_individual_signed", "new_signature_pdf_completed",
	}, got)
}
