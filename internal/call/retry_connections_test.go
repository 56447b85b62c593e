package call_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestConnection_keptAfterALongError: what Body does not hold of an error is drained, up to as much again.
func TestConnection_keptAfterALongError(t *testing.T) {
	for _, row := range []struct{ size, dials int }{{size: 64 << 10, dials: 1}, {size: 127 << 10, dials: 1}, {size: 256 << 10, dials: 2}} {
		t.Run(fmt.Sprint(row.size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &wireService{behave: answer(404, "", strings.Repeat("x", row.size))}
				c := s.client(t, "http")
				for range 2 {
					clienttest.RequireMatches(t, clienttest.CallOf(t, "Documents.Void").Do(t.Context(), c), signforms.ErrBadResponse)
					synctest.Wait() // until the connection is idle
				}
				require.Equal(t, row.dials, s.dials, "%d bytes", row.size)
			})
		})
	}
}

// TestRetry_overTCP repeats the cells that depend on the operating system over loopback.
func TestRetry_overTCP(t *testing.T) {
	for _, c := range []struct {
		name         string
		read         bool
		reads, sends cell
	}{
		{name: "reset after reading", read: true, reads: fourTimes, sends: onceUnknown},
		{name: "dial refused", read: false, reads: neverSeen, sends: neverSeen},
	} {
		for _, method := range []string{"Documents.List", "Documents.Void", "Templates.Send", "Documents.Remind"} {
			t.Run(c.name+"/"+method, func(t *testing.T) {
				listener, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(t, err)
				s := &wireService{}
				done := make(chan struct{})
				go func() {
					defer close(done)
					for {
						conn, err := listener.Accept()
						if err != nil {
							return
						}
						_, _ = s.read(bufio.NewReader(conn))
						_ = conn.(*net.TCPConn).SetLinger(0) // closing sends a reset
						_ = conn.Close()
					}
				}()
				if !c.read {
					require.NoError(t, listener.Close())
				}
				client, err := signforms.New("http://"+listener.Addr().String(), clienttest.APIKey, clienttest.Options(nil))
				require.NoError(t, err)
				call := clienttest.CallOf(t, method)
				callErr := call.Do(t.Context(), client)
				_ = listener.Close()
				<-done
				want := failure{reads: c.reads, sends: c.sends}.want(call)
				require.Equal(t, want.attempts, clienttest.AsError(t, callErr).Attempts)
				require.Len(t, s.requests(), want.seen)
				clienttest.RequireMatches(t, callErr, want.kind)
			})
		}
	}
}
