package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/atomicfile"
)

func TestWrite_replacesAFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	for _, content := range []string{"first", "a second, longer one", ""} {
		t.Run(content, func(t *testing.T) {
			before, _ := os.Open(path) // a reader keeps what it has opened
			require.NoError(t, atomicfile.Write(path, []byte(content)))
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, content, string(got))
			if before != nil {
				now, err := os.Stat(path)
				require.NoError(t, err)
				old, err := before.Stat()
				require.NoError(t, err)
				require.False(t, os.SameFile(old, now), "the file was changed in its place")
				before.Close()
			}
		})
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file stays")
	if runtime.GOOS != "windows" {
		info, err := entries[0].Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode())
	}
}

func TestWrite_failureLeavesTheOldFile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "full")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "target", "content"), 0o700))
	require.Error(t, atomicfile.Write(filepath.Join(folder, "target"), []byte("x")), "a folder")
	require.Error(t, atomicfile.Write(filepath.Join(folder, "missing", "file"), []byte("x")))
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// A link keeps leading to its file, and a device stays a device: --env-file /dev/stdout writes to standard output.
func TestWrite_keepsLinksAndDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	folder := t.TempDir()
	path, link := filepath.Join(folder, "file"), filepath.Join(folder, "link")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, atomicfile.Write(link, []byte("new")))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, fs.ModeSymlink, info.Mode().Type())

	device := filepath.Join(folder, "device")
	require.NoError(t, os.Symlink(os.DevNull, device))
	require.NoError(t, atomicfile.Write(device, []byte("gone")))
	info, err = os.Stat(device)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeDevice)
}
