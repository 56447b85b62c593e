package sqlitestore_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

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
		_, err := sqlitestore.Check(t.Context(), to, func(problem string) {
			require.Contains(t, problem, "reading ", "these records are none that a start reads; all else is whole")
		}, noValues)
		require.NoError(t, err)
		e := open(t, to)
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
		require.ErrorContains(t, again, "is there already")
	}
	close(end)
	require.NoError(t, <-ended)
	require.NoError(t, s.Close())
	// and of a file that nobody uses
	to := filepath.Join(t.TempDir(), "last")
	require.NoError(t, sqlitestore.Backup(t.Context(), path, to))
	require.Equal(t, query(t, path, `select count(*) from record`), query(t, to, `select count(*) from record`))
	require.Len(t, filesOf(t, filepath.Dir(to)), 1, "no temporary file stays")
}

// Nothing beside a copy may be taken for a part of it, and nothing that is there is replaced.
func TestBackupRefuses(t *testing.T) {
	path := other(t, "x")
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		to := filepath.Join(t.TempDir(), "copy.db")
		require.NoError(t, os.WriteFile(to+suffix, []byte("theirs"), 0o600))
		require.ErrorContains(t, sqlitestore.Backup(t.Context(), path, to), to+suffix+" is there already")
		require.Equal(t, map[string]string{filepath.Base(to + suffix): "theirs"}, filesOf(t, filepath.Dir(to)))
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	require.Error(t, sqlitestore.Backup(t.Context(), t.TempDir(), to))
	require.ErrorIs(t, sqlitestore.Backup(t.Context(), path+".none", to), fs.ErrNotExist)
	require.NoFileExists(t, to)
}

// Check refuses what is not a closed data file.
func noValues(context.Context, *sqlitestore.Store, func(string)) {}

func TestCheckRefuses(t *testing.T) {
	path, problems := other(t, "x"), []string{}
	found, err := sqlitestore.Check(t.Context(), path, func(problem string) { problems = append(problems, problem) }, noValues)
	require.NoError(t, err)
	require.Equal(t, sqlitestore.Contents{}, found)
	require.Len(t, problems, 1, "its record is not one that a start reads")
	none := func(problem string) { t.Error(problem) }
	open(t, path)
	_, err = sqlitestore.Check(t.Context(), path, none, noValues)
	require.ErrorIs(t, err, sqlitestore.ErrInUse)
	_, err = sqlitestore.Check(t.Context(), path+".none", none, noValues)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path+".none")
	empty := filepath.Join(t.TempDir(), "empty.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err = sqlitestore.Check(t.Context(), empty, none, noValues)
	require.ErrorIs(t, err, sqlitestore.ErrForeign)
}

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
