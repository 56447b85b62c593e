package refserver_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestOptions_DialWebhook(t *testing.T) {
	asked := make(chan string, 1)
	srv := servicetest.Start(t, &refserver.Options{DialWebhook: func(_ context.Context, network, addr string) (net.Conn, error) {
		asked <- network + " " + addr
		return nil, errors.New("not to this one")
	}})
	hook := srv.AddWebhook(refserver.Webhook{URL: "http://receiver.test/hook", Event: refserver.SignatureCompleted})
	srv.TestWebhook(hook)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, "tcp receiver.test:80", <-asked)
	delivery := srv.Deliveries()[0]
	require.Equal(t, refserver.DeliveryPending, delivery.Status)
	require.Contains(t, delivery.Attempts[0].Error, "not to this one")
}

// A connection without a request may keep a receiver that shuts down open for ever, as with Node's server.close.
func TestDelivery_closesUnusedConnections(t *testing.T) {
	t.Parallel()
	receiver, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer receiver.Close()
	var dials atomic.Int32
	second, bothSent := make(chan struct{}), make(chan struct{})
	srv := servicetest.Start(t, &refserver.Options{DialWebhook: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1) == 2 { // this connection comes too late for its request
			close(second)
			<-bothSent
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}})
	for range 2 {
		srv.TestWebhook(srv.AddWebhook(refserver.Webhook{URL: "http://" + receiver.Addr().String(), Event: refserver.SignatureCompleted}))
	}

	used, err := receiver.Accept()
	require.NoError(t, err)
	defer used.Close()
	requests := bufio.NewReader(used)
	for range 2 {
		request, err := http.ReadRequest(requests)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, request.Body)
		require.NoError(t, err)
		<-second
		_, err = io.WriteString(used, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		require.NoError(t, err)
	}
	close(bothSent)
	unused, err := receiver.Accept()
	require.NoError(t, err)
	defer unused.Close()
	for _, conn := range []net.Conn{used, unused} {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		_, err := conn.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	}
	require.NoError(t, srv.Settle(t.Context()))
	require.EqualValues(t, 2, dials.Load())
}
