package sqlitestore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// breakWAL replaces the file behind the WAL's descriptor. The next write fails, and then the store closes the descriptor.
func breakWAL(t *testing.T, path, instead string, flags int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, link := range links {
		if target, _ := os.Readlink(link); target != path+"-wal" {
			continue
		}
		wal, err := strconv.Atoi(filepath.Base(link))
		require.NoError(t, err)
		broken, err := syscall.Open(instead, flags, 0)
		require.NoError(t, err)
		require.NoError(t, syscall.Dup3(broken, wal, 0))
		require.NoError(t, syscall.Close(broken))
		return
	}
	t.Fatal("the WAL is not open")
}

func TestFullDiskUndoesTheSave(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	breakWAL(t, path, "/dev/full", syscall.O_RDWR)
	err := s.Save(t.Context(), []refserver.Record{record("document", "1", "after"), record("document", "2", "new")})
	require.ErrorIs(t, err, sqlitestore.ErrFull)
	require.ErrorContains(t, err, "the data file "+path+": the disk is full (")
	require.ErrorContains(t, err, "; make room")
	require.ErrorIs(t, err, refserver.ErrRolledBack)
	require.Equal(t, map[string]string{"document 1": "before"}, contents(t, s))
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "room again")}))
	require.NoError(t, s.Close())
	require.Equal(t, map[string]string{"document 1": "room again"}, contents(t, open(t, path)))
}

// A real small file system behaves like the simulated failure above, also with larger saves.
func TestFullFileSystem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	folder := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	s, err := sqlitestore.Open(t.Context(), filepath.Join(folder, "data.db"), sqlitestore.Full)
	require.NoError(t, err)
	defer s.Close()
	want := map[string]string{}
	big := strings.Repeat("x", 30_000)
	for i := 0; err == nil; i++ {
		id := fmt.Sprint(i)
		if err = s.Save(t.Context(), []refserver.Record{record("document", id, big), record("audit", id, "created")}); err == nil {
			want["document "+id], want["audit "+id] = big, "created"
		}
	}
	require.ErrorContains(t, err, "full")
	require.ErrorIs(t, err, refserver.ErrRolledBack)
	require.NotEmpty(t, want)
	require.Equal(t, want, contents(t, s))
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT, "size=8m"))
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "more", big)}))
}

// However little room there is, a start without enough says that the disk is full: also when SQLite only reports an I/O error.
func TestFullFileSystemAtTheStart(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	folder := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	path := filepath.Join(folder, "data.db")
	for free := 4 << 10; ; free += 4 << 10 {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "other"), make([]byte, 1<<20-free), 0o600))
		s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Full)
		if err == nil {
			require.NoError(t, s.Close())
			require.Greater(t, free, 32<<10)
			return
		}
		require.ErrorIs(t, err, sqlitestore.ErrFull, "%d bytes", free)
		require.ErrorContains(t, err, "the data file "+path)
		for _, name := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
			os.Remove(path + name)
		}
	}
}

// A pipe as data file would hold up the start for ever.
func TestAPipeIsNoDataFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Normal)
	require.ErrorContains(t, err, "is not a regular file")
	_, err = sqlitestore.Examine(t.Context(), path, none(t))
	require.ErrorContains(t, err, "is not a regular file")
}

func TestDoubtfulCommitSaysSo(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	breakWAL(t, path, "/dev/null", syscall.O_RDONLY) // writes fail with EBADF
	err := s.Save(t.Context(), []refserver.Record{record("document", "1", "after")})
	require.NotErrorIs(t, err, refserver.ErrRolledBack)
	require.Equal(t, map[string]string{"document 1": "before"}, contents(t, s))
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "later")}))
	require.Equal(t, map[string]string{"document 1": "later"}, contents(t, s))
}

// A commit may fail after its last write is on disk. If the process were killed then, SQLite would replay the commit. Load prevents
// that.
func TestLoadEndsTheDoubt(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	s.Doubt()
	require.Equal(t, []string{"1"}, query(t, path, `select saves from _saved`))
	for range 2 {
		contents(t, s)
		require.Equal(t, []string{"2"}, query(t, path, `select saves from _saved`))
	}
}

func TestFileThatCannotBeWrittenIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "data.db")
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=4m"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	require.NoError(t, open(t, path).Close())
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=4m"))
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Normal)
	require.ErrorContains(t, err, "read-only file system")
}
