package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/internal/refserver/storagetest"
)

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "a folder?#%", "data.db")
}

func open(t *testing.T, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Normal)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// contents returns the records that Load passes: data by "kind id".
func contents(t *testing.T, s refserver.Storage) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, s.Load(t.Context(), func(r refserver.Record) error {
		require.NotNil(t, r.Data)
		all[r.Kind+" "+r.ID] = string(r.Data)
		return nil
	}))
	return all
}

func record(kind, id, data string) refserver.Record {
	return refserver.Record{Kind: kind, ID: id, Data: []byte(data)}
}

func TestWhatWasSavedIsLoaded(t *testing.T) {
	for _, mode := range []sqlitestore.Sync{sqlitestore.Normal, sqlitestore.Full} {
		path := newPath(t)
		s, err := sqlitestore.Open(t.Context(), path, mode)
		require.NoError(t, err)
		require.Empty(t, contents(t, s))
		require.NoError(t, s.Save(t.Context(), []refserver.Record{
			record("document", "1", `{"name":"Löwe"}`), record("document", "2", "\x00\xff\x00"), record("order", "1", "text\x00 with a zero"),
			record("order", "empty", ""), record("blob", "aa", "%PDF\xff"),
		}))
		require.NoError(t, s.Save(t.Context(), []refserver.Record{
			record("document", "1", "changed"), {Kind: "document", ID: "2"}, {Kind: "document", ID: "never there"},
		}))
		want := map[string]string{"document 1": "changed", "order 1": "text\x00 with a zero", "order empty": ""}
		require.Equal(t, want, contents(t, s))
		require.NoError(t, s.Close())

		s = open(t, path)
		require.Equal(t, want, contents(t, s))
		blob, err := s.Blob(t.Context(), "aa")
		require.NoError(t, err)
		require.Equal(t, "%PDF\xff", string(blob))
		require.NoError(t, s.Save(t.Context(), []refserver.Record{{Kind: "blob", ID: "aa"}}))
		_, err = s.Blob(t.Context(), "aa")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestSaveIsAllOrNothing(t *testing.T) {
	s := open(t, newPath(t))
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	for _, kind := range []string{"", "Document", "_meta", "sqlite_schema", `a" b`} {
		err := s.Save(t.Context(), []refserver.Record{record("document", "1", "after"), record(kind, "1", "x")})
		require.ErrorContains(t, err, "is not a kind of record", kind)
		require.ErrorIs(t, err, refserver.ErrRolledBack)
	}
	require.Equal(t, map[string]string{"document 1": "before"}, contents(t, s))
}

func TestAnEndedContextSavesNothing(t *testing.T) {
	s := open(t, newPath(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.Save(ctx, []refserver.Record{record("document", "1", "x")})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, refserver.ErrRolledBack)
	require.Empty(t, contents(t, s))
}

func TestLoadStopsAtAnError(t *testing.T) {
	s := open(t, newPath(t))
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "x"), record("document", "2", "y")}))
	enough := errors.New("enough")
	calls := 0
	require.ErrorIs(t, s.Load(t.Context(), func(refserver.Record) error { calls++; return enough }), enough)
	require.Equal(t, 1, calls)
}

func TestSecondProgramIsRefused(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Normal)
	require.ErrorIs(t, err, sqlitestore.ErrInUse)
	require.ErrorContains(t, err, fmt.Sprintf("in use by another process, process %d; stop that, or choose another file", os.Getpid()))
	require.NoError(t, s.Close())
	open(t, path)
}

func TestOthersCanReadTheFileMeanwhile(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", `{"Status":"PENDING"}`)}))
	require.Equal(t, []string{"PENDING"}, query(t, path, `select data->>'$.Status' from document`))
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "2", `{}`)}))
}

func TestFilesAreReadableByTheirOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes there")
	}
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "x")}))
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 4, "database, lock, WAL and its index")
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), file)
	}
}

func TestUnknownSync(t *testing.T) {
	_, err := sqlitestore.Open(t.Context(), newPath(t), "sometimes")
	require.EqualError(t, err, `sync "sometimes" is neither normal nor full`)
}

func TestSyncReachesSQLite(t *testing.T) {
	for mode, want := range map[sqlitestore.Sync]int{sqlitestore.Normal: 1, sqlitestore.Full: 2} {
		s, err := sqlitestore.Open(t.Context(), newPath(t), mode)
		require.NoError(t, err)
		require.Equal(t, want, s.Synchronous(t))
		require.NoError(t, s.Close())
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "x")}))
	require.NoError(t, s.Close())
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.Equal(t, []string{path, path + ".lock"}, files)
}

// TestStorage runs the checks that every storage must pass.
func TestStorage(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) (refserver.Storage, func() refserver.Storage) {
		path := newPath(t)
		s := open(t, path)
		return s, func() refserver.Storage {
			require.NoError(t, s.Close())
			s = open(t, path)
			return s
		}
	})
}

// TestASaveThatFailsOnItsWayLeavesNothingBehind has SQLite refuse a record after others of the same Save were written. None of them
// may be in the file, and the next Save succeeds.
func TestASaveThatFailsOnItsWayLeavesNothingBehind(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	query(t, path, `create trigger refuse before insert on document when new.id = 'bad' begin select raise(abort, 'refused'); end`)
	err := s.Save(t.Context(), []refserver.Record{record("document", "1", "after"), record("document", "2", "x"), record("document", "bad", "x")})
	require.ErrorContains(t, err, "document bad")
	require.ErrorIs(t, err, refserver.ErrRolledBack)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "3", "y")}))
	require.Equal(t, map[string]string{"document 1": "before", "document 3": "y"}, contents(t, s))
}
