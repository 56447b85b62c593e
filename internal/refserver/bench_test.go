package refserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func BenchmarkStartToFirstAnswer(b *testing.B) {
	for b.Loop() {
		srv := servicetest.Start(b, nil)
		if _, err := srv.Client().Documents.List(b.Context(), signforms.DocumentListParams{}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		srv.Close()
		b.StartTimer()
	}
}

// addDocuments adds n documents with two signers. Every tenth is declined.
func addDocuments(srv *servicetest.Server, n int) (ids []string) {
	for i := range n {
		id := srv.AddDocument(refserver.Document{
			Name: "Lease " + strconv.Itoa(i), Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}, {Name: "Ben", Email: "ben@example.com"}},
		})
		if i%10 == 0 {
			srv.Signer(id, "ann@example.com").Decline("")
		}
		ids = append(ids, id)
	}
	return ids
}

// BenchmarkListRatio alternates lists of 100 documents with requests to a handler that has a prepared answer. It reports the ratio of
// the requests per second of both, by the medians.
func BenchmarkListRatio(b *testing.B) {
	srv := servicetest.Start(b, nil)
	addDocuments(srv, 1_000)
	bare := fixedAnswer(roundTrip(b, srv, srv.URL))
	defer bare.Close()
	var service, fixed []time.Duration
	for b.Loop() {
		start := time.Now()
		roundTrip(b, srv, srv.URL)
		middle := time.Now()
		roundTrip(b, srv, bare.URL)
		service, fixed = append(service, middle.Sub(start)), append(fixed, time.Since(middle))
	}
	b.ReportMetric(float64(median(fixed))/float64(median(service)), "of-fixed")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// fixedAnswer starts a server that reads each request and answers with the body.
func fixedAnswer(body []byte) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}))
}

// roundTrip asks for a list of 100.
func roundTrip(b *testing.B, srv *servicetest.Server, url string) []byte {
	req, err := http.NewRequest(http.MethodGet, url+"/get-documents?limit=100", nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("x-api-key", srv.APIKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%d %s %v", resp.StatusCode, answer, err)
	}
	return answer
}

// BenchmarkMemory reports the heap that 10,000 documents with two signers take, with their audit trails and mail.
func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		srv := servicetest.Start(b, nil)
		runtime.GC()
		runtime.ReadMemStats(&before)
		addDocuments(srv, 10_000)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB/10k-documents")
		srv.Close()
	}
}
