package refserver_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestDelivery_nothingIsLost: two people sign each of 100 documents at the same time, while attempts are lost, doubled and refused. The test
// compares the deliveries with the events.
func TestDelivery_nothingIsLost(t *testing.T) {
	t.Parallel()
	accepted, refuse := sync.Map{}, rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		refused := refuse.IntN(4) == 0
		mu.Unlock()
		if refused {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		accepted.Store(r.URL.Path+string(body), true)
	}))
	t.Cleanup(endpoint.Close)
	srv := servicetest.Start(t, &refserver.Options{Seed: 3})
	paths := map[string]string{} // by webhook
	for _, path := range []string{"/a", "/b", "/c"} {
		hook := srv.AddWebhook(refserver.Webhook{URL: endpoint.URL + path, Event: refserver.SignatureCompleted})
		paths[hook] = path
	}
	srv.FailWebhooks(refserver.WebhookFault{Probability: 0.2, Drop: true})
	srv.FailWebhooks(refserver.WebhookFault{Probability: 0.2, Duplicate: true})

	documents := clienttest.Long(100, 20)
	var people sync.WaitGroup
	for i := range documents {
		doc := srv.AddDocument(refserver.Document{Name: fmt.Sprint(i), Signers: []refserver.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}}})
		for _, email := range []string{"ann@example.com", "ben@example.com"} {
			people.Go(func() {
				signer := srv.Signer(doc, email)
				if err := signer.View(); err != nil {
					t.Error(err)
				}
				if err := signer.Sign(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	people.Wait()
	srv.Advance(48 * time.Hour)

	events, delivered := map[string]int{}, 0
	for _, d := range srv.Deliveries() {
		_, got := accepted.Load(paths[d.WebhookID] + string(d.Body))
		require.Equal(t, d.Status == refserver.DeliveryDelivered, got, "%s", d)
		events[d.EventTypes[0]]++
		if got {
			delivered++
		}
	}
	require.Equal(t, map[string]int{
		"new_signature_pdf_individual_viewed": 3 * 2 * documents,
		"new_signature_pdf_individual_signed": 3 * 2 * documents,
		"new_signature_pdf_completed":         3 * documents,
	}, events)
	require.Greater(t, delivered, 3*5*documents-50, "of 8 attempts hardly any eighth fails")
}
