package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// files is a host of PDFs.
type files struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	answer   http.HandlerFunc
}

func newFiles(t *testing.T) *files {
	f := &files{answer: func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("%PDF-1.7 signed")) }}
	f.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r)
		answer := f.answer
		f.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *files) host() string { return strings.TrimPrefix(f.URL, "https://") }

func (f *files) newArchive(t *testing.T) *archive {
	a, err := newArchive(filepath.Join(t.TempDir(), "finished"), []string{f.host()})
	require.NoError(t, err)
	a.client.Transport = f.Client().Transport
	return a
}

const id = "0b0e7c5e-7a54-4b7e-9a53-0d5f6f3a2a10"

func TestDeliveredPDFIsKeptOnce(t *testing.T) {
	f := newFiles(t)
	a := f.newArchive(t)
	q, err := queue.Open(filepath.Join(t.TempDir(), "events.db"), nil)
	require.NoError(t, err)
	defer q.Close()
	verifier, err := webhook.NewVerifier([]string{"a secret of the test"}, nil)
	require.NoError(t, err)
	deliver := func(events ...webhook.Event) {
		w := httptest.NewRecorder()
		q.Handler(verifier).ServeHTTP(w, webhooktest.NewRequest("http://x/webhook", "a secret of the test", time.Now(), webhooktest.Payload(events...)))
		require.Equal(t, http.StatusOK, w.Code)
	}
	completed := &webhook.SignatureCompleted{Document: webhook.Document{DocumentID: id}, FinishedPDFURL: f.URL + "/a.pdf?token=t"}
	deliver(completed)
	completed.DocumentName = "renamed, so that it is another event"
	deliver(completed, &webhook.FormResponse{FormResponseID: "../../etc/passwd", FinishedPDFURL: f.URL + "/b.pdf"}, &webhook.FormResponse{FormResponseID: "r"})
	deliver(&webhook.TemplateResponse{Document: webhook.Document{DocumentID: id}, Signers: []webhook.Signer{{SignerID: "s"}}, FinishedPDFURL: f.URL + "/c.pdf"})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, a.funcs()) }()
	require.Eventually(t, func() bool {
		s, err := q.Stats(t.Context())
		require.NoError(t, err)
		return s.Pending == 0
	}, time.Minute, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	s, err := q.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, s.Failed)
	require.Len(t, f.requests, 3, "the second event of a document downloads nothing")
	for _, r := range f.requests {
		for _, header := range []string{"Authorization", "X-Api-Key", "Cookie"} {
			require.Empty(t, r.Header.Values(header))
		}
	}
	kept, err := os.ReadFile(filepath.Join(a.dir, "document-"+id+".pdf"))
	require.NoError(t, err)
	require.Equal(t, "%PDF-1.7 signed", string(kept))
	entries, err := os.ReadDir(a.dir)
	require.NoError(t, err)
	require.Len(t, entries, 3, "nothing else, and nothing half written")
}

func TestRefusedDownloads(t *testing.T) {
	f := newFiles(t)
	elsewhere := newFiles(t)
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for what, c := range map[string]struct {
		link      string
		answer    http.HandlerFunc
		permanent bool
		says      string
	}{
		"another host":  {elsewhere.URL + "/token", nil, true, "not allowed"},
		"plain HTTP":    {"http://" + f.host() + "/token", nil, true, "not allowed"},
		"with password": {"https://u:token@" + f.host(), nil, true, "not allowed"},
		"not a URL":     {"https://%zz/token", nil, true, "is not a URL"},
		"no link":       {"", nil, true, "not allowed"},
		"a redirect":    {f.URL + "/token", http.RedirectHandler(elsewhere.URL+"/token", http.StatusFound).ServeHTTP, true, "not allowed"},
		"a circle":      {f.URL + "/token", http.RedirectHandler(f.URL+"/token", http.StatusFound).ServeHTTP, true, "too many redirects"},
		"not there yet": {f.URL + "/token", status(404), false, "answered 404"},
		"not a PDF":     {f.URL + "/token", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, false, "is not a PDF"},
		"too large":     {f.URL + "/token", func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 2000)) }, true, "more than 1000 bytes"},
		"cut short": {f.URL + "/token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("%PDF-1.7"))
		}, false, "unexpected EOF"},
	} {
		t.Run(what, func(t *testing.T) {
			a := f.newArchive(t)
			a.max = 1000
			f.answer = c.answer
			err := a.save(t.Context(), "document-x", c.link)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "token", "whoever has the link can read the document")
			require.Equal(t, c.permanent, webhook.IsPermanent(err))
			entries, err := os.ReadDir(a.dir)
			require.NoError(t, err)
			require.Empty(t, entries)
		})
	}
	require.Empty(t, elsewhere.requests)
	_, err := newArchive(t.TempDir(), []string{""})
	require.ErrorContains(t, err, "no hosts")
}

func TestRunEndsInOrder(t *testing.T) {
	f := newFiles(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := run(ctx, "127.0.0.1:0", filepath.Join(t.TempDir(), "events.db"), []string{"a secret of the test"}, f.newArchive(t).funcs(), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Error(t, run(t.Context(), "no address", filepath.Join(t.TempDir(), "events.db"), []string{"a secret of the test"}, f.newArchive(t).funcs(), nil))
	require.Error(t, run(t.Context(), "127.0.0.1:0", "x.db", []string{""}, f.newArchive(t).funcs(), nil))
}

func TestWithoutArguments(t *testing.T) {
	require.NoError(t, runDemo(t.Context()))
}
