package refserver_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestFindersAgainstWholeLogs asks for parts of the logs at random, and compares each answer with one made from the whole log.
func TestFindersAgainstWholeLogs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	hooks := manyEvents(t, srv)
	one := func(choices ...string) string { return choices[rnd.IntN(len(choices))] }
	since := func() (at time.Time) {
		if rnd.IntN(2) == 0 {
			at = start.Add(time.Duration(rnd.IntN(40)) * time.Minute)
		}
		return at
	}
	document := srv.Messages()[0].DocumentID
	for range 300 {
		offset, limit := rnd.IntN(8), rnd.IntN(30)
		d := refserver.DeliveryFilter{
			WebhookID: one("", "", hooks[0], hooks[1]), Status: refserver.DeliveryStatus(one("", "", "delivered", "pending", "dead")),
			EventType: one("", "", "new_signature_pdf_completed"), About: one("", "", document), Since: since(), Offset: offset, Limit: limit,
		}
		deliveries, total := srv.FindDeliveries(d)
		requirePage(t, srv.Deliveries(), func(v refserver.Delivery) bool {
			return (d.WebhookID == "" || v.WebhookID == d.WebhookID) && (d.Status == "" || v.Status == d.Status) &&
				(d.EventType == "" || slices.Contains(v.EventTypes, d.EventType)) && strings.Contains(string(v.Body), d.About) && !v.CreatedAt.Before(d.Since)
		}, offset, limit, deliveries, total)
		m := refserver.MessageFilter{
			DocumentID: one("", "", document), To: one("", "", "ann@example.com"), Kind: one("", "", "invitation", "notice"), Since: since(),
			Offset: offset, Limit: limit,
		}
		messages, total := srv.FindMessages(m)
		requirePage(t, srv.Messages(), func(v refserver.Message) bool {
			return (m.DocumentID == "" || v.DocumentID == m.DocumentID) && (m.To == "" || v.To == m.To) && (m.Kind == "" || v.Kind == m.Kind) &&
				!v.At.Before(m.Since)
		}, offset, limit, messages, total)
		r := refserver.RequestFilter{
			ID: []int64{0, 0, 0, 2}[rnd.IntN(4)], Operation: refserver.Operation(one("", "", string(signforms.OpVoidDocument))), StatusCode: []int{0, 0, 200, 404}[rnd.IntN(4)],
			Misses: rnd.IntN(2) == 0, Since: since(), Offset: offset, Limit: limit,
		}
		requests, total := srv.FindRequests(r)
		requirePage(t, srv.Requests(), func(v refserver.Request) bool {
			return (r.ID == 0 || v.ID == r.ID) && (r.Operation == "" || v.Operation == r.Operation) && (r.StatusCode == 0 || v.StatusCode == r.StatusCode) &&
				(!r.Misses || v.Rule != "" || len(v.Notes) > 0) && !v.At.Before(r.Since)
		}, offset, limit, requests, total)
	}
}

// manyEvents fills every log over half an hour, and returns the webhooks.
func manyEvents(t *testing.T, srv *servicetest.Server) (hooks []string) {
	deaf := newReceiver(t, slices.Repeat([]int{500}, 500)...)
	for _, url := range []string{newReceiver(t).URL, deaf.URL} {
		hooks = append(hooks, srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted}))
	}
	srv.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "Why?"}}})
	for i := range 15 {
		id := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
		require.NoError(t, srv.Signer(id, "ann@example.com").Sign())
		call(t, srv, "GET", "/get-documents", "")
		call(t, srv, "GET", "/get-documents?odd=1", "")
		call(t, srv, "POST", "/void-document", `{"documentId":"00000000-0000-4000-8000-000000000000","documentType":"PDF"}`)
		if i%3 == 0 {
			srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ben@example.com"}}})
		}
		srv.Advance(2 * time.Minute)
	}
	return hooks
}

func requirePage[T any](t *testing.T, all []T, match func(T) bool, offset, limit int, page []T, total int) {
	t.Helper()
	if limit == 0 {
		limit = 100
	}
	want := slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !match(v) })
	slices.Reverse(want)
	require.Equal(t, len(want), total)
	want = want[min(offset, len(want)):]
	require.Len(t, page, min(limit, len(want)))
	for i := range page {
		require.Equal(t, want[i], page[i])
	}
}

// TestCounts compares the numbers with what there is.
func TestCounts(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	require.Zero(t, srv.Counts().Documents)
	manyEvents(t, srv)
	srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	got := srv.Counts()
	_, documents := srv.FindDocuments(refserver.DocumentFilter{})
	want := map[refserver.DeliveryStatus]int{}
	for _, d := range srv.Deliveries() {
		want[d.Status]++
	}
	require.NotZero(t, want[refserver.DeliveryPending])
	for status, n := range got.Deliveries {
		require.Equal(t, want[status], n, status)
	}
	got.Deliveries = nil
	require.Equal(t, refserver.Counts{Templates: 1, Forms: 1, Webhooks: 2, Documents: documents}, got)
}
