package sqlitestore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/filelock"
	"github.com/signforms/signforms-go/internal/refserver"
)

// filesOf returns the content of every file in a folder.
func filesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	all := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		all[entry.Name()] = string(content)
	}
	return all
}

// none fails the test with what an examination finds.
func none(t *testing.T) func(string) { return func(found string) { t.Error(found) } }

// An examination changes no file, of a closed file and of one as a crash leaves it, and sees what is in the WAL alone.
func TestExamineChangesNothing(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "in the WAL")}))
	crashed := t.TempDir()
	for name, content := range filesOf(t, filepath.Dir(path)) {
		if name != "data.db-shm" {
			require.NoError(t, os.WriteFile(filepath.Join(crashed, name), []byte(content), 0o600))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(crashed, "data.db.lock"), []byte("123\n"), 0o600)) // as an older version leaves it
	require.NoError(t, s.Close())
	for _, folder := range []string{crashed, filepath.Dir(path)} {
		before := filesOf(t, folder)
		e, err := sqlitestore.Examine(t.Context(), filepath.Join(folder, "data.db"), none(t))
		require.NoError(t, err)
		require.Equal(t, map[string]string{"document 1": "in the WAL"}, contents(t, e))
		require.NoError(t, e.Pages(t.Context()))
		_, err = sqlitestore.Open(t.Context(), filepath.Join(folder, "data.db"), sqlitestore.Normal)
		require.ErrorIs(t, err, sqlitestore.ErrInUse)
		require.NotContains(t, err.Error(), "in use by another process, process", "the lock file names a process that has ended")
		second, err := sqlitestore.Examine(t.Context(), filepath.Join(folder, "data.db"), none(t))
		require.NoError(t, err)
		require.NoError(t, errors.Join(second.Close(), e.Close()))
		require.Equal(t, before, filesOf(t, folder))
	}
}

func TestExamineRefuses(t *testing.T) {
	path := newPath(t)
	_, err := sqlitestore.Examine(t.Context(), path, none(t))
	require.ErrorIs(t, err, os.ErrNotExist)
	s := open(t, path)
	for range 2 {
		_, err = sqlitestore.Examine(t.Context(), path, none(t))
		require.ErrorIs(t, err, sqlitestore.ErrInUse)
		require.ErrorContains(t, err, "copy the file with signforms backup and check the copy")
		_, missing := os.Stat(path + ".lock")
		require.Equal(t, missing == nil, strings.Contains(err.Error(), fmt.Sprintf("in use by another process, process %d:", os.Getpid())))
		require.NoError(t, os.RemoveAll(path+".lock")) // then by the file itself
	}
	require.NoError(t, s.Close())
	empty := filepath.Join(t.TempDir(), "empty.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err = sqlitestore.Examine(t.Context(), empty, none(t))
	require.ErrorIs(t, err, sqlitestore.ErrForeign)
}

// Each backup beside a busy writer holds a state between two saves, with all that was saved before it began.
func TestBackupBesideAWriter(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	saved, end, ended := make(chan int), make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			id := fmt.Sprint(i)
			if err := s.Save(t.Context(), []refserver.Record{record("document", id, "x"), record("audit", id, "x")}); err != nil {
				ended <- err
				return
			}
			select {
			case saved <- i:
			case <-end:
				ended <- nil
				return
			default:
			}
		}
	}()
	for i := range 5 {
		before := <-saved
		to := filepath.Join(t.TempDir(), fmt.Sprint(i))
		require.NoError(t, sqlitestore.Backup(t.Context(), path, to))
		e, err := sqlitestore.Examine(t.Context(), to, none(t))
		require.NoError(t, err)
		require.NoError(t, e.Pages(t.Context()))
		documents, audits := 0, 0
		for name := range contents(t, e) {
			if name[0] == 'd' {
				documents++
			} else {
				audits++
			}
		}
		require.Equal(t, documents, audits)
		require.GreaterOrEqual(t, documents, before)
		require.NoError(t, e.Close())
		again := sqlitestore.Backup(t.Context(), path, to)
		require.ErrorContains(t, again, "exists already")
	}
	close(end)
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())
	// and of a file that nobody uses
	to := filepath.Join(t.TempDir(), "last")
	require.NoError(t, sqlitestore.Backup(t.Context(), path, to))
	require.Equal(t, query(t, path, `select count(*) from document`), query(t, to, `select count(*) from document`))
	require.Len(t, filesOf(t, filepath.Dir(to)), 1, "no temporary file stays")
}

// Nothing beside a copy may be taken for a part of it, and nothing that is there is replaced.
func TestBackupRefuses(t *testing.T) {
	path := other(t, "x")
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		to := filepath.Join(t.TempDir(), "copy.db")
		require.NoError(t, os.WriteFile(to+suffix, []byte("theirs"), 0o600))
		require.ErrorContains(t, sqlitestore.Backup(t.Context(), path, to), to+suffix+" exists already")
		require.Equal(t, map[string]string{filepath.Base(to + suffix): "theirs"}, filesOf(t, filepath.Dir(to)))
	}
	require.ErrorContains(t, sqlitestore.Backup(t.Context(), path, ""), "needs a name")
	require.ErrorContains(t, sqlitestore.Backup(t.Context(), t.TempDir(), filepath.Join(t.TempDir(), "x")), "is not a regular file")
}

// What appears under the copy's name while it is made stays.
func TestACopyReplacesNothing(t *testing.T) {
	folder := t.TempDir()
	temporary, to := filepath.Join(folder, "temporary"), filepath.Join(folder, "copy.db")
	require.NoError(t, os.WriteFile(temporary, []byte("ours"), 0o600))
	require.NoError(t, os.WriteFile(to, []byte("theirs"), 0o600))
	require.ErrorContains(t, sqlitestore.NameCopy(temporary, to), "exists already")
	require.Equal(t, "theirs", filesOf(t, folder)["copy.db"])
	require.NoError(t, errors.Join(os.Remove(to), sqlitestore.NameCopy(temporary, to)))
	require.Equal(t, map[string]string{"copy.db": "ours"}, filesOf(t, folder))
}

// The key of an older version's file goes with the copy.
func TestBackupOfAnOlderVersionsKey(t *testing.T) {
	path, to := other(t, "x"), filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, os.WriteFile(path+".seal.pem", []byte("key"), 0o600))
	require.NoError(t, sqlitestore.Backup(t.Context(), path, to))
	require.Equal(t, "key", filesOf(t, filepath.Dir(to))["copy.db.seal.pem"])
}

// What a killed process has left beside a copy goes with the next backup there. What is in use, or is not provably a backup's, stays.
func TestLeftoversOfAKilledBackup(t *testing.T) {
	path, folder := other(t, "x"), t.TempDir()
	mark := map[string]string{"in-use": "A temporary folder of signforms check or backup.\n", "copy": "half", "copy-journal": "x"}
	for name, files := range map[string]map[string]string{
		".signforms-copy-killed": mark,
		".signforms-copy-live":   mark,
		".signforms-copy-theirs": {"in-use": "mine", "copy": "mine"},
		".signforms-copy-bare":   {"copy": "mine"},
		".signforms-copy-more":   {"in-use": mark["in-use"], "theirs": "mine"},
		"signforms-copy-other":   mark,
	} {
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o700))
		for file, content := range files {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name, file), []byte(content), 0o600))
		}
	}
	live, err := os.OpenFile(filepath.Join(folder, ".signforms-copy-live", "in-use"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer live.Close()
	require.NoError(t, filelock.Try(live))
	require.NoError(t, sqlitestore.Backup(t.Context(), path, filepath.Join(folder, "copy.db")))
	left := func(names ...string) {
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		var found []string
		for _, entry := range entries {
			found = append(found, entry.Name())
		}
		require.Equal(t, names, found)
	}
	left(".signforms-copy-bare", ".signforms-copy-live", ".signforms-copy-more", ".signforms-copy-theirs", "copy.db", "signforms-copy-other")
	require.Equal(t, map[string]string{"theirs": "mine"}, filesOf(t, filepath.Join(folder, ".signforms-copy-more")))
	require.Equal(t, mark, filesOf(t, filepath.Join(folder, ".signforms-copy-live")))
	info, err := os.Stat(filepath.Join(folder, "copy.db"))
	require.NoError(t, err)
	require.True(t, runtime.GOOS == "windows" || info.Mode().Perm() == 0o600, "%v", info.Mode())
}
