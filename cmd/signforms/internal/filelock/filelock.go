// Package filelock locks files against other processes. A lock ends with the process that holds it, however it dies.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrLocked is the error of [Try] when another process, or another open file of this one, holds the lock.
var ErrLocked = errors.New("in use by another process")

// Try locks a file, or returns ErrLocked at once. Closing the file unlocks it.
func Try(f *os.File) error { return try(f) }

// pause is how long Wait sleeps between two tries.
const pause = 2 * time.Millisecond

// Wait locks a file, and waits for it as long as ctx allows. Closing the file unlocks it.
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
