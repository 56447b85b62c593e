package api_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

func withProfile(p api.Profile) func(*api.Options) { return func(o *api.Options) { o.Profile = p } }

func answer(t *testing.T, srv *server, name string, change func(*request)) map[string]any {
	t.Helper()
	r := load(t, name)
	if change != nil {
		change(&r)
	}
	w := r.send(srv)
	require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
	return parse(t, w.Body.Bytes()).(map[string]any)
}

func TestProfile_lists(t *testing.T) {
	all := func(r *request) { r.Query = nil }
	srv := newServer(t, withProfile(api.Profile{PageSize: 3}))
	require.Len(t, answer(t, srv, "list_documents", all)["documents"], 3)

	srv = newServer(t, withProfile(api.Profile{NoPagination: true, PageSize: 3}))
	got := answer(t, srv, "list_documents", all)
	require.NotContains(t, got, "pagination")
	requireShape(t, "$", wantAnswer(t, "list_documents_no_pagination"), got)
	require.Equal(t, 8.0, got["documentsCount"])

	srv = newServer(t, withProfile(api.Profile{CountPage: true, PageSize: 3}))
	require.Equal(t, 3.0, answer(t, srv, "list_documents", all)["documentsCount"])

	srv = newServer(t, withProfile(api.Profile{InProgress: "IN_PROGRESS"}))
	got = answer(t, srv, "list_documents", func(r *request) { r.Query = map[string]string{"status": "IN_PROGRESS"} })
	require.Equal(t, "IN_PROGRESS", got["documents"].([]any)[0].(map[string]any)["status"])
	w := load(t, "list_documents").with(query("status", "PENDING")).send(srv)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Equal(t, "IN_PROGRESS", answer(t, srv, "send_reminder", nil)["status"])
	require.Equal(t, "IN_PROGRESS", answer(t, srv, "send_template", nil)["createdDocumentStatus"])
}

// TestList_largestPages: no page number and no limit that is accepted overflows an int, of 32 bits either.
func TestList_largestPages(t *testing.T) {
	srv := newServer(t, nil)
	for _, c := range []struct {
		page, limit string
		records     int
		pages       float64
	}{
		{page: "1", limit: "2147483647", records: 2, pages: 1},
		{page: "2", limit: "2147483647", pages: 1},
		{page: "2147483647", limit: "2147483647", pages: 1},
		{page: "2147483647", limit: "1", pages: 2},
	} {
		t.Run(c.page, func(t *testing.T) {
			got := answer(t, srv, "list_respondents", func(r *request) { r.Query["page"], r.Query["limit"] = c.page, c.limit })
			require.Len(t, got["respondents"], c.records, "%+v", c)
			number, err := strconv.ParseFloat(c.page, 64)
			require.NoError(t, err)
			require.Equal(t, map[string]any{"currentPage": number, "totalPages": c.pages}, got["pagination"], "%+v", c)
		})
	}
}

func TestProfile_refusals(t *testing.T) {
	srv := newServer(t, withProfile(api.Profile{RefusalStatus: http.StatusUnprocessableEntity}))
	w := load(t, "void_document").with(both("documentId", paid)).send(srv)
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	w = load(t, "void_document").with(both("documentId", "x")).send(srv)
	require.Equal(t, http.StatusBadRequest, w.Code, "only refusals because of the status change")
}
