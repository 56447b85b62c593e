package refserver_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// hanging is a Finish that blocks for documents with the name Hung until the test releases it. It ignores the end of the context.
type hanging struct {
	release   chan struct{}
	calls     atomic.Int32
	atOnce    atomic.Int32
	mostAtAll atomic.Int32
}

func (h *hanging) finish(_ context.Context, d refserver.DocumentState) ([]byte, error) {
	h.calls.Add(1)
	h.mostAtAll.Store(max(h.mostAtAll.Load(), h.atOnce.Add(1)))
	defer h.atOnce.Add(-1)
	if d.Name == "Hung" {
		<-h.release
	}
	return []byte("%PDF-finished"), nil
}

func addSigned(t *testing.T, srv *refserver.Server, name string) (id string) {
	t.Helper()
	id = srv.AddDocument(refserver.Document{Name: name, Signers: ann})
	require.NoError(t, srv.Signer(id, "ann@example.com").Sign())
	return id
}

func fileOf(t *testing.T, srv *refserver.Server, id string) refserver.FinishedFile {
	t.Helper()
	d, ok := srv.FindDocument(id)
	require.True(t, ok)
	return d.Finished
}

// TestAHungCallDelaysNoOther: first a few calls of Finish hang, then so many that others have no room until the hanging
// calls are given up.
func TestAHungCallDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, h := refserver.NewNetwork(), &hanging{release: make(chan struct{})}
		defer network.Close()
		srv := refserver.NewServer(t, &refserver.Options{Network: network, Finish: h.finish})
		defer srv.Close()
		defer close(h.release)
		hung := addSigned(t, srv, "Hung")
		synctest.Wait()
		other := addSigned(t, srv, "Lease")
		synctest.Wait()
		require.Equal(t, refserver.FileMade, fileOf(t, srv, other))
		require.Equal(t, refserver.FileDue, fileOf(t, srv, hung))

		for range 3 {
			addSigned(t, srv, "Hung")
			synctest.Wait()
		}
		other = addSigned(t, srv, "Lease")
		synctest.Wait()
		require.Equal(t, int32(4), h.mostAtAll.Load())
		require.Equal(t, refserver.FileDue, fileOf(t, srv, other), "there is no room")
		time.Sleep(time.Minute + 10*time.Second)
		synctest.Wait()
		require.Equal(t, refserver.FileMade, fileOf(t, srv, other))

		time.Sleep(time.Hour)
		require.Equal(t, refserver.FileFailed, fileOf(t, srv, hung), "after 5 calls")
		require.Equal(t, int32(4*5+2), h.calls.Load())
	})
}

// TestClosingDoesNotWaitForAHungCall: Close waits at most 10 seconds.
func TestClosingDoesNotWaitForAHungCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, h := refserver.NewNetwork(), &hanging{release: make(chan struct{})}
		defer network.Close()
		srv := refserver.NewServer(t, &refserver.Options{Network: network, Finish: h.finish})
		defer close(h.release)
		addSigned(t, srv, "Hung")
		synctest.Wait()
		began := time.Now()
		srv.Close()
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

// TestFinishedFilesOfAClockThatStandsStillAreMadeInOrder: with a clock that stands still, files are made one at a time, so that all
// runs are equal.
func TestFinishedFilesOfAClockThatStandsStillAreMadeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, h := refserver.NewNetwork(), &hanging{}
		defer network.Close()
		srv := refserver.NewServer(t, &refserver.Options{
			Start: start, Network: network, Finish: func(ctx context.Context, d refserver.DocumentState) ([]byte, error) {
				defer time.Sleep(time.Second)
				return h.finish(ctx, d)
			},
		})
		defer srv.Close()
		began := time.Now()
		for i := range 20 {
			addSigned(t, srv, fmt.Sprint(i))
		}
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, int32(20), h.calls.Load())
		require.Equal(t, 20*time.Second, time.Since(began))
	})
}
