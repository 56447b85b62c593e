package api_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// list returns the ids that GET /get-documents answers with, and its pagination.
func list(t *testing.T, srv *server, query map[string]string) (ids []string, pagination map[string]any) {
	t.Helper()
	w := load(t, "list_documents").with(func(r *request) { r.Query = query }).send(srv)
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	answer := parse(t, w.Body.Bytes()).(map[string]any)
	for _, d := range answer["documents"].([]any) {
		ids = append(ids, d.(map[string]any)["documentId"].(string))
	}
	pagination = answer["pagination"].(map[string]any)
	require.Equal(t, answer["documentsCount"], pagination["totalDocuments"])
	return ids, pagination
}

func TestList_filters(t *testing.T) {
	srv := newServer(t, nil)
	for _, tc := range []struct {
		query map[string]string
		want  []string
	}{
		{query: nil, want: []string{inProgress, completed, paid, declined, expired, deleted, voided, draft}},
		{query: map[string]string{"sortOrder": "asc"}, want: []string{draft, voided, deleted, expired, declined, paid, completed, inProgress}},
		{query: map[string]string{"sortOrder": ""}, want: []string{inProgress, completed, paid, declined, expired, deleted, voided, draft}},
		{query: map[string]string{"status": "VOID"}, want: []string{voided}},
		{query: map[string]string{"status": "PENDING"}, want: []string{inProgress}},
		{query: map[string]string{"archive": "true"}, want: []string{voided}},
		{query: map[string]string{"archive": "false", "limit": "3"}, want: []string{inProgress, completed, paid}},
		{query: map[string]string{"query": "LEASE"}, want: []string{inProgress, voided}},
		{query: map[string]string{"query": "lease", "archive": "true"}, want: []string{voided}},
		{query: map[string]string{"documentId": paid}, want: []string{paid}},
		{query: map[string]string{"documentId": paid, "status": "VOID"}, want: nil},
		{query: map[string]string{"documentId": paid, "page": "2"}, want: nil},
		{query: map[string]string{"documentId": paid, "page": "2", "limit": "1"}, want: nil},
		{query: map[string]string{"documentId": template}, want: nil},
		{query: map[string]string{"documentId": template, "documentType": "PDF_TEMPLATE"}, want: []string{template}},
		{query: map[string]string{"documentId": template, "documentType": "PDF_TEMPLATE", "archive": "true"}, want: nil},
		{query: map[string]string{"documentType": "PDF_TEMPLATE", "sortOrder": "asc"}, want: []string{unusedTemplate, template}},
		{query: map[string]string{"documentType": "PDF_TEMPLATE", "query": "attorney"}, want: []string{unusedTemplate}},
		// Both ends are inclusive, to the millisecond.
		{query: map[string]string{"dateFrom": "2026-11-16T08:00:00.001Z"}, want: []string{inProgress, completed, paid}},
		{query: map[string]string{"dateFrom": "2026-11-16T08:00:00.002Z"}, want: []string{inProgress, completed}},
		{query: map[string]string{"dateTo": "2026-11-02T08:00:00.000Z"}, want: []string{voided, draft}},
		{query: map[string]string{"dateTo": "2026-11-02T07:59:59.999Z"}, want: []string{draft}},
		{query: map[string]string{"dateFrom": "2026-11-02T08:00:00.000Z", "dateTo": "2026-11-02T08:00:00.000Z"}, want: []string{voided}},
		{query: map[string]string{"dateTo": "2026-11-02T10:00:00.000+02:00"}, want: []string{voided, draft}},
		// A date alone means its whole day in UTC, from its beginning and to its end.
		{query: map[string]string{"dateFrom": "2026-11-16"}, want: []string{inProgress, completed, paid}},
		{query: map[string]string{"dateTo": "2026-11-02"}, want: []string{voided, draft}},
		{query: map[string]string{"dateFrom": "2026-11-18", "dateTo": "2026-11-18"}, want: []string{inProgress}},
		// Times before and after those that an int64 of nanoseconds can tell.
		{query: map[string]string{"dateFrom": "0001-01-01T00:00:01Z", "dateTo": "9999-12-31T23:59:59.999Z", "limit": "1"}, want: []string{inProgress}},
		{query: map[string]string{"dateFrom": "2263-01-01T00:00:00Z"}, want: nil},
		{query: map[string]string{"dateTo": "1677-01-01T00:00:00Z"}, want: nil},
		// Unknown parameters are ignored.
		{query: map[string]string{"filter": "x", "sortBy": "name", "Limit": "1", "documentType": "PDF_TEMPLATE"}, want: []string{template, unusedTemplate}},
	} {
		t.Run(fmt.Sprint(tc.query), func(t *testing.T) {
			got, _ := list(t, srv, tc.query)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestList_pages(t *testing.T) {
	srv := newServer(t, nil)
	all, first := list(t, srv, nil)
	require.Equal(t, map[string]any{"currentPage": 1.0, "totalPages": 1.0, "totalDocuments": 8.0}, first)
	for limit := 1; limit <= 9; limit++ {
		var got []string
		pages := (len(all) + limit - 1) / limit
		for page := 1; page <= pages; page++ {
			ids, pagination := list(t, srv, map[string]string{"page": strconv.Itoa(page), "limit": strconv.Itoa(limit)})
			require.Equal(t, map[string]any{"currentPage": float64(page), "totalPages": float64(pages), "totalDocuments": 8.0}, pagination)
			got = append(got, ids...)
		}
		require.Equal(t, all, got, "limit %d", limit)
		beyond, _ := list(t, srv, map[string]string{"page": strconv.Itoa(pages + 1), "limit": strconv.Itoa(limit)})
		require.Empty(t, beyond)
	}
	beyond, pagination := list(t, srv, map[string]string{"page": "2147483647", "limit": "100"})
	require.Empty(t, beyond)
	require.Equal(t, 2147483647.0, pagination["currentPage"])
}

func TestList_defaultPageHasTen(t *testing.T) {
	srv := newServer(t, nil)
	for i := range 5 {
		play(t, srv.store, signing.NewIDs(uint64(i+1)), signing.Document{Name: "More"}, "2026-11-19T07:00:00Z")
	}
	ids, pagination := list(t, srv, nil)
	require.Len(t, ids, 10)
	require.Equal(t, map[string]any{"currentPage": 1.0, "totalPages": 2.0, "totalDocuments": 13.0}, pagination)
	require.True(t, slices.IsSortedFunc(ids[:5], func(a, b string) int { return cmp.Compare(b, a) }), "equal times are ordered by id")
}

func TestVoidAndRemind_effect(t *testing.T) {
	srv := newServer(t, nil)
	require.Equal(t, http.StatusOK, load(t, "send_reminder").send(srv).Code)
	require.Equal(t, http.StatusOK, load(t, "void_document").send(srv).Code)
	require.NoError(t, srv.store.View(func(tx *store.Tx) error {
		d, err := tx.Document(inProgress)
		require.NoError(t, err)
		require.Equal(t, signing.StatusVoid, d.Status)
		require.Equal(t, srv.now, d.UpdatedAt)
		var reminded []string
		for _, m := range mailAbout(tx, inProgress) {
			if m.Kind == signing.MessageReminder {
				reminded = append(reminded, m.To)
			}
		}
		require.Equal(t, []string{"ben.o'neil+legal@example.com"}, reminded, "Ann has signed, so it is Ben's turn")
		return nil
	}))
	ids, _ := list(t, srv, map[string]string{"status": "VOID"})
	require.Equal(t, []string{inProgress, voided}, ids)
}

// TestVoid_expiryComesFirst asks to void a document whose time ran out and that nobody has looked at since.
func TestVoid_expiryComesFirst(t *testing.T) {
	srv := newServer(t, nil)
	srv.now = instant("2026-11-19T07:00:00Z")
	late := "0b5a3c1e-0000-4000-8000-000000000001"
	play(t, srv.store, signing.NewIDs(9), signing.Document{ID: late, Name: "Offer", ExpiresFor: 3600e9, Signers: []signing.Signer{cy("", "")}},
		"2026-11-19T07:00:00Z", act{"2026-11-19T07:00:00Z", send})
	srv.now = instant("2026-11-19T07:59:59.999Z")
	ids, _ := list(t, srv, map[string]string{"status": "EXPIRED"})
	require.Equal(t, []string{expired}, ids)
	srv.now = instant("2026-11-19T08:00:00Z")
	w := load(t, "void_document").with(both("documentId", late)).send(srv)
	require.JSONEq(t, `{"message":"A document that is EXPIRED cannot be voided","code":"invalid_status"}`, w.Body.String())
	ids, _ = list(t, srv, map[string]string{"status": "EXPIRED"})
	require.Equal(t, []string{late, expired}, ids)
}

// TestRequest_timeOfItsWork lets an hour pass between the arrival of a request and its work.
func TestRequest_timeOfItsWork(t *testing.T) {
	var srv *server
	srv = newServer(t, func(o *api.Options) {
		o.Intercept = func(_ context.Context, _ *api.Call, work func() api.Answer) api.Answer {
			srv.now = srv.now.Add(time.Hour)
			return work()
		}
	})
	arrived := srv.now
	require.Equal(t, http.StatusOK, load(t, "void_document").send(srv).Code)
	require.Equal(t, arrived, srv.last().At)
	require.NoError(t, srv.store.View(func(tx *store.Tx) error {
		d, err := tx.Document(inProgress)
		require.Equal(t, arrived.Add(time.Hour), d.UpdatedAt)
		return err
	}))
}

func TestList_paidCountAsSigned(t *testing.T) {
	srv := newServer(t, nil)
	_, err := srv.store.Act(createdEarlier, signing.Document.Pay)
	require.NoError(t, err)
	got := answer(t, srv, "get_template", nil)["documents"].([]any)[0].(map[string]any)
	require.Equal(t, 1.0, got["totalSignedRespondants"])
	require.Equal(t, 2.0, got["totalRespondants"])
}

// TestList_showsEveryChange compares the entry in a list, which is encoded once for each version, with the document alone, after
// each act.
func TestList_showsEveryChange(t *testing.T) {
	srv := newServer(t, nil)
	same := func(id string) string {
		t.Helper()
		one := load(t, "get_document").with(query("documentId", id)).send(srv)
		all := load(t, "list_documents").with(func(r *request) { r.Query = nil }).send(srv)
		alone := parse(t, one.Body.Bytes()).(map[string]any)["documents"].([]any)[0].(map[string]any)
		for _, d := range parse(t, all.Body.Bytes()).(map[string]any)["documents"].([]any) {
			if d.(map[string]any)["documentId"] == id {
				require.Equal(t, alone, d)
			}
		}
		return alone["status"].(string)
	}
	require.Equal(t, "PENDING", same(inProgress))
	ben := "ben.o'neil+legal@example.com"
	for _, step := range []struct {
		act  signing.Command
		want string
	}{
		{act: viewBy(ben), want: "PENDING"}, {act: signing.Document.Archive, want: "PENDING"}, {act: signBy(ben, "203.0.113.9"), want: "SIGNED"},
		{act: signing.Document.Pay, want: "PAID"},
	} {
		_, err := srv.store.Act(inProgress, step.act)
		require.NoError(t, err)
		require.Equal(t, step.want, same(inProgress))
	}
	require.Equal(t, http.StatusOK, load(t, "void_document").with(both("documentId", draft)).send(srv).Code)
	require.Equal(t, "VOID", same(draft))
}
