package filelock_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/filelock"
)

func TestTry_locks(t *testing.T) {
	for _, row := range []struct {
		name string
		try  func(*os.File) error
	}{{name: "file", try: filelock.Try}, {name: "content", try: filelock.TryContent}} {
		t.Run(row.name, func(t *testing.T) {
			first, other := openBoth(t)
			require.NoError(t, row.try(first))
			require.ErrorIs(t, row.try(other), filelock.ErrLocked)
			require.NoError(t, first.Close())
			require.NoError(t, row.try(other))
		})
	}
	t.Run("shared content", func(t *testing.T) {
		first, other := openBoth(t)
		require.NoError(t, filelock.TryShareContent(first))
		require.NoError(t, filelock.TryShareContent(other))
		require.ErrorIs(t, filelock.TryContent(other), filelock.ErrLocked)
		require.NoError(t, first.Close())
		require.NoError(t, filelock.TryContent(other))
	})
}

// openBoth opens a file twice, as two processes do.
func openBoth(t *testing.T) (first, other *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	for _, f := range []**os.File{&first, &other} {
		var err error
		*f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		t.Cleanup(func() { (*f).Close() })
	}
	return first, other
}

func TestWait_endsWithItsContext(t *testing.T) {
	first, other := openBoth(t)
	require.NoError(t, filelock.Try(first))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, filelock.Wait(ctx, other), context.Canceled)
	require.NoError(t, first.Close())
	require.NoError(t, filelock.Wait(t.Context(), other))
}
