package refserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// signedLease adds a document with a webhook that tracks it, and signs it.
func signedLease(t *testing.T, srv *servicetest.Server, url string) (doc string) {
	t.Helper()
	srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted})
	doc = srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF-lease")})
	require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
	return doc
}

// getFinished asks for the finished file of a document by its URL.
func getFinished(t *testing.T, srv *servicetest.Server, method, doc string) (status int, content string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL+"/finished/"+doc+".pdf", nil)
	require.NoError(t, err)
	resp, err := srv.HTTPClient().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func finishes(srv *servicetest.Server, doc string) (notes []string) {
	for _, e := range srv.Audit(doc) {
		if e.Action == "finish" {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// TestFinishedFile_madeAtTheFirstGET: the event has its URL at once. Nothing but a GET makes it; many at once make it once, and
// it is the same for ever.
func TestFinishedFile_madeAtTheFirstGET(t *testing.T) {
	endpoint, storage, calls := newReceiver(t), &memory{}, new(atomic.Int32)
	goOn := make(chan struct{})
	opts := refserver.Options{Start: start, Storage: storage, Finish: func(_ context.Context, d refserver.DocumentState) ([]byte, error) {
		calls.Add(1)
		<-goOn
		return []byte("%PDF-finished " + d.Name + " of " + string(d.PDF)), nil
	}}
	srv := servicetest.Start(t, &opts)
	doc := signedLease(t, srv, endpoint.URL)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, []string{"new_signature_pdf_individual_signed", "new_signature_pdf_completed"}, endpoint.types(t))
	require.Contains(t, string(endpoint.all()[1].body), `"finishedPdfUrl":"`+srv.URL+"/finished/"+doc+`.pdf"`)
	status, _ := getFinished(t, srv, http.MethodHead, doc)
	require.Equal(t, http.StatusOK, status)
	require.Zero(t, calls.Load())

	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			status, content := getFinished(t, srv, http.MethodGet, doc)
			require.Equal(t, http.StatusOK, status)
			require.Equal(t, "%PDF-finished Lease of %PDF-lease", content)
		})
	}
	close(goOn)
	all.Wait()
	require.Equal(t, int32(1), calls.Load())
	require.Equal(t, []string{"the finished file was made"}, finishes(srv, doc))
	d, _ := srv.FindDocument(doc)
	require.True(t, d.Finished)

	opts.Finish = func(context.Context, refserver.DocumentState) ([]byte, error) { return []byte("%PDF-other"), nil }
	srv, _ = restart(t, srv, storage, opts)
	_, content := getFinished(t, srv, http.MethodGet, doc)
	require.Equal(t, "%PDF-finished Lease of %PDF-lease", content)
	open := srv.AddDocument(refserver.Document{Name: "Open", Signers: ann})
	status, _ = getFinished(t, srv, http.MethodGet, open)
	require.Equal(t, http.StatusNotFound, status)
}

// TestFinishedFile_cannotBeMade is a 503 with the reason in the audit trail, once, and the next GET tries again.
func TestFinishedFile_cannotBeMade(t *testing.T) {
	long := "no " + strings.Repeat("paper", 1000)
	for _, row := range []struct {
		why  string
		fail func() ([]byte, error)
	}{
		{why: long, fail: func() ([]byte, error) { return []byte("half a file"), errors.New(long) }},
		{why: "panic: no paper", fail: func() ([]byte, error) { panic("no paper") }},
		{why: "the file is empty", fail: func() ([]byte, error) { return nil, nil }},
	} {
		t.Run(fmt.Sprintf("%.60s", row.why), func(t *testing.T) {
			works := new(atomic.Bool)
			srv := servicetest.Start(t, &refserver.Options{Start: start, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
				if works.Load() {
					return []byte("%PDF-finished"), nil
				}
				return row.fail()
			}})
			doc := signedLease(t, srv, newReceiver(t).URL)
			for range 3 {
				status, _ := getFinished(t, srv, http.MethodGet, doc)
				require.Equal(t, http.StatusServiceUnavailable, status)
			}
			_, err := srv.FinishedPDF(t.Context(), doc)
			require.ErrorIs(t, err, refserver.ErrNotMade)
			notes := finishes(srv, doc)
			require.Len(t, notes, 1)
			require.Contains(t, notes[0], "the finished file could not be made: "+row.why[:9])
			require.Less(t, len(notes[0]), 400, "a long reason is cut")
			works.Store(true)
			status, _ := getFinished(t, srv, http.MethodGet, doc)
			require.Equal(t, http.StatusOK, status)
		})
	}
}

// TestFinishedFile_cannotBeSaved: it would be another one the next time.
func TestFinishedFile_cannotBeSaved(t *testing.T) {
	storage := newFated()
	srv := servicetest.Start(t, &refserver.Options{Start: start, Storage: storage, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
		return []byte("%PDF-finished"), nil
	}})
	doc := signedLease(t, srv, newReceiver(t).URL)
	require.NoError(t, srv.Settle(t.Context()))
	storage.setOutcome(saveFails)
	status, _ := getFinished(t, srv, http.MethodGet, doc)
	require.Equal(t, http.StatusServiceUnavailable, status)
	storage.setOutcome(saveDone)
	status, content := getFinished(t, srv, http.MethodGet, doc)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "%PDF-finished", content)
}

// TestFinishedFile_callHangs after 20 seconds, and when the server closes.
func TestFinishedFile_callHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, release := refserver.NewNetwork(), make(chan struct{})
		defer network.Close()
		defer close(release)
		srv := servicetest.Start(t, &refserver.Options{Network: network, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
			<-release
			return nil, nil
		}})
		doc := srv.AddDocument(refserver.Document{Name: "Hung", Signers: ann})
		require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
		began := time.Now()
		status, _ := getFinished(t, srv, http.MethodGet, doc)
		require.Equal(t, http.StatusServiceUnavailable, status)
		require.Equal(t, 20*time.Second, time.Since(began))
		began = time.Now()
		var asked sync.WaitGroup
		asked.Go(func() { srv.FinishedPDF(t.Context(), doc) })
		synctest.Wait()
		srv.Close()
		asked.Wait()
		require.Zero(t, time.Since(began))
	})
}
