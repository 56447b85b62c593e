// Package filelock locks files against other processes. The system frees a lock when its process ends, even by a crash.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrLocked is the error of [Try] if another process holds the lock, or another open file of this
// process.
var ErrLocked = errors.New("in use by another process")

// Try locks a file, or returns ErrLocked at once. Closing the file unlocks it.
func Try(f *os.File) error { return try(f) }

// TryContent locks a file, under any of its names, that a library such as SQLite locks too. The two locks do not affect
// each other. TryContent returns ErrLocked at once if the file has a lock of TryContent or TryShareContent. Closing the file unlocks it. Systems
// other than Linux, macOS and Windows have no such lock: there it returns [errors.ErrUnsupported].
func TryContent(f *os.File) error { return tryContent(f, true) }

// TryShareContent is TryContent for a lock that excludes only locks of TryContent.
func TryShareContent(f *os.File) error { return tryContent(f, false) }

// pause is how long Wait sleeps between two attempts.
const pause = 2 * time.Millisecond

// Wait locks a file. It waits for the lock until ctx ends. Closing the file unlocks it.
func Wait(ctx context.Context, f *os.File) error {
	for {
		if err := try(f); !errors.Is(err, ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
