package sqlitestore_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// query runs SQL on the file as another program would, and returns the first column.
func query(t *testing.T, path, text string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", strings.ReplaceAll(strings.ReplaceAll("file:"+strings.ReplaceAll(path, "%", "%25"), "?", "%3f"), "#", "%23"))
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), text)
	require.NoError(t, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one string
		require.NoError(t, rows.Scan(&one))
		all = append(all, one)
	}
	require.NoError(t, rows.Err())
	return all
}

// filled makes a file of some 400 pages and closes it.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = newPath(t)
	s := open(t, path)
	var records []refserver.Record
	for i := range 1000 {
		records = append(records, record("document", fmt.Sprint(i), strings.Repeat("x", 1000)))
	}
	require.NoError(t, s.Save(t.Context(), records))
	require.NoError(t, s.Close())
	return path
}

func refusedWith(t *testing.T, path string, want error, text string) {
	t.Helper()
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	if err == nil {
		t.Cleanup(func() { s.Close() })
		err = s.Load(t.Context(), func(refserver.Record) error { return nil })
	}
	require.ErrorIs(t, err, want)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, text)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after), "the file has changed")
}

func TestAnotherSchemaIsRefused(t *testing.T) {
	path := newPath(t)
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Program: "v0.7.0"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for _, version := range []int{3, 99} {
		query(t, path, fmt.Sprintf(`pragma user_version = %d`, version))
		text := fmt.Sprintf("its schema is %d, and this version reads 5: use version v0.7.0, which wrote it", version)
		refusedWith(t, path, sqlitestore.ErrSchema, text)
	}
	query(t, path, `drop table meta`)
	refusedWith(t, path, sqlitestore.ErrSchema, "use the version that wrote it")
}

func TestAnotherProgramsDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	query(t, path, `create table theirs (x)`)
	refusedWith(t, path, sqlitestore.ErrForeign, "choose another file")
}

func TestDamagedFileIsRefused(t *testing.T) {
	whole, err := os.ReadFile(filled(t))
	require.NoError(t, err)
	overwritten := func(from, to int) []byte {
		out := bytes.Clone(whole)
		for i := from; i < to; i++ {
			out[i] = 0x5a
		}
		return out
	}
	middle := len(whole) / 2 &^ 4095
	for name, content := range map[string][]byte{
		"no database":   []byte(strings.Repeat("not SQLite at all ", 1000)),
		"header":        overwritten(0, 100),
		"schema":        overwritten(100, 4096),
		"page":          overwritten(middle, middle+4096),
		"cut":           whole[:middle],
		"cut in a page": whole[:middle+1000],
		"only a header": whole[:100],
		"zeros in it":   append(bytes.Clone(whole[:middle]), make([]byte, len(whole)-middle)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.db")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			refusedWith(t, path, sqlitestore.ErrDamaged, "put a copy of it back")
		})
	}
}

// The driver crashes with any version of its C library other than the one that it was made for.
func TestDriverHasItsOwnLibrary(t *testing.T) {
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "modernc.org/sqlite").Output()
	require.NoError(t, err)
	theirs, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "go.mod"))
	require.NoError(t, err)
	ours, err := exec.Command("go", "list", "-m", "modernc.org/libc").Output()
	require.NoError(t, err)
	require.Contains(t, string(theirs), "\t"+strings.TrimSpace(string(ours))+"\n")
}

// TestOneLockForEachNameOfAFile: without the lock, two programs that write one file would overwrite each other's changes without an
// error.
func TestOneLockForEachNameOfAFile(t *testing.T) {
	path := filled(t)
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	first := open(t, path)
	_, err := sqlitestore.Open(t.Context(), link, sqlitestore.Options{})
	require.ErrorIs(t, err, sqlitestore.ErrInUse)
	require.NoError(t, first.Close())
	second := open(t, link)
	require.NoError(t, second.Save(t.Context(), []refserver.Record{record("document", "1", "by the link")}))
	require.FileExists(t, path+"-wal", "beside the file, and not beside the link")
	require.NoError(t, second.Close())
}
