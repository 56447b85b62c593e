package queue

import (
	"sync"
	"time"
)

// clocks are the clocks that a queue reads. Tests replace them.
type clocks struct {
	wall     func() time.Time     // may jump at any time
	boot     func() time.Duration // time since a moment in the past; never jumps
	bootID   string               // identifies a start of the machine; "": boot counts from the start of the process
	database func() time.Time     // replaces the clock of Postgres; nil: Postgres uses its own clock
}

// fill sets the clocks that are not replaced. With alone, the queue uses the clock of this process.
func (c *clocks) fill(alone bool) {
	if c.wall == nil {
		c.wall = time.Now
	}
	if c.boot == nil && !alone {
		c.bootID, c.boot = bootClock()
	}
	if c.boot == nil { // the clock of this process has no id, because other processes do not see this clock
		start := time.Now()
		c.boot = func() time.Duration { return time.Since(start) }
	}
}

// clock returns the store's time. The time is the last reading of the database's clock plus the
// time that has passed since then, measured by a clock that nobody can set. A Postgres database has
// a clock of its own. The clock of a SQLite file is the wall clock at the first opening of the file
// after a start of the machine, plus the time since then.
type clock struct {
	clocks

	mu    sync.Mutex
	base  int64 // the store's time less the time since boot, in milliseconds
	known bool
	read  time.Duration // when the database's clock was read last, since boot
	ahead time.Duration // by how much the wall clock was ahead of boot at the time read
	jumps int           // how often the database's clock has jumped
}

// now returns the store's time in Unix milliseconds.
func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base + c.boot().Milliseconds()
}

// set sets base, which is the store's time less the time since boot.
func (c *clock) set(base int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.known = base, true
}

// jump is the smallest difference between the database's clock and the time that has passed which
// counts as a jump of the clock.
const jump = 30 * time.Second

// follow corrects the clock by shown, which the database's clock showed at some moment between sent
// and now. If the response was slow, the moment is uncertain, and follow moves the clock only as
// far as shown proves it wrong.
func (c *clock) follow(shown int64, sent time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	received := c.boot()
	if c.database != nil {
		shown = millis(c.database())
	}
	lowest, highest := shown-received.Milliseconds()-1, shown-sent.Milliseconds()+1
	before := c.base
	if c.known {
		c.base = min(max(c.base, lowest), highest)
	} else {
		c.base, c.known = (lowest+highest)/2, true
		before = c.base
	}
	if moved := c.base - before; moved > jump.Milliseconds() || -moved > jump.Milliseconds() {
		c.jumps++
	}
	c.read, c.ahead = received, c.wallAhead(received)
}

func (c *clock) wallAhead(boot time.Duration) time.Duration {
	return time.Duration(c.wall().UnixNano()) - boot
}

// readEvery is the maximum age of the last reading of the database's clock when a delivery is
// stored.
const readEvery = 10 * time.Second

// stale reports whether the database's clock should be read again. Either the last reading is old,
// or the wall clock has moved since. The wall clock moves, for example, when the machine was
// suspended and its other clocks do not show it. stale reports true to one caller at a time.
func (c *clock) stale() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	boot := c.boot()
	moved := c.wallAhead(boot) - c.ahead
	if boot-c.read <= readEvery && moved <= time.Second && -moved <= time.Second {
		return false
	}
	c.read, c.ahead = boot, c.wallAhead(boot)
	return true
}

func (c *clock) jumped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.jumps
}

func (q *Queue) now() int64 { return q.clock.now() }
