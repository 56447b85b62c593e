package sqlitestore_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
			require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before"), record("blob", "aa", "%PDF")}))
			require.NoError(t, s.Check())
			keep := filepath.Join(t.TempDir(), "keep.db")
			require.NoError(t, os.Link(path, keep))
			require.NoError(t, take(path))
			err := s.Check()
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "moved, removed or replaced")
			require.ErrorContains(t, s.Save(t.Context(), []refserver.Record{record("document", "2", "x")}), "moved, removed or replaced")
			require.ErrorContains(t, s.Load(t.Context(), func(refserver.Record) error { return nil }), "moved, removed or replaced")
			_, err = s.Blob(t.Context(), "aa")
			require.ErrorContains(t, err, "moved, removed or replaced")
			if name == "moved" {
				require.NoError(t, os.Rename(path+".moved", path))
				require.ErrorContains(t, s.Check(), "moved, removed or replaced", "only a new start opens it again")
			}
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
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", data)}))
	require.NoError(t, s.Close())
	return path
}

// Closing a file whose place another one has taken leaves the other one's WAL alone.
func TestCloseRemovesOnlyItsOwnWAL(t *testing.T) {
	onePlace(t)
	path, theirs := newPath(t), newPath(t)
	s, second := open(t, path), open(t, theirs)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "ours")}))
	require.NoError(t, second.Save(t.Context(), []refserver.Record{record("document", "1", "theirs")}))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, os.Rename(theirs+suffix, path+suffix))
	}
	require.NoError(t, s.Close())
	require.FileExists(t, path+"-wal")
	require.FileExists(t, path+"-shm")
	require.Equal(t, []string{"theirs"}, query(t, path, `select data from document`))
}

// Contents that are copied into the open file are noticed by the next change, and Close leaves them as they are.
func TestOtherContentsAreNoticed(t *testing.T) {
	onePlace(t)
	for name, from := range map[string]func(t *testing.T, path string) []byte{
		"another file": func(t *testing.T, path string) []byte { return read(t, other(t, "theirs")) },
		"a backup":     func(t *testing.T, path string) []byte { return backup(t, path) },
		"nothing":      func(*testing.T, string) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path)
			require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
			contents := from(t, path)
			require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "after")}))
			require.NoError(t, s.Check())
			require.NoError(t, os.WriteFile(path, contents, 0o600))
			require.ErrorContains(t, s.Check(), "other contents were copied into it")
			require.ErrorContains(t, s.Save(t.Context(), []refserver.Record{record("document", "2", "x")}), "other contents were copied into it")
			require.NoError(t, s.Close())
			require.Equal(t, string(contents), string(read(t, path)))
			require.NoFileExists(t, path+"-wal")
		})
	}
}

// A plain copy that is older than the last stamp is noticed too. Checkpoints and new tables are not taken for other contents.
func TestAnOlderCopyIsNoticed(t *testing.T) {
	onePlace(t)
	path := newPath(t)
	s := open(t, path)
	checkpoint(t, path)
	old := read(t, path)
	for i := range 3 {
		s.StampNext()
		require.NoError(t, s.Save(t.Context(), []refserver.Record{record("kind_"+string(rune('a'+i)), "1", "x")}))
		query(t, path, `create table if not exists _theirs_`+string(rune('a'+i))+` (x)`)
		checkpoint(t, path)
		require.NoError(t, s.Check())
	}
	require.NoError(t, os.WriteFile(path, old, 0o600))
	require.ErrorContains(t, s.Check(), "other contents were copied into it")
}

// checkpoint writes the WAL into the file, as another program may.
func checkpoint(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `pragma wal_checkpoint(truncate)`)
	require.NoError(t, err)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func backup(t *testing.T, path string) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, sqlitestore.Backup(t.Context(), path, to))
	return read(t, to)
}
