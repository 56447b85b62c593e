//go:build linux || darwin

package filelock

import (
	"errors"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// setlk is the command F_OFD_SETLK of fcntl, which package unix has for Linux only.
var setlk = map[string]int{"linux": 37, "darwin": 90}[runtime.GOOS]

// far is an offset beyond the bytes of every program's locks.
const far = 1 << 62

// tryContent takes a lock of the open file description. It is not flock, which meets the locks of fcntl on macOS and on network file
// systems: SQLite of this process would wait for it.
func tryContent(f *os.File, shared bool) error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: far, Len: 1}
	if shared {
		lock.Type = unix.F_RDLCK
	}
	err := unix.FcntlFlock(f.Fd(), setlk, &lock)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return ErrLocked
	case errors.Is(err, unix.EINVAL):
		return errors.ErrUnsupported
	}
	return err
}
