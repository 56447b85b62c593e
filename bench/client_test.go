package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

const (
	apiKey       = "0f9e7c21-2d5b-4b0e-9c8d-3a6f1e5b7c40"
	allDocuments = 100_000
	firstID      = "035042b2-8bac-41fc-82c3-3e742391a889" // of the first document in payloads/documents.json
)

// documents answers GET /get-documents: one document by its id, or a page of 100 with ids of their own. It does next to
// nothing, so that what is measured is the client.
type documents struct{ page, first []byte }

func newService(t testing.TB) (client *signforms.Client, url string) {
	page := bytes.Trim(read("documents"), "[]")
	first, _, _ := bytes.Cut(page, []byte(`},{"documentId"`))
	server := httptest.NewServer(documents{page, append(bytes.Clone(first), '}')})
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections(); server.Close() })
	client, err := signforms.New(server.URL, apiKey, nil)
	require.NoError(t, err)
	return client, server.URL
}

func (s documents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	number, total, items := 1, 1, s.first
	if query.Get("documentId") == "" {
		number, _ = strconv.Atoi(query.Get("page"))
		total, items = allDocuments, nil
		if first := (number - 1) * 100; first >= 0 && first < total {
			items = bytes.Clone(s.page)
			renumber(items, uint64(first))
		}
	}
	body := fmt.Appendf(nil, `{"message":"Documents fetched successfully","documents":[%s],"documentsCount":%d,"formCount":0,`+
		`"pagination":{"currentPage":%d,"totalPages":%d,"totalDocuments":%[2]d}}`, items, total, number, (total+99)/100)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

func BenchmarkClient(b *testing.B) {
	client, url := newService(b)
	ctx := context.Background()
	for range 2_000 { // or the row that runs first would pay for what a process does once
		_, err := listByHand(ctx, url, "documentId="+firstID)
		require.NoError(b, err)
	}
	run := func(name string, want int, call func() (int, error)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := call(); err != nil || n != want {
					b.Fatalf("got %d, want %d: %v", n, want, err)
				}
			}
		})
	}
	run("get/library=signforms/size=1", 1, func() (int, error) {
		_, err := client.Documents.Get(ctx, firstID)
		return 1, err
	})
	run("get/library=byhand/size=1", 1, func() (int, error) {
		page, err := listByHand(ctx, url, "documentId="+firstID)
		return len(page.Documents), err
	})
	run("list/library=signforms/size=100", 100, func() (int, error) {
		page, err := client.Documents.List(ctx, signforms.DocumentListParams{Page: 1, Limit: 100})
		if err != nil {
			return 0, err
		}
		return len(page.Items), nil
	})
	run("list/library=byhand/size=100", 100, func() (int, error) {
		page, err := listByHand(ctx, url, "page=1&limit=100")
		return len(page.Documents), err
	})
	run("all/library=signforms/size=100000", allDocuments, func() (n int, err error) {
		for _, err := range client.Documents.All(ctx, signforms.DocumentListParams{}) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	})
	run("all/library=byhand/size=100000", allDocuments, func() (int, error) { return countByHand(ctx, url) })
}

// Both clients have to get the same records before their times are compared.
func TestClientsGetTheSame(t *testing.T) {
	client, url := newService(t)
	page, err := client.Documents.List(t.Context(), signforms.DocumentListParams{Page: 2, Limit: 100})
	require.NoError(t, err)
	byHand, err := listByHand(t.Context(), url, "page=2&limit=100")
	require.NoError(t, err)
	require.Len(t, page.Items, 100)
	require.Len(t, byHand.Documents, 100)
	for i, got := range page.Items {
		want := byHand.Documents[i]
		require.Equal(t, want.DocumentID, got.ID)
		require.EqualValues(t, want.Status, got.Status)
		require.True(t, want.UpdatedAt.Equal(got.UpdatedAt))
		require.Len(t, got.Signers, len(want.Signers))
		require.Equal(t, want.Signers[0].Email, got.Signers[0].Email)
	}
}

// All of 100,000 documents pass through a few megabytes: two pages, and 16 bytes for each id that was seen.
func TestAllHoldsLittle(t *testing.T) {
	client, _ := newService(t)
	_, err := client.Documents.Get(t.Context(), firstID) // opens a connection
	require.NoError(t, err)
	n, start, most := 0, liveHeap(), int64(0)
	for _, err := range client.Documents.All(t.Context(), signforms.DocumentListParams{}) {
		require.NoError(t, err)
		if n++; n%5_000 == 0 {
			most = max(most, liveHeap()-start)
		}
	}
	require.Equal(t, allDocuments, n)
	require.Less(t, most, int64(8<<20))
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
