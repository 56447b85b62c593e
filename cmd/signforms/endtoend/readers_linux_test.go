package endtoend_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

var many = flag.Int("many", 200, "how many signed documents the sandbox is measured with")

// Documents are added one after the other, alone and beside two clients that each read 20 times a second. The test logs its figures,
// medians of alternated rounds, of a file with so many signed documents:
// go test -run AddsBesideReaders -v -timeout 30m . -many 100000
func TestAddsBesideReaders(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	fillWithSigned(t, data, *many)
	began := time.Now()
	s := start(t, "--plain-pdfs", "--data", data)
	t.Logf("ready after %v, with %d MB", time.Since(began).Round(time.Millisecond), resident(t, s, "VmRSS")>>20)
	rounds, length := 5, time.Second
	if *many < 10_000 {
		rounds, length = 1, 50*time.Millisecond
	}
	for _, path := range []string{
		"/get-documents?query=lease+77", wire.Prefix + "/messages", wire.Prefix + "/messages?to=nobody@example.com", wire.Prefix + "/messages?to=ann@example.com",
		wire.Prefix + "/requests?status=404", wire.Prefix + "/deliveries", wire.Prefix + "/documents?name=77", wire.Prefix + "/status", "/_/",
	} {
		var alone, beside, took []time.Duration
		for range rounds {
			alone = append(alone, s.addsFor(t, length))
			readers := s.read(t, path)
			beside = append(beside, s.addsFor(t, length))
			took = append(took, readers()...)
		}
		ratio := float64(median(alone)) / float64(median(beside))
		t.Logf("%-45s %5.0f adds/s beside two readers, %.2f of alone; an answer takes %v", path, 1/median(beside).Seconds(), ratio, median(took))
	}
	t.Logf("%d MB at most", resident(t, s, "VmHWM")>>20)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// fillWithSigned makes a file with n signed documents.
func fillWithSigned(t *testing.T, path string, n int) {
	t.Helper()
	storage, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	require.NoError(t, err)
	srv, err := refserver.Start(&refserver.Options{Storage: storage})
	require.NoError(t, err)
	var writers sync.WaitGroup
	var next, failed atomic.Int64
	for range 16 {
		writers.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				id, err := srv.AddDocument(refserver.Document{
					Name: "Lease " + strconv.FormatInt(i, 10), Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}},
				})
				if err != nil || srv.Signer(id, "ann@example.com").Sign() != nil {
					failed.Add(1)
				}
			}
		})
	}
	writers.Wait()
	srv.Close()
	require.NoError(t, storage.Close())
	require.Zero(t, failed.Load())
}

// addsFor adds documents for a while and returns how long one took on average.
func (s *sandbox) addsFor(t *testing.T, length time.Duration) time.Duration {
	t.Helper()
	began, n := time.Now(), 0
	for ; time.Since(began) < length; n++ {
		require.NoError(t, s.client.Post(t.Context(), "/documents", map[string]any{
			"name": "Added", "signers": []map[string]string{{"name": "Ann", "email": "ann@example.com"}},
		}, nil))
	}
	return time.Since(began) / time.Duration(n)
}

// read lets two clients get the path 20 times a second each. The function that it returns ends them and returns how long each answer took.
func (s *sandbox) read(t *testing.T, path string) (end func() []time.Duration) {
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	took, failed := make([][]time.Duration, 2), make([]error, 2)
	for i := range took {
		clients.Go(func() {
			ticks := time.NewTicker(time.Second / 20)
			defer ticks.Stop()
			for failed[i] == nil && ctx.Err() == nil {
				began := time.Now()
				failed[i] = s.get(t.Context(), path)
				took[i] = append(took[i], time.Since(began))
				select {
				case <-ticks.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return func() []time.Duration {
		t.Helper()
		cancel()
		clients.Wait()
		require.Equal(t, make([]error, 2), failed)
		return slices.Concat(took...)
	}
}

// get reads the whole answer.
func (s *sandbox) get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Listening+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("x-api-key", s.APIKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return nil
}
