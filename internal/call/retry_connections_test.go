package call_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestConnectionIsKeptAfterALongError: what Body does not hold of an error is drained, up to as much again.
func TestConnectionIsKeptAfterALongError(t *testing.T) {
	for size, dials := range map[int]int{64 << 10: 1, 127 << 10: 1, 256 << 10: 2} {
		synctest.Test(t, func(t *testing.T) {
			s := &wireService{behave: answer(404, "", strings.Repeat("x", size))}
			c := s.client(t, "http")
			for range 2 {
				clienttest.RequireMatches(t, clienttest.CallOf(t, "Documents.Void").Do(t.Context(), c), signforms.ErrNotFound)
				synctest.Wait() // until the connection is idle
			}
			require.Equal(t, dials, s.dials, "%d bytes", size)
		})
	}
}

// TestConnectionClosedAtOnce: whether anything was written before the close is chance. What must not be is a send that is
// repeated although something was.
func TestConnectionClosedAtOnce(t *testing.T) {
	unknown := 0
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			s := &wireService{behave: func(*wireService, net.Conn) {}}
			var wrote atomic.Int64 // attempts of which something may have been written
			c := s.client(t, "http", func(tr *http.Transport, o *signforms.Options) {
				tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := s.dial(ctx, network, address)
					return &countingConn{conn, &wrote}, err
				}
			})
			err := clienttest.CallOf(t, "Templates.Send").Do(t.Context(), c)
			if errors.Is(err, signforms.ErrOutcomeUnknown) {
				unknown++
				require.LessOrEqual(t, wrote.Load(), int64(1))
				return
			}
			clienttest.RequireMatches(t, err, signforms.ErrUnavailable)
			require.Equal(t, 4, clienttest.AsError(t, err).Attempts)
			require.Zero(t, wrote.Load(), "four attempts, nothing written")
		})
	}
	t.Logf("%d of 200 ended with an open outcome", unknown)
}

// countingConn counts writes.
type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c *countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// TestRetriesOverTCP repeats the cells that depend on the operating system over loopback.
func TestRetriesOverTCP(t *testing.T) {
	for name, c := range map[string]struct {
		read         bool
		reads, sends cell
	}{
		"reset after reading": {read: true, reads: fourTimes, sends: onceUnknown},
		"dial refused":        {read: false, reads: neverSeen, sends: neverSeen},
	} {
		for _, method := range []string{"Documents.List", "Documents.Void", "Templates.Send", "Documents.Remind"} {
			t.Run(name+"/"+method, func(t *testing.T) {
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

// TestRetriesOverHTTP2 resets streams after their request was read.
func TestRetriesOverHTTP2(t *testing.T) {
	var seen atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("got HTTP/%d", r.ProtoMajor)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		seen.Add(1)
		panic(http.ErrAbortHandler)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	for _, call := range clienttest.Calls {
		for _, method := range []string{"", "GET"} {
			if method == "GET" && call.Op != signforms.OpSendReminder {
				continue
			}
			o := clienttest.Options(nil)
			o.HTTPClient = srv.Client()
			o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpSendReminder: {Method: method}}
			c, err := signforms.New(srv.URL, clienttest.APIKey, o)
			require.NoError(t, err)
			seen.Store(0)
			err = call.Do(t.Context(), c)
			want := failure{reads: fourTimes, sends: onceUnknown}.want(call)
			require.EqualValues(t, want.seen, seen.Load(), "%s %s", method, call.Name)
			require.Equal(t, want.attempts, clienttest.AsError(t, err).Attempts)
			clienttest.RequireMatches(t, err, want.kind)
		}
	}
}
