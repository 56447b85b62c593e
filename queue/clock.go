package queue

import (
	"context"
	"sync"
	"time"
)

// clock tells the time in the store's terms. It never goes back: what was due stays due when the machine's clock is set
// back, in this process and, by way of the newest time in the store, after a restart.
type clock struct {
	wall func() time.Time // nil: time.Now and the offset

	mu     sync.Mutex
	offset time.Duration // of the database's clock
	known  bool          // offset was read
	last   int64         // what was told last, in Unix milliseconds
	at     time.Time     // when, with a monotonic reading
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
	if told := c.last + passed.Milliseconds(); !c.at.IsZero() && told > wall.UnixMilli() {
		if passed >= time.Millisecond { // else the rest of a millisecond would be lost each time
			c.last, c.at = told, c.at.Add(passed.Truncate(time.Millisecond))
		}
		return told
	}
	c.last, c.at = wall.UnixMilli(), real
	return c.last
}

// atLeast makes sure that no time before ms is told.
func (c *clock) atLeast(ms int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.advance() < ms {
		c.last, c.at = ms, time.Now()
	}
}

// precise is how far an answer about the database's clock may be wrong to replace the one before.
const precise = 250 * time.Millisecond

// follow takes over how far the database's clock is ahead. An answer that took long says little, and a clock that never goes
// back would keep its error: only the first one is taken whatever it says.
func (c *clock) follow(ahead, within time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known || within <= precise {
		c.offset, c.known = ahead, true
	}
}

func (q *Queue) now() int64 { return q.clock.now() }

// setClock follows the database's clock and the newest time in the store that can be read. It calls damaged with the id of each
// event that is newer and cannot be read.
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
