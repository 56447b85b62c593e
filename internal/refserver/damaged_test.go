package refserver_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// decaying is a storage whose files can lose a bit.
type decaying struct {
	memory
	decayed atomic.Bool
}

func (d *decaying) Blob(ctx context.Context, hash string) ([]byte, error) {
	data, err := d.memory.Blob(ctx, hash)
	if err == nil && d.decayed.Load() {
		data[len(data)/2] ^= 1
	}
	return data, err
}

// A file that has changed since it was saved is never served. The error and the log name the document.
func TestFinishedFile_damagedIsNotServed(t *testing.T) {
	storage, log := &decaying{}, &bytes.Buffer{}
	finish := func(_ context.Context, d refserver.DocumentState) ([]byte, error) {
		return append([]byte("%PDF finished "), d.PDF...), nil
	}
	srv := servicetest.Start(t, &refserver.Options{Storage: storage, Finish: finish, Logger: slog.New(slog.NewTextHandler(log, nil))})
	id := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF original")})
	open := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF open")})
	require.NoError(t, srv.Signer(id, "ann@example.com").Sign())
	require.NoError(t, srv.Settle(t.Context()))
	get := func(path string) int {
		resp, err := srv.HTTPClient().Get(srv.URL + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	require.Equal(t, http.StatusOK, get("/finished/"+id+".pdf"))

	storage.decayed.Store(true)
	for _, path := range []string{"/finished/" + id + ".pdf", "/documents/" + id + ".pdf"} {
		t.Run(path, func(t *testing.T) {
			require.Equal(t, http.StatusServiceUnavailable, get(path))
		})
	}
	for _, read := range []func(context.Context, string) ([]byte, error){srv.DocumentPDF, srv.FinishedPDF} {
		content, err := read(t.Context(), id)
		require.Nil(t, content)
		require.ErrorIs(t, err, refserver.ErrStorage)
		require.ErrorContains(t, err, "document "+id)
	}
	require.NoError(t, srv.Signer(open, "ann@example.com").Sign())
	require.Equal(t, http.StatusServiceUnavailable, get("/finished/"+open+".pdf"), "no file is made from a damaged one")

	storage.decayed.Store(false)
	require.Equal(t, http.StatusOK, get("/finished/"+id+".pdf"))
	require.NoError(t, srv.Shutdown(t.Context()))
	require.Contains(t, log.String(), `of="document `+id+`"`)
}
