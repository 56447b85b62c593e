package endtoend_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

var many = flag.Int("many", 200, "how many documents the sandbox is measured with")

// Every document is sent, signed and delivered to a receiver. The test logs its figures:
// go test -run ManyDocuments -v -timeout 30m . -many 100000
func TestManyDocuments(t *testing.T) {
	for _, where := range []string{"memory", "file"} {
		t.Run(where, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "sandbox.db")
			args := []string{"--plain-pdfs", "--data", data}
			if where == "memory" {
				args = []string{"--plain-pdfs", "--memory"}
			}
			s := start(t, args...)
			manyDocuments(t, s)
			measure(t, s, "after the work")
			if where == "memory" {
				return
			}
			s.stop(t)
			info, err := os.Stat(data)
			require.NoError(t, err)
			t.Logf("the file has %.0f MB", float64(info.Size())/1e6)
			began := time.Now()
			s = start(t, args...)
			t.Logf("ready again after %v", time.Since(began).Round(time.Millisecond))
			measure(t, s, "after the start")
			require.Equal(t, *many, total(t, s, "SIGNED"))
		})
	}
}

func total(t *testing.T, s *sandbox, status string) int {
	t.Helper()
	var page wire.Page[wire.DocumentRecord]
	require.NoError(t, s.client.Get(t.Context(), "/documents", url.Values{"type": {"PDF_TEMPLATE"}, "status": {status}, "limit": {"1"}}, &page))
	return page.Total
}

func manyDocuments(t *testing.T, s *sandbox) {
	t.Helper()
	received := atomic.Int64{}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		received.Add(1)
	}))
	defer receiver.Close()
	var template wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/templates", wire.Template{Template: refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}}}, &template))
	require.NoError(t, s.client.Post(t.Context(), "/webhooks", refserver.Webhook{URL: receiver.URL, Event: "new_template_response"}, nil))
	ids := make([]string, *many)
	began := time.Now()
	parallel(t, s, func(c *apiClient, i int) int {
		var sent struct {
			ID string `json:"createdDocumentId"`
		}
		status := c.post("/pdf-template-lambda", map[string]any{
			"signingType": "PDF_TEMPLATE", "documentId": template.ID,
			"receiversList": []any{map[string]string{"name": "Ann", "email": "ann@example.com", "roleTitle": "Buyer"}},
			"mailData":      map[string]string{"subject": "Please sign", "message": "Soon."},
		}, &sent)
		ids[i] = sent.ID
		return status
	})
	t.Logf("%.0f sends/s", float64(*many)/time.Since(began).Seconds())
	began = time.Now()
	parallel(t, s, func(c *apiClient, i int) int {
		return c.post(wire.Prefix+"/documents/"+ids[i]+"/sign", wire.Signature{Signer: "ann@example.com"}, nil)
	})
	t.Logf("%.0f signatures/s", float64(*many)/time.Since(began).Seconds())
	for received.Load() < int64(*many) {
		require.NoError(t, s.client.Post(t.Context(), "/clock/settle", wire.Wait{Timeout: wire.Duration(5 * time.Minute)}, nil))
	}
	t.Logf("all told after %v more", time.Since(began).Round(time.Millisecond))
}

// parallel makes one request per document from 8 clients.
func parallel(t *testing.T, s *sandbox, post func(c *apiClient, i int) int) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	defer transport.CloseIdleConnections()
	next := atomic.Int64{}
	failed := atomic.Int64{}
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			c := &apiClient{s, &http.Client{Transport: transport}}
			for i := next.Add(1) - 1; i < int64(*many); i = next.Add(1) - 1 {
				if post(c, int(i)) != http.StatusOK {
					failed.Add(1)
				}
			}
		})
	}
	clients.Wait()
	require.Zero(t, failed.Load())
}

// measure logs how fast lists are, and how much memory the program has.
func measure(t *testing.T, s *sandbox, when string) {
	t.Helper()
	lists, began := 0, time.Now()
	for ; time.Since(began) < time.Second; lists++ {
		require.Equal(t, http.StatusOK, s.call(t, "GET", fmt.Sprintf("/get-documents?limit=100&page=%d", lists%10+1), nil, nil))
	}
	t.Logf("%s: %d lists of up to 100/s, %s", when, lists, memory(s))
}

// memory returns the memory of the process, as Linux reports it.
func memory(s *sandbox) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	if err != nil {
		return err.Error()
	}
	var said []string
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
			said = append(said, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(said, ", ")
}
