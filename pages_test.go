package signforms_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

// TestAll_otherResponseInPlaceOfAPage: what comes in the place of a further page ends the list with an error.
func TestAll_otherResponseInPlaceOfAPage(t *testing.T) {
	for _, row := range []struct {
		other string
		want  error
	}{
		{other: `{"statusCode":500,"body":"boom"}`, want: signforms.ErrUnavailable}, {other: `{"success":false,"error":"busy"}`, want: signforms.ErrUnavailable},
		{other: `{"data":{"documents":[]}}`, want: signforms.ErrBadResponse}, {other: `{"error":"busy"}`, want: signforms.ErrUnavailable},
	} {
		t.Run(row.other, func(t *testing.T) {
			s := &listService{answer: func(_ int, r listRequest) string {
				if r.page == 15 {
					return row.other
				}
				return pageJSON(window(upTo(1990), r.page, r.limit), total(1990, r))
			}}
			ids, err := collect(t, s.client(t), signforms.DocumentListParams{})
			require.ErrorIs(t, err, row.want)
			require.Greater(t, len(ids), 1000)
			require.Less(t, len(ids), 1990)
		})
	}
}

// listService answers lists of documents with literal JSON, from what answer makes of a request. It is a RoundTripper.
type listService struct {
	mu       sync.Mutex
	requests []listRequest
	answer   func(n int, r listRequest) string // n counts from 0
	refuse   func(r listRequest) bool          // with a 400; nil refuses nothing
}

type listRequest struct {
	page, limit int
	dateTo      string
}

func (s *listService) RoundTrip(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	r := listRequest{dateTo: q.Get("dateTo")}
	r.page, _ = strconv.Atoi(q.Get("page"))
	r.limit, _ = strconv.Atoi(q.Get("limit"))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.refuse != nil && s.refuse(r) {
		return clienttest.Reply(req, 400, `{"message":"dateTo must be a date"}`), nil
	}
	body := s.answer(len(s.requests)-1, r)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, req.Context().Err()
}

func (s *listService) client(t *testing.T) *signforms.Client {
	t.Helper()
	c, err := signforms.New("https://api.example.com", "key", &signforms.Options{
		Transport: s, MaxAttempts: 1, LimitStore: signforms.NewMemoryLimitStore(nil)})
	require.NoError(t, err)
	return c
}

// pages returns the numbers of the pages that were asked for.
func (s *listService) pages() (numbers []int) {
	for _, r := range s.requests {
		numbers = append(numbers, r.page)
	}
	return numbers
}

func docID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// pageJSON is an answer with these records, of which the lowest is the newest, and the pagination literal unless it is empty.
func pageJSON(ids []int, pagination string) string {
	return pageJSONAt(ids, pagination, func(n int) int { return -n })
}

// pageJSONAt is such an answer whose records were created at these minutes.
func pageJSONAt(ids []int, pagination string, minute func(n int) int) string {
	var docs []string
	for _, n := range ids {
		at := time.Date(2026, 11, 1, 10, minute(n), 0, 0, time.UTC)
		docs = append(docs, fmt.Sprintf(`{"documentId":%q,"createdAt":%q}`, docID(n), at.Format(time.RFC3339)))
	}
	if pagination != "" {
		pagination = `,"pagination":` + pagination
	}
	return `{"message":"ok","documents":[` + strings.Join(docs, ",") + `]` + pagination + `}`
}

// window is page number page of ids, with pages of size.
func window(ids []int, page, size int) []int {
	start := min((page-1)*size, len(ids))
	return ids[start:min(start+size, len(ids))]
}

func upTo(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i
	}
	return ids
}

func collect(t *testing.T, c *signforms.Client, p signforms.DocumentListParams) ([]string, error) {
	t.Helper()
	var ids []string
	for d, err := range c.Documents.All(t.Context(), p) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, d.ID)
	}
	return ids, nil
}

func wantIDs(ids []int) (want []string) {
	for _, n := range ids {
		want = append(want, docID(n))
	}
	return want
}

// addPending adds documents that await a signature, and returns their ids, newest first.
func addPending(srv *signformstest.Server, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		srv.Advance(time.Second)
		ids[n-1-i] = srv.AddDocument(signformstest.Document{
			Name: fmt.Sprintf("Document %d", i), Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	}
	return ids
}

func serviceClient(t *testing.T, srv *signformstest.Server) *signforms.Client {
	t.Helper()
	c, err := signforms.New(srv.URL, srv.APIKey, &signforms.Options{
		WorkspaceID: srv.WorkspaceID, LimitStore: signforms.NewMemoryLimitStore(srv.Now)})
	require.NoError(t, err)
	return c
}

func TestAll_whileDocumentsAreVoided(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	want := addPending(srv, 65)
	c := serviceClient(t, srv)
	var got []string
	for d, err := range c.Documents.All(t.Context(), signforms.DocumentListParams{Limit: 10, Status: signforms.StatusPending}) {
		require.NoError(t, err)
		got = append(got, d.ID)
		_, err = c.Documents.Void(t.Context(), d.Ref()) // takes it out of the list that is being read
		require.NoError(t, err)
	}
	require.ElementsMatch(t, want, got)
}

func TestPage_Next(t *testing.T) {
	for _, tt := range []struct {
		name, pagination string
		asked, items     int
		want             int
	}{
		{name: "no pagination", pagination: ``, asked: 2, items: 3, want: 3},
		{name: "no pagination, empty page", pagination: ``, asked: 2},
		{name: "more pages", pagination: `{"currentPage":2,"totalPages":3}`, asked: 2, items: 3, want: 3},
		{name: "last page", pagination: `{"currentPage":3,"totalPages":3}`, asked: 3, items: 3},
		{name: "without totals", pagination: `{"currentPage":1}`, asked: 1, items: 3, want: 2},
		{name: "contradiction", pagination: `{"currentPage":1,"totalPages":0}`, asked: 1, items: 3, want: 2},
		{name: "hasNextPage", pagination: `{"hasNextPage":true}`, asked: 1, want: 2},
		{name: "hasNextPage false", pagination: `{"hasNextPage":false}`, asked: 1, items: 3},
		{name: "hasNextPage, yet the last page", pagination: `{"totalPages":1,"hasNextPage":true}`, asked: 1, items: 3, want: 2},
		{name: "no hasNextPage, yet more pages", pagination: `{"totalPages":9,"hasNextPage":false}`, asked: 1, items: 3, want: 2},
		{name: "the same, empty page", pagination: `{"totalPages":9,"hasNextPage":false}`, asked: 5},
		{name: "they agree", pagination: `{"totalPages":9,"hasNextPage":true}`, asked: 1, want: 2},
		{name: "null", pagination: `null`, asked: 1, items: 3, want: 2},
		{name: "the first, unsaid", pagination: `{"currentPage":1,"totalPages":3}`, items: 3, want: 2},
		{name: "the first, unsaid, and the last", pagination: `{"currentPage":1,"totalPages":1}`, items: 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &listService{answer: func(int, listRequest) string { return pageJSON(upTo(tt.items), tt.pagination) }}
			page, err := s.client(t).Documents.List(t.Context(), signforms.DocumentListParams{Page: tt.asked})
			require.NoError(t, err)
			require.Equal(t, tt.want, page.Next)
			require.True(t, json.Valid(page.Raw))
		})
	}
}
