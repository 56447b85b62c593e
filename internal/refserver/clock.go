package refserver

import (
	"math"
	"sync"
	"time"
)

// The clock stays between these times, for which the nanoseconds since 1970 fit into 64 bits.
var (
	firstTime = time.Unix(0, 0).UTC()
	lastTime  = time.Unix(0, math.MaxInt64).UTC() // 2262-04-11
)

// clock is the service's time: the wall clock or a fixed start, plus the sum of all advances. It is
// safe for concurrent use.
type clock struct {
	mu     sync.Mutex
	start  time.Time // if not zero, the clock stands still between advances
	offset time.Duration
	latest time.Time // the last result of Now
}

// Now returns the service's time in UTC, in whole milliseconds, as on the wire. It never goes back,
// even if the wall clock is set back.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.start
	if now.IsZero() {
		now = time.Now()
	}
	now = now.Add(c.offset).UTC().Round(0).Truncate(time.Millisecond)
	if now.After(c.latest) {
		c.latest = now
	}
	return c.latest
}

// frozen reports whether only advances move the clock.
func (c *clock) frozen() bool { return !c.start.IsZero() }

// advanced returns the sum of all advances.
func (c *clock) advanced() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset
}

// resume continues a clock that was advanced by offset and that last showed latest. Time does not
// go back.
func (c *clock) resume(offset time.Duration, latest time.Time) {
	c.mu.Lock()
	c.offset = max(c.offset, offset)
	c.mu.Unlock()
	if behind := latest.Sub(c.Now()); behind > 0 {
		c.advance(behind)
	}
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}
