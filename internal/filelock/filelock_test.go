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
	exclusive := func(f *os.File) error { return filelock.TryContent(f, false) }
	shared := func(f *os.File) error { return filelock.TryContent(f, true) }
	for _, c := range []struct {
		name         string
		first, other func(*os.File) error
		meets        bool
	}{
		{"two locks", filelock.Try, filelock.Try, true},
		{"two of content", exclusive, exclusive, true},
		{"a shared one beside", exclusive, shared, true},
		{"one beside a shared", shared, exclusive, true},
		{"two that are shared", shared, shared, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, other := openBoth(t)
			require.NoError(t, c.first(first))
			if !c.meets {
				require.NoError(t, c.other(other))
				return
			}
			require.ErrorIs(t, c.other(other), filelock.ErrLocked)
			require.NoError(t, first.Close())
			require.NoError(t, c.other(other))
		})
	}
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
