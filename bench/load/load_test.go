package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/signforms/signforms-go/bench"
	"github.com/stretchr/testify/require"
)

// Every receiver has to take what is genuine, and those that verify have to refuse what is not.
func TestReceiversTakeWhatIsGenuine(t *testing.T) {
	for _, name := range []string{ours, bare} {
		for _, p := range bench.Payloads() {
			t.Run(name+"/"+p.Name, func(t *testing.T) {
				receiver, err := newReceiver(name)
				require.NoError(t, err)
				server := httptest.NewServer(receiver)
				defer server.Close()
				checkReceiver(t, server.Listener.Addr().String(), p, name != bare)
			})
		}
	}
}

func TestNodeReceiverTakesWhatIsGenuine(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH; install Node.js 20 or newer to test its receiver")
	}
	n := &nodeReceiver{dir: t.TempDir(), node: node}
	require.NoError(t, n.write())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := start(ctx, n.command())
	require.NoError(t, err)
	defer p.stop()
	for _, payload := range bench.Payloads() {
		checkReceiver(t, p.address, payload, true)
	}
	used, err := p.cpu(ctx)
	require.NoError(t, err)
	require.Positive(t, used, "CPU time that the receiver says it used")
}

func checkReceiver(t *testing.T, address string, p bench.Payload, verifies bool) {
	genuine, err := requests(p, 20)
	require.NoError(t, err)
	took, err := send(t.Context(), address, genuine[:19], 3)
	require.NoError(t, err)
	require.Positive(t, took)
	forged := []byte(strings.Replace(string(genuine[19]), "example.com/", "example.org/", 1))
	_, err = send(t.Context(), address, [][]byte{forged}, 1)
	if !verifies {
		require.NoError(t, err)
		return
	}
	require.ErrorContains(t, err, "401", "a request with one letter changed")
}

func TestReceiverThatDoesNotListen(t *testing.T) {
	_, err := start(t.Context(), exec.Command("go", "version"))
	require.ErrorContains(t, err, "did not listen")
}

func TestSendEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done() // until the sender hangs up
	}))
	defer server.Close()
	texts, err := requests(bench.Payloads()[0], 3)
	require.NoError(t, err)
	_, err = send(ctx, server.Listener.Addr().String(), texts, 2)
	require.ErrorIs(t, err, context.Canceled)
}
