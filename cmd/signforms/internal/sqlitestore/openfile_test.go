package sqlitestore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/signformstest"
)

func onePlace(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
}

// The file itself is locked, so no other name of it and no removed lock file lets a second program in.
func TestTheFileItselfIsLocked(t *testing.T) {
	onePlace(t)
	path := newPath(t)
	open(t, path)
	require.NoError(t, os.Remove(path+".lock"))
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Normal)
	require.ErrorIs(t, err, sqlitestore.ErrInUse)
	moved := filepath.Join(t.TempDir(), "moved.db")
	require.NoError(t, os.Rename(path, moved))
	_, err = sqlitestore.Open(t.Context(), moved, sqlitestore.Normal)
	require.ErrorIs(t, err, sqlitestore.ErrInUse)
}

// A file that was taken away takes no further change. What was saved before is in it after Close.
func TestAFileThatWasTakenAway(t *testing.T) {
	onePlace(t)
	for name, take := range map[string]func(path string) error{
		"moved":    func(path string) error { return os.Rename(path, path+".moved") },
		"replaced": func(path string) error { return os.Rename(other(t, "theirs"), path) },
		"no WAL":   func(path string) error { return os.Remove(path + "-wal") },
		"another WAL": func(path string) error {
			return os.Rename(other(t, "theirs")+".lock", path+"-wal")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path)
			require.NoError(t, s.Save(t.Context(), []signformstest.Record{record("document", "1", "before"), record("blob", "aa", "%PDF")}))
			require.NoError(t, s.Check())
			keep := filepath.Join(t.TempDir(), "keep.db")
			require.NoError(t, os.Link(path, keep))
			require.NoError(t, take(path))
			err := s.Check()
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "moved, removed or replaced")
			require.ErrorContains(t, s.Save(t.Context(), []signformstest.Record{record("document", "2", "x")}), "moved, removed or replaced")
			require.ErrorContains(t, s.Load(t.Context(), func(signformstest.Record) error { return nil }), "moved, removed or replaced")
			_, err = s.Blob(t.Context(), "aa")
			require.ErrorContains(t, err, "moved, removed or replaced")
			require.NoError(t, s.Close())
			require.Equal(t, []string{"before"}, query(t, keep, `select data from document`))
		})
	}
}

// other makes another data file, and returns its path.
func other(t *testing.T, data string) string {
	t.Helper()
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []signformstest.Record{record("document", "1", data)}))
	require.NoError(t, s.Close())
	return path
}

// Closing a file whose place another one has taken leaves the other one's WAL alone.
func TestCloseRemovesOnlyItsOwnWAL(t *testing.T) {
	onePlace(t)
	path, theirs := newPath(t), newPath(t)
	s, second := open(t, path), open(t, theirs)
	require.NoError(t, s.Save(t.Context(), []signformstest.Record{record("document", "1", "ours")}))
	require.NoError(t, second.Save(t.Context(), []signformstest.Record{record("document", "1", "theirs")}))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Rename(theirs+suffix, path+suffix))
	}
	require.NoError(t, s.Close())
	require.FileExists(t, path+"-wal")
	require.FileExists(t, path+"-shm")
	require.Equal(t, []string{"theirs"}, query(t, path, `select data from document`))
}
