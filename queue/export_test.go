package queue

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// Clocks are the clocks of a process.
type Clocks struct {
	Wall     func() time.Time
	Boot     func() time.Duration
	BootID   string
	Database func() time.Time // of Postgres; nil: its own
}

// SetClocks replaces the clocks of queues that are opened with o.
func (o *Options) SetClocks(c Clocks) {
	o.clocks = clocks{wall: c.Wall, boot: c.Boot, bootID: c.BootID, database: c.Database}
}

// SetUnsynced makes a SQLite file forget what a power cut finds unwritten.
func (o *Options) SetUnsynced() { o.unsynced = true }

// SetPoll sets how often Run looks for what other processes have received: on virtual time, that is the most work.
func (o *Options) SetPoll(d time.Duration) { o.poll = d }

// SetUnwatched makes Run not wait for what other processes store: on virtual time nothing comes from outside.
func (o *Options) SetUnwatched() { o.unwatched = true }

// HasPoll reports whether SetPoll was called.
func (o *Options) HasPoll() bool { return o.poll != 0 }

// SchemaVersion is the version of the tables.
const SchemaVersion = schemaVersion

// SetSync is called before each commit on SQLite.
func (o *Options) SetSync(sync func()) { o.sync = sync }

// FollowClock takes an answer about the database's clock, which was asked for at sent.
func (q *Queue) FollowClock(shown time.Time, sent time.Duration) { q.clock.follow(millis(shown), sent) }

// Now is the time in the store's terms.
func (q *Queue) Now() time.Time { return fromMillis(q.now()) }

// HasClocks reports whether SetClocks was called.
func (o *Options) HasClocks() bool { return o.clocks.boot != nil }

// FirstEvent is the statement that finds the first pending event of an ordering key, from a lowest id on.
var FirstEvent = map[bool]string{true: sqliteDialect.first, false: postgresDialect.first}

// Prepared returns the statements that the queue has run on its writing connection to a SQLite
// file, and those of Stats.
func (q *Queue) Prepared(ctx context.Context) (texts []string, err error) {
	err = q.db.write(ctx, func(t *tx) error {
		var s Stats
		err := errors.Join(s.counts(t, 1), s.ages(t, 1), s.blocked(t, 1))
		texts = slices.Sorted(maps.Keys(q.db.(*sqliteStore).ready))
		return err
	})
	return texts, err
}

// Synchronous returns SQLite's level of synchronous in a commit that must be on the disk.
func (q *Queue) Synchronous(ctx context.Context) (level int, err error) {
	err = q.db.write(ctx, func(t *tx) error {
		_, err := t.first([]any{&level}, "PRAGMA synchronous")
		return err
	})
	return level, err
}

// StoreTooLate stores events for a caller that has given up when their statements begin.
func (q *Queue) StoreTooLate(ctx context.Context, events []webhook.Event) error {
	rows, err := newRows(events, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return q.db.write(ctx, func(t *tx) error {
		cancel(errSlow)
		_, err := q.db.receive(ctx, t, rows, 1, 1)
		return err
	})
}

// Sweep erases what is not kept any longer.
func (q *Queue) Sweep(ctx context.Context) error { return q.sweep(ctx) }

// Redrive is the statement by which Postgres finds the failed events of a delivery.
const Redrive = postgresRedrive
