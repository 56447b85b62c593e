package sqlitestore_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "a folder?#%", "data.db")
}

func open(t *testing.T, path string) *sqlitestore.Store {
	t.Helper()
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
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

// pdfHash is the SHA-256 of "%PDF\xff".
var pdfHash = func() string {
	sum := sha256.Sum256([]byte("%PDF\xff"))
	return hex.EncodeToString(sum[:])
}()

func record(kind, id, data string) refserver.Record {
	return refserver.Record{Kind: kind, ID: id, Data: []byte(data)}
}

func TestOthersCanReadTheFileMeanwhile(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", `{"Status":"PENDING"}`)}))
	require.Equal(t, []string{"PENDING"}, query(t, path, `select data->>'$.Status' from record`))
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
	require.GreaterOrEqual(t, len(files), 3, "database, WAL and its index")
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), file)
	}
}

func TestSyncReachesSQLite(t *testing.T) {
	for full, want := range map[bool]int{false: 1, true: 2} {
		s, err := sqlitestore.Open(t.Context(), newPath(t), sqlitestore.Options{Full: full})
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
	require.Equal(t, []string{path}, files)
}

// TestASaveThatFailsOnItsWayLeavesNothingBehind has SQLite refuse a record after others of the same Save were written. None of them
// may be in the file, and the next Save succeeds.
func TestASaveThatFailsOnItsWayLeavesNothingBehind(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	query(t, path, `create trigger refuse before insert on record when new.id = 'bad' begin select raise(abort, 'refused'); end`)
	err := s.Save(t.Context(), []refserver.Record{record("document", "1", "after"), record("document", "2", "x"), record("document", "bad", "x")})
	require.ErrorContains(t, err, "document bad")
	require.ErrorIs(t, err, refserver.ErrRolledBack)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "3", "y")}))
	require.Equal(t, map[string]string{"document 1": "before", "document 3": "y"}, contents(t, s))
}

// TestASaveThatHasBegunIsCarriedOut: the end of its context leaves no doubt whether it was carried out.
func TestASaveThatHasBegunIsCarriedOut(t *testing.T) {
	s := open(t, newPath(t))
	ctx, end := context.WithCancel(t.Context())
	defer end()
	require.NoError(t, s.Save(endsOnceAsked{ctx, end}, []refserver.Record{record("document", "1", "saved")}))
	require.Error(t, ctx.Err())
	require.Equal(t, map[string]string{"document 1": "saved"}, contents(t, s))
}

// endsOnceAsked is a context that ends right after the first call of Err, which still returns nil.
type endsOnceAsked struct {
	context.Context
	end context.CancelFunc
}

func (c endsOnceAsked) Err() error {
	defer c.end()
	return c.Context.Err()
}

// TestAChangedFileIsNotServed: a bit that flips in a stored PDF is noticed when it is read, and by Check.
func TestAChangedFileIsNotServed(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("blob", pdfHash, "%PDF\xff")}))
	query(t, path, `update file set data = x'25504447ff'`)
	_, err := s.Blob(t.Context(), pdfHash)
	require.ErrorIs(t, err, sqlitestore.ErrDamaged)
	require.NoError(t, s.Close())
	var problems []string
	found, err := sqlitestore.Check(t.Context(), path, func(text string) { problems = append(problems, text) }, noValues)
	require.NoError(t, err)
	require.Equal(t, sqlitestore.Contents{Files: 1}, found)
	require.Equal(t, []string{"the PDF or image " + pdfHash + " is not as it was saved"}, problems)
}

func TestValues(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	value, err := s.Value(t.Context(), "key")
	require.NoError(t, err)
	require.Empty(t, value)
	require.NoError(t, s.SetValue(t.Context(), "key", "a"))
	require.NoError(t, s.SetValue(t.Context(), "key", "b"))
	require.NoError(t, s.Close())
	s = open(t, path)
	value, err = s.Value(t.Context(), "key")
	require.NoError(t, err)
	require.Equal(t, "b", value)
	require.NoError(t, s.Remove())
	left, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.Empty(t, left)
}
