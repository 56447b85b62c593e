package queue

import "time"

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
