package signformstest_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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

// TestClosingEndsASaveThatIsStuck after 10 seconds, whoever waits for it: a method, a request, or nobody.
func TestClosingEndsASaveThatIsStuck(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, srv *signformstest.Server, document string){
		"a method": func(t *testing.T, srv *signformstest.Server, document string) {
			require.ErrorIs(t, srv.Void(document), signformstest.ErrStorage)
		},
		"a request": func(t *testing.T, srv *signformstest.Server, document string) {
			req, err := http.NewRequest(http.MethodPost, srv.URL+"/void-document?documentId="+document, http.NoBody)
			require.NoError(t, err)
			req.Header.Set("x-api-key", srv.APIKey)
			resp, err := srv.HTTPClient().Do(req)
			if err == nil {
				resp.Body.Close()
			}
			require.Error(t, err, "the connection breaks")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, storage := signformstest.NewNetwork(), &stuck{}
				defer network.Close()
				srv := signformstest.NewServer(t, &signformstest.Options{Network: network, Storage: storage})
				document := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: ann})
				storage.stuck.Store(true)
				var changes sync.WaitGroup
				changes.Go(func() { change(t, srv, document) })
				synctest.Wait()
				began := time.Now()
				srv.Close()
				require.Equal(t, 10*time.Second, time.Since(began))
				changes.Wait()
			})
		})
	}
}
