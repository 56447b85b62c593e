package refserver

import (
	"sync"
	"time"
)

// clock is the service's time: the wall clock plus what was advanced, or a fixed start plus what was advanced.
// It is safe for concurrent use.
type clock struct {
	mu     sync.Mutex
	start  time.Time // not zero: the clock stands still between advances
	offset time.Duration
}

// Now returns the service's time in UTC, in the milliseconds that the wire can carry.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.start
	if now.IsZero() {
		now = time.Now()
	}
	return now.Add(c.offset).UTC().Round(0).Truncate(time.Millisecond)
}

// frozen reports whether only advances move the clock.
func (c *clock) frozen() bool { return !c.start.IsZero() }

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}
