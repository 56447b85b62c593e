//go:build !linux

package queue

import "time"

// bootClock returns nil, because other systems tell the time since their start in other ways.
func bootClock() (id string, since func() time.Duration) { return "", nil }
