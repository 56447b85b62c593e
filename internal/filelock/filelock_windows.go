package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// Constants that package syscall does not define.
const (
	failImmediately = 0x1
	exclusive       = 0x2
	errorViolation  = syscall.Errno(33) // ERROR_LOCK_VIOLATION
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

func try(f *os.File) error { return tryContent(f, true) }

func tryContent(f *os.File, alone bool) error {
	flags := uintptr(failImmediately)
	if alone {
		flags |= exclusive
	}
	const all = ^uint32(0)
	// Lock a byte far after the content, because Windows lets no other process read locked bytes.
	at := syscall.Overlapped{Offset: all - 1, OffsetHigh: all >> 1}
	ok, _, err := lockFileEx.Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errorViolation):
		return ErrLocked
	}
	return err
}
