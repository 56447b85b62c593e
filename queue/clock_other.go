//go:build !linux

package queue

import "time"

// bootClock returns nil. It is implemented for Linux only.
func bootClock() (id string, since func() time.Duration) { return "", nil }
