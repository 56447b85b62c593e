package sqlitestore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

func onePlace(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
}

// other makes another data file, and returns its path.
func other(t *testing.T, data string) string {
	t.Helper()
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", data)}))
	require.NoError(t, s.Close())
	return path
}

// The file itself is locked, so no other name of it lets a second program in.
func TestTheFileItselfIsLocked(t *testing.T) {
	onePlace(t)
	path := newPath(t)
	open(t, path)
	moved := filepath.Join(t.TempDir(), "moved.db")
	require.NoError(t, os.Rename(path, moved))
	_, err := sqlitestore.Open(t.Context(), moved, sqlitestore.Options{})
	require.ErrorIs(t, err, sqlitestore.ErrInUse)
}

// A file that was taken away takes no further change. What was saved before is in it after Close.
func TestAFileThatWasTakenAway(t *testing.T) {
	onePlace(t)
	for name, take := range map[string]func(path string) error{
		"moved":    func(path string) error { return os.Rename(path, path+".moved") },
		"removed":  os.Remove,
		"replaced": func(path string) error { return os.Rename(other(t, "theirs"), path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path)
			require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
			keep := filepath.Join(t.TempDir(), "keep.db")
			require.NoError(t, os.Link(path, keep))
			require.NoError(t, take(path))
			err := s.Save(t.Context(), []refserver.Record{record("document", "2", "x")})
			require.NotErrorIs(t, err, refserver.ErrRolledBack, "it must stop the service")
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "moved, removed or replaced")
			if name == "moved" {
				require.NoError(t, os.Rename(path+".moved", path))
				require.ErrorContains(t, s.Save(t.Context(), nil), "moved, removed or replaced", "only a new start opens it again")
			}
			require.NoError(t, s.Close())
			require.Equal(t, "before", query(t, keep, `select data from record`)[0])
			if name == "replaced" {
				require.Equal(t, []string{"theirs"}, query(t, path, `select data from record`))
			}
		})
	}
}

// TestOpen_link: the path of a file that is opened by a link is its own, beside which the files of workspaces are.
func TestOpen_link(t *testing.T) {
	onePlace(t)
	path := newPath(t)
	require.NoError(t, open(t, path).Close())
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	s := open(t, link)
	found, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	require.Equal(t, found, s.Path())
	require.NoError(t, s.Close())
	_, err = sqlitestore.Open(t.Context(), t.TempDir(), sqlitestore.Options{})
	require.ErrorContains(t, err, "not a regular file")
}

// TestOpen_emptyFileBesideItsWAL: SQLite would delete the WAL of an empty file, and with it what the file was emptied of.
func TestOpen_emptyFileBesideItsWAL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", []byte("frames"), 0o600))
	for range 2 {
		_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
		require.ErrorIs(t, err, sqlitestore.ErrDamaged)
		require.ErrorContains(t, err, "it is empty, and its -wal is not")
		require.FileExists(t, path+"-wal")
	}
}
