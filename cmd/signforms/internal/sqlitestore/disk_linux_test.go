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

// A real small file system behaves like the simulated failure above, also with larger saves.
func TestFullFileSystem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	folder := t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=16k"))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(folder, 0)) })
	path := filepath.Join(folder, "data.db")
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Full: true})
	require.ErrorContains(t, err, "full")
	require.NoError(t, syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT, "size=1m"))
	s, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{Full: true})
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

// A pipe as data file would hold up the start for ever.
func TestAPipeIsNoDataFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	require.ErrorContains(t, err, "is not a regular file")
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
	_, err := sqlitestore.Open(t.Context(), path, sqlitestore.Options{})
	require.ErrorContains(t, err, "make it and its folder writable")
	require.ErrorContains(t, err, "read-only file system")
	require.ErrorContains(t, sqlitestore.Backup(t.Context(), path, filepath.Join(t.TempDir(), "copy.db")), "writable")
}

// A commit that fails after it began leaves a doubt, and the store takes no change until the file is opened again.
func TestDoubtfulCommitStopsTheStore(t *testing.T) {
	path := newPath(t)
	s := open(t, path)
	require.NoError(t, s.Save(t.Context(), []refserver.Record{record("document", "1", "before")}))
	breakWAL(t, path, "/dev/null", syscall.O_RDONLY) // writes fail with EBADF
	first := s.Save(t.Context(), []refserver.Record{record("document", "1", "after")})
	require.Error(t, first)
	require.NotErrorIs(t, first, refserver.ErrRolledBack)
	require.Equal(t, first, s.Save(t.Context(), nil))
	s.Close() // fails, too
	require.Contains(t, []string{"before", "after"}, contents(t, open(t, path))["document 1"])
}
