package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

func try(f *os.File) error { return tryContent(f, false) }

func tryContent(f *os.File, shared bool) error {
	const all = ^uint32(0)
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	// Lock a byte far beyond the content, because Windows lets no other process read locked bytes.
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: all - 1, OffsetHigh: all >> 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
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
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0, err
	}
	return uint64(info.NumberOfLinks), nil
}
