package queue

import (
	"context"
	"time"
)

// SetClock replaces the clock of queues that are opened with o.
func (o *Options) SetClock(now func() time.Time) { o.now = now }

// SetUnsynced makes a SQLite file forget what a power cut finds unwritten.
func (o *Options) SetUnsynced() { o.unsynced = true }

// SetPoll sets how often Run looks for what other processes have received: on virtual time, that is the most work.
func (o *Options) SetPoll(d time.Duration) { o.poll = d }

// NewestSchema is the number of schema steps.
var NewestSchema = len(sqliteSchema)

// SetSync is called before each commit on SQLite.
func (o *Options) SetSync(sync func()) { o.sync = sync }

// DatabaseClock asks how far the database's clock is ahead, and how far that may be wrong.
func (q *Queue) DatabaseClock(ctx context.Context) (ahead, within time.Duration, err error) {
	return q.db.clock(ctx)
}

// FollowClock does what the sweep does with such an answer.
func (q *Queue) FollowClock(ahead, within time.Duration) { q.clock.follow(ahead, within) }

// Now is the time in the store's terms.
func (q *Queue) Now() time.Time { return fromMillis(q.now()) }
