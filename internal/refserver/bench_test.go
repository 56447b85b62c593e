package refserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// wireRequest is a request of a benchmark, and a text that its answer must contain.
type wireRequest struct{ method, path, body, want string }

// BenchmarkLoopback measures requests over loopback to a service with 100,000 documents, one at a time. Each is compared with a
// handler that answers with a fixed body of the same size.
func BenchmarkLoopback(b *testing.B) {
	srv := servicetest.Start(b, nil)
	addDocuments(srv, 100_000)
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	created := strings.ReplaceAll(srv.Now().Format("2006-01-02T15:04:05.000Z"), ":", "%3A")
	for _, query := range []string{"", "&page=1000", "&status=DECLINED", "&archive=false&dateTo=" + created, "&query=lease+77"} {
		beside(b, srv, "list?"+query, func(n int) []wireRequest {
			return []wireRequest{{method: "GET", path: "/get-documents?limit=100" + query, body: "", want: `"Documents fetched successfully"`}}
		})
	}
	beside(b, srv, "send", func(n int) []wireRequest {
		return []wireRequest{{method: "POST", path: "/pdf-template-lambda", body: `{"signingType":"PDF_TEMPLATE","documentId":"` + template +
			`","receiversList":[{"name":"Ann","email":"ann@example.com","roleTitle":"Buyer"}]}`, want: `"Document sent successfully"`}}
	})
	beside(b, srv, "void", func(n int) (all []wireRequest) {
		for range n {
			id := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
			all = append(all, wireRequest{method: "POST", path: "/void-document", body: fmt.Sprintf(`{"documentId":%q,"documentType":"PDF"}`, id),
				want: `"Document voided successfully"`})
		}
		return all
	})
	beside(b, srv, "sign", func(n int) (all []wireRequest) {
		mails := len(srv.Messages())
		for range n {
			srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
		}
		for _, m := range srv.Messages()[mails:] {
			all = append(all, wireRequest{method: "POST", path: strings.TrimPrefix(string(m.Link), srv.URL), body: "", want: "Signed by"})
		}
		return all
	})
}

// BenchmarkListRatio alternates lists of 100 documents with requests to a handler that has a prepared answer. It reports the ratio of
// the requests per second of both, by the medians.
func BenchmarkListRatio(b *testing.B) {
	srv := servicetest.Start(b, nil)
	addDocuments(srv, 1_000)
	list := wireRequest{method: "GET", path: "/get-documents?limit=100", body: "", want: ""}
	bare := fixedAnswer(roundTrip(b, srv, srv.URL, list))
	defer bare.Close()
	var service, fixed []time.Duration
	for b.Loop() {
		start := time.Now()
		roundTrip(b, srv, srv.URL, list)
		middle := time.Now()
		roundTrip(b, srv, bare.URL, list)
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

// beside sends requests to the service, and as many to a handler that reads them and has a prepared answer. The requests for the
// service are made before, for n rounds, because some succeed only once.
func beside(b *testing.B, srv *servicetest.Server, name string, requests func(n int) []wireRequest) {
	example := requests(1)[0]
	fixed := roundTrip(b, srv, srv.URL, example)
	bare := fixedAnswer(fixed)
	defer bare.Close()
	run := func(b *testing.B, url string, all []wireRequest) {
		b.ResetTimer()
		for i := range b.N {
			if answer := roundTrip(b, srv, url, all[i%len(all)]); !bytes.Contains(answer, []byte(example.want)) {
				b.Fatalf("answer %s, want %s in it", answer, example.want)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	}
	b.Run(name+"/service", func(b *testing.B) { run(b, srv.URL, requests(b.N)) })
	b.Run(name+"/bare", func(b *testing.B) { run(b, bare.URL, []wireRequest{example}) })
}

func roundTrip(b *testing.B, srv *servicetest.Server, url string, r wireRequest) []byte {
	req, err := http.NewRequest(r.method, url+r.path, strings.NewReader(r.body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("x-api-key", srv.APIKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s %s: %d %s %v", r.method, r.path, resp.StatusCode, answer, err)
	}
	return answer
}

// BenchmarkDeliveries delivers to webhooks in the same process, over loopback.
func BenchmarkDeliveries(b *testing.B) {
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer endpoint.Close()
	for _, webhooks := range []int{1, 8} {
		b.Run(fmt.Sprintf("webhooks=%d", webhooks), func(b *testing.B) {
			srv := servicetest.Start(b, nil)
			form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
			for range webhooks {
				srv.AddWebhook(refserver.Webhook{URL: endpoint.URL, Event: refserver.FormResponse})
			}
			b.ResetTimer()
			for range max(1, b.N/webhooks) {
				if _, err := srv.SubmitForm(form, refserver.Submission{}); err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, srv.Settle(b.Context()))
			b.StopTimer()
			for _, d := range srv.Deliveries() {
				require.Equal(b, refserver.DeliveryDelivered, d.Status)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
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
