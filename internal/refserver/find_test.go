package refserver_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestFind_againstWholeLogs asks for parts of the logs at random, and compares each answer with one made from the whole log.
func TestFind_againstWholeLogs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	manyEvents(t, srv)
	for range 100 {
		offset, limit, salt := rnd.IntN(8), rnd.IntN(30), rnd.IntN(3)
		requirePage(t, srv.Deliveries(), srv.FindDeliveries, func(d refserver.Delivery) bool { return len(d.Attempts)%3 == salt }, offset, limit)
		requirePage(t, srv.Messages(), srv.FindMessages, func(m refserver.Message) bool { return int(m.ID)%3 == salt }, offset, limit)
		requirePage(t, srv.Requests(), srv.FindRequests, func(r refserver.Request) bool { return int(r.ID)%3 == salt }, offset, limit)
	}
}

// TestFindMessages_matchGetsNoLink: a link takes a look-up of its document, which a search makes only for the page.
func TestFindMessages_matchGetsNoLink(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	manyEvents(t, srv)
	page, total := srv.FindMessages(func(m refserver.Message) bool {
		require.Empty(t, m.Link)
		return m.Kind == "invitation"
	}, 0, 5)
	for _, m := range page {
		require.NotEmpty(t, m.Link)
	}
	require.Positive(t, total)
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

// requirePage looks for what matches, and for everything.
func requirePage[T any](t *testing.T, all []T, find func(func(T) bool, int, int) ([]T, int), match func(T) bool, offset, limit int) {
	t.Helper()
	for _, match := range []func(T) bool{match, nil} {
		want := slices.DeleteFunc(slices.Clone(all), func(v T) bool { return match != nil && !match(v) })
		slices.Reverse(want)
		page, total := find(match, offset, limit)
		require.Equal(t, len(want), total)
		want = want[min(offset, len(want)):]
		require.Equal(t, want[:min(limit, len(want))], append([]T{}, page...))
	}
}

// TestCounts_equalTheRecords compares the numbers with what there is.
func TestCounts_equalTheRecords(t *testing.T) {
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
