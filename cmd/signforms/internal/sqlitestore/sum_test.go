package sqlitestore_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// found examines a file and returns what that finds.
func found(t *testing.T, path string) (problems []string) {
	t.Helper()
	e, err := sqlitestore.Examine(t.Context(), path, func(problem string) { problems = append(problems, problem) })
	require.NoError(t, err)
	defer e.Close()
	require.NoError(t, e.Pages(t.Context()))
	require.NoError(t, e.Load(t.Context(), func(refserver.Record) error { return nil }))
	return problems
}

// What SQLite takes for whole may not be what was saved: the start refuses it, and an examination goes on to the next record.
func TestDamageInRecords(t *testing.T) {
	for name, test := range map[string]struct {
		change string
		want   []string
	}{
		"a letter":           {`update document set data = 'XX' where id = '1'`, []string{"document 1 is not as it was saved"}},
		"two records":        {`update document set data = 'XX'`, []string{"document 1 is not as it was saved", "document 2 is not as it was saved"}},
		"a checksum":         {`update document set sum = sum + 1 where id = '2'`, []string{"document 2 is not as it was saved", "records are missing"}},
		"an id":              {`update document set id = '3' where id = '2'`, []string{"document 3 is not as it was saved"}},
		"a record is gone":   {`delete from document where id = '2'`, []string{"records are missing"}},
		"a table is gone":    {`drop table audit`, []string{"records are missing"}},
		"an older record":    {`update document set data = 'a', sum = record_sum('document', '1', 'a') where id = '1'`, []string{"records are missing from it, or are older"}},
		"of another kind":    {`insert into audit select * from document where id = '2'; delete from document where id = '2'`, []string{"audit 2 is not as it was saved"}},
		"nothing is counted": {`delete from _saved`, []string{"the row that counts its changes is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := open(t, path)
			require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "a"), record("audit", "1", "c")}))
			require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "aa"), record("document", "2", "b"), record("document", "3", "c")}))
			require.NoError(t, s.Save(t.Context(), []refserver.Record{{Kind: "document", ID: "3"}, {Kind: "document", ID: "4"}}))
			require.NoError(t, s.Close())
			require.Empty(t, found(t, path))
			query(t, path, test.change)
			s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Normal)
			if err == nil {
				defer s.Close()
				err = s.Load(t.Context(), func(refserver.Record) error { return nil })
			}
			require.ErrorIs(t, err, sqlitestore.ErrDamaged)
			require.ErrorContains(t, err, test.want[0])
			if name == "nothing is counted" {
				return
			}
			require.NoError(t, s.Close())
			problems := found(t, path)
			require.Len(t, problems, len(test.want))
			for i, want := range test.want {
				require.Contains(t, problems[i], want)
			}
		})
	}
}

// crash copies the files as a killed process leaves them.
func crash(t *testing.T, path string) (copied string) {
	t.Helper()
	folder := t.TempDir()
	for name, content := range filesOf(t, filepath.Dir(path)) {
		if !strings.HasSuffix(name, "-shm") {
			require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
		}
	}
	return filepath.Join(folder, filepath.Base(path))
}

// SQLite drops what follows the first damaged frame of a WAL without a word. The lock file knows better.
func TestMissingSavesAreCounted(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	for i := range 10 {
		require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", fmt.Sprint(i), "x")}))
	}
	whole := crash(t, path)
	for name, damage := range map[string]struct {
		do   func(wal []byte) []byte
		want int64
	}{
		"none":          {func(wal []byte) []byte { return wal }, 0},
		"a changed bit": {func(wal []byte) []byte { wal[len(wal)-5000] ^= 1; return wal }, 1},
		"cut":           {func(wal []byte) []byte { return wal[:len(wal)-2] }, 1},
		"half":          {func(wal []byte) []byte { wal[len(wal)/2] ^= 1; return wal }, 5},
		"gone":          {func([]byte) []byte { return nil }, 9},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := crash(t, whole)
			require.NoError(t, os.WriteFile(damaged+"-wal", damage.do(read(t, damaged+"-wal")), 0o600))
			problems := found(t, damaged)
			s := open(t, damaged)
			require.InDelta(t, damage.want, s.Missing(), float64(damage.want)/4)
			if damage.want == 0 {
				require.Empty(t, problems)
				return
			}
			require.Equal(t, []string{fmt.Sprintf("the last %d saves are missing: the power failed, the -wal was damaged or removed, or the file is a copy from before them", s.Missing())}, problems)
			require.Len(t, contents(t, s), 10-int(s.Missing()))
			require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "later", "x")}))
			require.NoError(t, s.Close())
			require.Zero(t, open(t, damaged).Missing(), "it is said once")
		})
	}
}

// A copy that was put in the place of a file whose program was killed does not get that file's WAL, and nothing is changed.
func TestTheWALOfAnotherFileIsRefused(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	copied := backup(t, path)
	checkpoint(t, path)
	older := read(t, path)
	s.StampNext()
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "after")}))
	checkpoint(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "in the WAL")}))
	killed := crash(t, path)
	for name, contents := range map[string][]byte{"a backup": copied, "an older copy": older, "nothing": {}, "another file": read(t, other(t, "theirs"))} {
		t.Run(name, func(t *testing.T) {
			path := crash(t, killed)
			require.NoError(t, os.WriteFile(path, contents, 0o600))
			wal := read(t, path+"-wal")
			_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Normal)
			require.ErrorContains(t, err, "the -wal beside it holds changes of other contents")
			_, err = sqlitestore.Examine(t.Context(), path, none(t))
			require.ErrorContains(t, err, "move the -wal and the -shm away")
			require.True(t, bytes.Equal(wal, read(t, path+"-wal")))
			require.True(t, bytes.Equal(contents, read(t, path)))
			if name != "nothing" {
				require.NoError(t, os.Remove(path+"-wal"))
				require.Zero(t, open(t, path).Missing(), "another file lacks nothing of this one")
			}
		})
	}
	require.Equal(t, map[string]string{"document 1": "in the WAL"}, contentsOf(t, killed))
}

func contentsOf(t *testing.T, path string) map[string]string { return contents(t, open(t, path)) }

// A copy has a version of its own, by which a running program and a later start tell it from the file.
func TestABackupHasAVersionOfItsOwn(t *testing.T) {
	path := other(t, "x")
	version := func(file []byte) uint32 { return binary.BigEndian.Uint32(file[40:]) }
	first, second := version(backup(t, path)), version(backup(t, path))
	require.NotEqual(t, first, second)
	require.NotContains(t, []uint32{first, second}, version(read(t, path)))
}
