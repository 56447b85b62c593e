package filelock_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/filelock"
)

func TestLocks(t *testing.T) {
	for name, try := range map[string]func(*os.File) error{"file": filelock.Try, "content": filelock.TryContent} {
		t.Run(name, func(t *testing.T) {
			first, other := openBoth(t)
			require.NoError(t, try(first))
			require.ErrorIs(t, try(other), filelock.ErrLocked)
			require.NoError(t, first.Close())
			require.NoError(t, try(other))
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

func TestWaitEndsWithItsContext(t *testing.T) {
	first, other := openBoth(t)
	require.NoError(t, filelock.Try(first))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, filelock.Wait(ctx, other), context.Canceled)
	require.NoError(t, first.Close())
	require.NoError(t, filelock.Wait(t.Context(), other))
}
