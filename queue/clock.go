package queue

import (
	"context"
	"sync"
	"time"
)

// clock tells the store's time. It never goes back, so that due events stay due when the machine's clock is set back. After a restart
// the newest time in the store has the same effect.
type clock struct {
	wall func() time.Time // nil: time.Now and the offset

	mu     sync.Mutex
	offset time.Duration // how far the database's clock is ahead
	known  bool          // offset was read
	last   int64         // the time that was returned last, in Unix milliseconds
	at     time.Time     // when it was returned, with a monotonic reading
}

func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.advance()
}

func (c *clock) advance() int64 {
	real := time.Now()
	wall := real.Round(0).Add(c.offset)
	if c.wall != nil {
		wall = c.wall()
	}
	passed := real.Sub(c.at)
	if steady := c.last + passed.Milliseconds(); !c.at.IsZero() && steady > wall.UnixMilli() {
		if passed >= time.Millisecond { // otherwise fractions of milliseconds would be lost each time
			c.last, c.at = steady, c.at.Add(passed.Truncate(time.Millisecond))
		}
		return steady
	}
	c.last, c.at = wall.UnixMilli(), real
	return c.last
}

// atLeast makes sure that the clock returns no time before ms.
func (c *clock) atLeast(ms int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.advance() < ms {
		c.last, c.at = ms, time.Now()
	}
}

// precise is the largest error with which an answer about the database's clock replaces the one before.
const precise = 250 * time.Millisecond

// follow sets how far the database's clock is ahead. It ignores answers with a large error, which a clock that never goes back would
// keep. Only the first answer is always used.
func (c *clock) follow(ahead, within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known || within <= precise {
		c.offset, c.known = ahead, true
	}
}

func (q *Queue) now() int64 { return q.clock.now() }

// setClock sets the clock by the database's clock and by the newest readable time in the store. It calls damaged with the id of each
// newer event that cannot be read.
func (q *Queue) setClock(ctx context.Context, damaged func(id int64, err error)) error {
	if q.clock.wall == nil {
		ahead, within, err := q.db.clock(ctx)
		if err != nil {
			return err
		}
		q.clock.follow(ahead, within)
	}
	var newest int64
	t := q.query(ctx)
	_, err := t.first([]any{&newest}, "SELECT received FROM signforms_events ORDER BY id DESC LIMIT 1")
	if err != nil {
		newest, err = newestReadable(t, damaged)
	}
	if err == nil {
		q.clock.atLeast(newest)
	}
	return err
}
