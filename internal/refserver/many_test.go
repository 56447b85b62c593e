package refserver_test

import (
	"net/http"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestServer_leavesNothingBehind runs many servers at a time, each with a client and a webhook.
func TestServer_leavesNothingBehind(t *testing.T) {
	const servers = 50
	r := newReceiver(t)
	http.DefaultClient.CloseIdleConnections()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	t.Run("servers", func(t *testing.T) {
		var running sync.WaitGroup
		for range servers {
			running.Go(func() { useOnce(t, r.URL) })
		}
		running.Wait()
	})
	require.Len(t, r.all(), servers)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.LessOrEqual(c, runtime.NumGoroutine(), goroutines+1, "goroutines; the check itself runs in one")
		assert.LessOrEqual(c, openFiles(t), files, "open files and sockets")
	}, 20*time.Second, 10*time.Millisecond)
}

// useOnce starts a server, has a form answered and delivered, lists documents, and closes the server.
func useOnce(t *testing.T, receiver string) {
	srv, err := refserver.Start(nil)
	if err != nil {
		t.Error(err)
		return
	}
	defer srv.Close()
	form, err := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	if err == nil {
		_, err = srv.AddWebhook(refserver.Webhook{URL: receiver, Event: refserver.FormResponse})
	}
	if err == nil {
		_, err = srv.SubmitForm(form, refserver.Submission{})
	}
	if err == nil {
		_, err = servicetest.Of(t, srv).Client().Documents.List(t.Context(), signforms.DocumentListParams{})
	}
	if err == nil {
		err = srv.Settle(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
}

// openFiles counts the open files and sockets of the process.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // only Linux lists them; on other systems the test checks only goroutines and ports
	}
	return len(entries)
}
