package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// What package syscall does not name.
const (
	failImmediately = 0x1
	exclusive       = 0x2
	errorViolation  = syscall.Errno(33) // ERROR_LOCK_VIOLATION
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

func try(f *os.File) error { return tryContent(f, false) }

func tryContent(f *os.File, shared bool) error {
	const all = ^uint32(0)
	flags := uintptr(failImmediately)
	if !shared {
		flags |= exclusive
	}
	// Lock a byte far beyond the content, because Windows lets no other process read locked bytes.
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

// Names returns how many names (hard links) a file has.
func Names(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}
