package refserver_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// stuck is a storage whose Save can be made to block until its context ends.
type stuck struct {
	memory
	stuck atomic.Bool
}

func (s *stuck) Save(ctx context.Context, records []refserver.Record) error {
	if s.stuck.Load() {
		<-ctx.Done()
	}
	return s.memory.Save(ctx, records)
}

// TestClose_endsABlockedSave: Close ends a blocked save after 10 seconds, even if a request waits for it.
func TestClose_endsABlockedSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, storage := refserver.NewNetwork(), &stuck{}
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage})
		document := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
		synctest.Wait() // until no other goroutine locks the store, because virtual time does not advance while one waits for a mutex
		storage.stuck.Store(true)
		broken := make(chan error, 1)
		go func() {
			_, err := srv.Client().Documents.Void(t.Context(), signforms.PDFDocument(document))
			broken <- err
		}()
		synctest.Wait()
		began := time.Now()
		srv.Close()
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Error(t, <-broken)
	})
}
