package signformstest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/signformstest/storagetest"
)

// stuck is a storage whose Save, once it is stuck, ends with its context alone.
type stuck struct {
	storagetest.Memory
	stuck atomic.Bool
}

func (s *stuck) Save(ctx context.Context, records []signformstest.Record) error {
	if s.stuck.Load() {
		<-ctx.Done()
	}
	return s.Memory.Save(ctx, records)
}

// TestClosingEndsASaveThatIsStuck after 10 seconds, though a request waits for it.
func TestClosingEndsASaveThatIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, storage := signformstest.NewNetwork(), &stuck{}
		defer network.Close()
		srv := signformstest.NewServer(t, &signformstest.Options{Network: network, Storage: storage})
		document := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: ann})
		synctest.Wait() // until nobody else wants the store: the bubble's time stands still while a goroutine waits for a mutex
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
