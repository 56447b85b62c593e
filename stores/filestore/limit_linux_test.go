package filestore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/stores/filestore"
)

// A file that a Take by root has made cannot be used by others.
func TestLimitStore_fileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	for _, row := range []struct{ name, left string }{{name: "lock", left: ""}, {name: "file", left: ".lock"}} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
			path := filepath.Join(dir, "reminders.json")
			_, _, err := filestore.NewLimitStore(path).Take(t.Context(), "key", 5, time.Minute)
			require.NoError(t, err)
			if row.left != "" {
				require.NoError(t, os.Chown(path+row.left, 65534, 65534))
			}
			runtime.LockOSThread() // and never unlocked, so that the thread ends with the goroutine
			require.NoError(t, syscall.Setfsuid(65534))
			defer syscall.Setfsuid(0)
			_, _, err = filestore.NewLimitStore(path).Take(t.Context(), "key", 5, time.Minute)
			require.ErrorIs(t, err, os.ErrPermission)
			require.ErrorContains(t, err, "it belongs to user 0")
			require.ErrorContains(t, err, "chown")
		})
	}
}
