package endtoend_test

import (
	"context"
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

// Documents are added one after the other, alone and beside two clients that each read 20 times a second. The test logs its figures,
// medians of alternated rounds, of a file with so many signed documents:
// go test -run AddsBesideReaders -v -timeout 30m . -many 100000
func TestAddsBesideReaders(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	fillWithSigned(t, data, *many, "")
	began := time.Now()
	s := start(t, "--plain-pdfs", "--data", data)
	t.Logf("ready after %v, %s", time.Since(began).Round(time.Millisecond), memory(s))
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
	t.Log(memory(s))
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// The status and the overview of a sandbox with a twentieth of the deliveries and of one with all, in turn. The test logs the ratio:
// go test -run StatusOfManyDeliveries -v . -many 20000
func TestStatusOfManyDeliveries(t *testing.T) {
	var both [2]*sandbox
	for i, documents := range []int{*many / 20, *many} {
		data := filepath.Join(t.TempDir(), "sandbox.db")
		fillWithSigned(t, data, documents, "http://127.0.0.1:1/")
		both[i] = start(t, "--plain-pdfs", "--data", data, "--keep", "deliveries=1000000")
		var status wire.Status
		require.NoError(t, both[i].client.Get(t.Context(), "/status", nil, &status))
		require.Equal(t, documents, status.Documents)
	}
	for _, path := range []string{wire.Prefix + "/status", "/_/"} {
		var took [2][]time.Duration
		for range 200 {
			for i, s := range both {
				began := time.Now()
				require.NoError(t, s.get(t.Context(), path))
				took[i] = append(took[i], time.Since(began))
			}
		}
		few, all := median(took[0]), median(took[1])
		t.Logf("%s beside %d deliveries: %v; beside %d: %v, %.2f times that", path, *many/10, few, 2**many, all, float64(all)/float64(few))
	}
}

// fillWithSigned makes a file with n signed documents. With a URL it has two deliveries of each to a webhook that is disabled.
func fillWithSigned(t *testing.T, path string, n int, url string) {
	t.Helper()
	storage, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Sync: sqlitestore.Normal})
	require.NoError(t, err)
	srv, err := refserver.Start(&refserver.Options{Storage: storage, Keep: refserver.Keep{Deliveries: 1_000_000}})
	require.NoError(t, err)
	hook := ""
	if url != "" {
		hook = srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted})
	}
	var writers sync.WaitGroup
	var next, failed atomic.Int64
	for range 16 {
		writers.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				id, err := srv.TryAddDocument(refserver.Document{
					Name: "Lease " + strconv.FormatInt(i, 10), Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}},
				})
				if err != nil || srv.Signer(id, "ann@example.com").Sign() != nil {
					failed.Add(1)
				}
			}
		})
	}
	writers.Wait()
	if hook != "" {
		require.NoError(t, srv.DisableWebhook(hook))
		require.Len(t, srv.Deliveries(), 2*n)
	}
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
