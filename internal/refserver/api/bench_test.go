package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// fill returns a store with n documents in progress of two signers each, every tenth of them void, and their ids.
func fill(tb testing.TB, n int) (*store.Store, []string) {
	tb.Helper()
	s, ids := store.New(time.Now), signing.NewIDs(1)
	documents := make([]string, n)
	require.NoError(tb, s.Update(func(tx *store.Tx) error {
		tx.PutKey(apiKey, workspace)
		return nil
	}))
	start := instant("2026-01-01T00:00:00Z")
	for i := range documents {
		at := start.Add(time.Duration(i) * time.Second)
		require.NoError(tb, s.Update(func(tx *store.Tx) error {
			c, err := signing.Create(signing.Document{
				Kind: signing.KindPDF, WorkspaceID: workspace, Name: "Lease " + strconv.Itoa(i), AuthorEmail: olga,
				Signers: []signing.Signer{ann("", ""), ben("", "")},
			}, ids, at)
			if err != nil {
				return err
			}
			tx.Apply(c)
			documents[i] = c.Document.ID
			if c, err = c.Document.Send(at); err != nil {
				return err
			}
			tx.Apply(c)
			if i%10 != 0 {
				return nil
			}
			c, err = c.Document.Void(at)
			tx.Apply(c)
			return err
		}))
	}
	return s, documents
}

// roundTrip sends one request over the loopback and reads the answer.
func roundTrip(tb testing.TB, url, method, path, body string) []byte {
	req, err := http.NewRequest(method, url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("x-api-key", apiKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		tb.Fatalf("%s %s: %d %s %v", method, path, res.StatusCode, answer, err)
	}
	return answer
}

// BenchmarkLoopback measures requests over the loopback, one at a time, each beside a handler that answers with a fixed body
// of the same size. Sends come last: they add documents.
func BenchmarkLoopback(b *testing.B) {
	s, documents := fill(b, 100_000)
	require.NoError(b, s.Update(func(tx *store.Tx) error {
		tx.PutTemplate(signing.Template{ID: template, WorkspaceID: workspace, Roles: []signing.Role{{Title: "Client"}}})
		return nil
	}))
	srv := httptest.NewServer(api.New(api.Options{Store: s, IDs: signing.NewIDs(2)}))
	defer srv.Close()
	for _, q := range []string{"limit=100", "limit=100&page=500", "limit=100&status=VOID", "limit=100&archive=false&dateTo=2026-01-01T12:00:00.000Z", "limit=100&query=lease+77"} {
		compare(b, "list/"+q, srv.URL, "GET", func() (string, string) { return "/get-documents?" + q, "" })
	}
	next := 0
	compare(b, "void", srv.URL, "POST", func() (string, string) {
		next++
		return "/void-document", fmt.Sprintf(`{"documentId":%q,"documentType":"PDF"}`, documents[next%len(documents)])
	})
	compare(b, "send", srv.URL, "POST", func() (string, string) {
		return "/pdf-template-lambda", `{"signingType":"PDF_TEMPLATE","documentId":"` + template +
			`","receiversList":[{"name":"Ann","email":"ann@example.com","roleTitle":"Client"}]}`
	})
}

func compare(b *testing.B, name, url, method string, next func() (path, body string)) {
	path, body := next()
	fixed := roundTrip(b, url, method, path, body)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(fixed)))
		w.Write(fixed)
	}))
	defer bare.Close()
	for kind, base := range map[string]string{"service": url, "bare": bare.URL} {
		b.Run(name+"/"+kind, func(b *testing.B) {
			for b.Loop() {
				path, body := next()
				roundTrip(b, base, method, path, body)
			}
		})
	}
}

// BenchmarkSign measures an act by a Go call: a signature, with its audit entry and its mail.
func BenchmarkSign(b *testing.B) {
	s, documents := fill(b, 100_000)
	next := 0
	for b.Loop() {
		id := documents[(next/2)%len(documents)]
		email := []string{"ann@example.com", "ben.o'neil+legal@example.com"}[next%2]
		next++
		s.Act(id, func(d signing.Document, now time.Time) (signing.Change, error) {
			return d.Sign(email, signing.SignParams{}, now)
		})
	}
}

// BenchmarkMemory reports the heap that 10,000 documents of two signers take, with their audit trails and mail.
func BenchmarkMemory(b *testing.B) {
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		s, documents := fill(b, 10_000)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB/10k-documents")
		runtime.KeepAlive(s)
		runtime.KeepAlive(documents)
	}
}
