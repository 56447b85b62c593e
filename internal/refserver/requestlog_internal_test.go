package refserver

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

const maxRequests = 100_000

func TestRequestLog_keepsTheNewest(t *testing.T) {
	const most = maxRequests / 20
	l := requestLog{most: most}
	for i := range 2*most + 5 {
		l.add(api.Record{RequestID: fmt.Sprint(i)})
		if i == 2 {
			require.Equal(t, 3, l.records().Len())
		}
	}
	got := slices.Collect(l.records().All())
	require.Len(t, got, most)
	require.Equal(t, []int64{int64(most + 6), int64(2*most + 5)}, []int64{got[0].ID, got[most-1].ID}, "from 1")
	l.reset()
	l.add(api.Record{})
	require.Equal(t, int64(2*most+6), slices.Collect(l.records().All())[0].ID, "a page of an earlier request never shows another")
	require.Equal(t, []string{fmt.Sprint(most + 5), fmt.Sprint(2*most + 4)}, []string{got[0].RequestID, got[most-1].RequestID})
	require.LessOrEqual(t, len(l.all), most+most/8)
}

// TestRequestLog_isCut fills the log with the longest bodies. The newest requests are whole; the others are marked as cut.
func TestRequestLog_isCut(t *testing.T) {
	l := requestLog{most: maxRequests}
	for i := range 1_000 {
		l.add(api.Record{
			RequestID: fmt.Sprint(i), Method: "POST", StatusCode: 200, Body: make([]byte, 64<<10), Header: http.Header{"Accept": {"*/*"}},
			Query: map[string][]string{"page": {"1"}}, Notes: []string{"kept"},
		})
	}
	got := slices.Collect(l.records().All())
	require.Len(t, got, 1_000)
	whole := 0
	for i, r := range got {
		require.Equal(t, fmt.Sprint(i), r.RequestID)
		require.Equal(t, []string{"kept"}, r.Notes)
		require.Equal(t, r.IsCut, r.Body == nil && r.Header == nil && r.Query == nil)
		if !r.IsCut {
			whole++
		} else {
			require.Zero(t, whole, "the newest are whole")
		}
	}
	require.InDelta(t, wholeBytes/(64<<10), whole, 5)
	require.True(t, got[0].IsCut)
	l.add(api.Record{Body: make([]byte, 2*wholeBytes)})
	require.False(t, l.all[1_000].IsCut, "the newest is whole, whatever its size")
}

// TestRequestLog_isSmall logs 30,000 requests of a client. They take at most 30 MiB.
func TestRequestLog_isSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("logging them takes a while")
	}
	const requests = 30_000
	l := requestLog{most: requests}
	before := liveHeap()
	for i := range requests {
		line := fmt.Sprintf("/get-documents?limit=100&query=%s&page=%d", strings.Repeat("x", 50), i)
		u, err := url.Parse(line)
		require.NoError(t, err)
		header := http.Header{}
		for _, name := range []string{"x-api-key", "User-Agent", "Accept", "Accept-Encoding", "x-request-id", "workspaceid"} {
			header.Set(name, fmt.Sprintf("41b1d28d-8a2f-4d8e-b1cb-%012d", i))
		}
		l.add(api.Record{Method: "GET", Path: u.Path, RequestID: header.Get("x-request-id"), Header: header, Query: u.Query(), StatusCode: 200})
	}
	left := liveHeap() - before
	require.Len(t, l.all, requests)
	require.Less(t, left>>20, int64(30), "MiB")
}

// liveHeap returns a signed number, because garbage of earlier tests may be freed meanwhile.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // a second time, to free what pools still held
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestRequestLog_forgetsDroppedRequests: dropped requests no longer count, so that the newest requests stay whole however long the
// server runs.
func TestRequestLog_forgetsDroppedRequests(t *testing.T) {
	l := requestLog{most: 500}
	for i := range 7_000 {
		size := 16 << 10
		if i > 5_000 {
			size = 30 << 10 // 500 of these fit
		}
		l.add(api.Record{Body: make([]byte, size)})
	}
	for r := range l.records().All() {
		require.False(t, r.IsCut)
	}
}
