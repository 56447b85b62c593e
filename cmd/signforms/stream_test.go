package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// meter counts the records that are written to it, and measures the live memory meanwhile.
type meter struct {
	records  int
	at       map[int]uint64 // live bytes when so many were written
	requests *atomic.Int64
	late     bool // records were held back while further pages were requested
}

func (m *meter) Write(p []byte) (int, error) {
	m.records++
	if _, ok := m.at[m.records]; ok {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		m.at[m.records] = stats.HeapAlloc
	}
	m.late = m.late || m.requests.Load() > int64(m.records/80+4)
	return len(p), nil
}

// However long a list is, only two pages and the ids that were seen are in memory.
func TestListsAreStreamed(t *testing.T) {
	const pages = 300
	var requests atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		var docs []string
		for i := (page - 1) * limit; i < min(page*limit, 100*pages); i++ {
			docs = append(docs, fmt.Sprintf(`{"documentId":"%08x-0000-4000-8000-000000000000","documentName":"%s","status":"PENDING","createdAt":%q}`,
				i, strings.Repeat("n", 200), time.Unix(int64(-i), 0).UTC().Format(time.RFC3339)))
		}
		fmt.Fprintf(w, `{"documents":[%s],"pagination":{"currentPage":%d,"totalPages":%d,"totalDocuments":%d}}`, strings.Join(docs, ","), page, (100*pages+limit-1)/limit, 100*pages)
	}))
	defer srv.Close()
	t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
	t.Setenv("SIGNFORMS_API_KEY", "a key of some length")
	for _, format := range []string{"--json", "--csv"} {
		requests.Store(0)
		m := &meter{at: map[int]uint64{2_000: 0, 100 * (pages - 1): 0}, requests: &requests}
		code := run(t.Context(), hasty, []string{"documents", "list", format}, strings.NewReader(""), m, m)
		require.Equal(t, cli.ExitOK, code)
		require.GreaterOrEqual(t, m.records, 100*pages)
		require.Less(t, int64(m.at[100*(pages-1)])-int64(m.at[2_000]), int64(3<<20))
		require.False(t, m.late)
	}
}
