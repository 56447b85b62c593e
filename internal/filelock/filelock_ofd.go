//go:build linux || darwin

package filelock

import (
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// setlk is the command F_OFD_SETLK of fcntl, which package syscall does not name.
var setlk = map[string]int{"linux": 37, "darwin": 90}[runtime.GOOS]

// far is an offset after all bytes that any program locks.
const far = 1 << 62

// tryContent takes a lock of the open file description. A lock of flock would exclude the locks of
// fcntl on macOS and on network file systems, and SQLite in this process would wait for it.
func tryContent(f *os.File, alone bool) error {
	kind := int16(syscall.F_RDLCK)
	if alone {
		kind = syscall.F_WRLCK
	}
	lock := syscall.Flock_t{Type: kind, Whence: io.SeekStart, Start: far, Len: 1}
	err := syscall.FcntlFlock(f.Fd(), setlk, &lock)
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return ErrLocked
	case errors.Is(err, syscall.EINVAL):
		return errors.ErrUnsupported
	}
	return err
}
