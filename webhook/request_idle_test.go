//go:build !race

// The race detector takes memory of its own.

package webhook_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

// TestHandler_idleConnections opens connections that announce a body and send none of it. Each may hold little more than one of a
// server whose handler only reads.
func TestHandler_idleConnections(t *testing.T) {
	const connections = 250
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, nil)
	for range 50 {
		serve(h, array(strings.Repeat(" ", 60_000)+form)) // fills pools with large buffers, which must not be lent out for nothing
	}
	bareHandler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { r.Body.Read(make([]byte, 1)) })
	holdIdle(t, connections, bareHandler) // memory that net/http keeps permanently is not counted
	bare := holdIdle(t, connections, bareHandler)
	ours := holdIdle(t, connections, h)
	t.Logf("%d bytes per idle connection, %d behind a bare handler", ours, bare)
	// It is about 3 KiB. Stacks are not counted, because the runtime changes their size at times.
	require.Less(t, ours-bare, int64(8<<10))
}

// holdIdle returns how many bytes of heap each idle connection to a server holds.
func holdIdle(t *testing.T, connections int, h http.Handler) int64 {
	t.Helper()
	var waiting, open sync.WaitGroup
	waiting.Add(connections)
	open.Add(connections)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = &firstReadOf{ReadCloser: r.Body, begun: waiting.Done}
			h.ServeHTTP(w, r)
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				open.Done()
			}
		},
	}
	l := &pipeListener{conns: make(chan net.Conn)}
	before := liveHeap()
	var served sync.WaitGroup
	served.Go(func() { server.Serve(l) })
	clients := make([]net.Conn, connections)
	for i := range clients {
		near, far := net.Pipe()
		clients[i] = near
		l.conns <- far
		header := webhook.Sign(secret, noon, nil)
		_, err := fmt.Fprintf(near, "POST /webhook HTTP/1.1\r\nHost: example.com\r\nContent-Type: application/json\r\nContent-Length: 65000\r\n"+
			"X-Signature: %s\r\nX-Timestamp: %s\r\n\r\n", header.Get("X-Signature"), header.Get("X-Timestamp"))
		require.NoError(t, err)
	}
	waiting.Wait()
	held := liveHeap() - before
	for _, near := range clients {
		near.Close()
	}
	server.Close()
	served.Wait()
	open.Wait()
	return held / int64(connections)
}

// firstReadOf tells when a body is read for the first time.
type firstReadOf struct {
	io.ReadCloser
	begun func()
}

func (r *firstReadOf) Read(p []byte) (int, error) {
	if r.begun != nil {
		r.begun()
		r.begun = nil
	}
	return r.ReadCloser.Read(p)
}
