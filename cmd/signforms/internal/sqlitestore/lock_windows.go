package sqlitestore

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockExclusively locks one byte far behind the text: a locked byte cannot be read, and the text is for others.
func lockExclusively(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrInUse
	}
	return err
}
