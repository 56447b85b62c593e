package queue

import (
	"fmt"
	"slices"
)

// The schema has two main tables. signforms_events has a row for each event. state is an index of the array states. line is the value of
// [Entry.Line], and line_id is the id of the line's row. odd is 1 for an event that is of no known type or has a field that
// could not be read, and for those that were stored before the column was there. note is what [Options.Note] returned for its delivery.
//
// signforms_lines has a row for each line in which an event is pending, or which a worker holds:
//
//	id     the lineID of the line, so that no statement needs a text as a key
//	due    when the line's first pending event may be tried
//	lease  until when no other worker may start the line; 0: any worker may
//	token  identifies the worker that holds the line; 0: no worker does, but an abandoned function may run until lease
//	head   the id of the event that the worker processes, negative once the start of its function is stored; 0: no worker holds the line
//	since  when due or lease was set; 0: by a program that did not know this column
//	low    no event of the line with a lower id is pending
//
// The index signforms_lines_held is by abs(token), so that Postgres does not take it for a search by id and token, in which it would
// walk past the leases of the past.
//
// A statement that needs signforms_events_settled says state > 0 beside state = 2: SQLite does not infer the one from the other.
//
// signforms_queue_clock has one row. boot and base are only used on SQLite: base is the store's time less the time since the start of
// the machine that boot names. seen is when a process last looked at the clock, and trusted is since when the clock is known not to
// have jumped.
//
// If an event is being processed when [Queue.Retry] is called, its attempts becomes -1, so that the try under way does not count.
//
// Times are Unix milliseconds. There is no index by time of receipt for all events, because ids ascend with it, except for events that
// are received at the same moment. Add new steps at the end of both lists. Never change what a step that was
// released makes.

// step is one step of the schema.
type step struct {
	sql string

	// compatible says that programs that only know the steps before may go on using the tables. They then also open them.
	compatible bool
}

// oldestFor returns the lowest version that a program must know to use tables of the given version.
func oldestFor(steps []step, version int) int {
	for version > 1 && steps[version-1].compatible {
		version--
	}
	return version
}

// schemaVersion is what signforms_queue_schema says.
type schemaVersion struct {
	version int // 0: there are no tables
	oldest  int // programs that know this version or a newer one may use the tables
}

// usable reports whether the tables need no step, or returns an error if they are too new.
func (v schemaVersion) usable(known int) (bool, error) {
	if v.version > known && v.oldest > known {
		return false, fmt.Errorf("the database has schema version %d, this program knows up to %d: use a newer version of the program", v.version, known)
	}
	return v.version >= known, nil
}

// migrate brings the schema from v to the newest version, step by step. It calls record after each step.
func migrate(t *tx, v schemaVersion, steps []step, record func(version int) error) error {
	if done, err := v.usable(len(steps)); done || err != nil {
		return err
	}
	for i, s := range slices.All(steps[v.version:]) {
		version := v.version + i + 1
		_, err := t.exec(s.sql)
		if err == nil {
			err = record(version)
		}
		if err != nil {
			return fmt.Errorf("schema step %d: %w", version, err)
		}
	}
	return nil
}

var sqliteSchema = []step{{sql: `
CREATE TABLE signforms_events (
	id       INTEGER PRIMARY KEY,
	dedupe   BLOB    NOT NULL UNIQUE,
	line_id  INTEGER NOT NULL,
	line     TEXT    NOT NULL,
	type     TEXT    NOT NULL,
	subject  TEXT    NOT NULL,
	signers  TEXT    NOT NULL,
	state    INTEGER NOT NULL DEFAULT 0,
	attempts INTEGER NOT NULL DEFAULT 0,
	received INTEGER NOT NULL,
	settled  INTEGER NOT NULL DEFAULT 0,
	error    TEXT    NOT NULL DEFAULT '',
	body     BLOB
);
CREATE TABLE signforms_lines (
	id    INTEGER PRIMARY KEY,
	due   INTEGER NOT NULL,
	lease INTEGER NOT NULL DEFAULT 0,
	token INTEGER NOT NULL DEFAULT 0,
	head  INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX signforms_events_pending ON signforms_events (line_id, id) WHERE state = 0;
CREATE INDEX signforms_events_settled ON signforms_events (state, settled) WHERE state > 0;
CREATE INDEX signforms_events_bodies ON signforms_events (settled) WHERE state = 1 AND body IS NOT NULL;
CREATE INDEX signforms_lines_due ON signforms_lines (max(due, lease));
`}, {sql: `
ALTER TABLE signforms_lines ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE signforms_lines ADD COLUMN low INTEGER NOT NULL DEFAULT 0;
ALTER TABLE signforms_events ADD COLUMN odd INTEGER NOT NULL DEFAULT 1;
ALTER TABLE signforms_events ADD COLUMN note TEXT NOT NULL DEFAULT '';
CREATE INDEX signforms_events_waiting ON signforms_events (received) WHERE state = 0;
CREATE INDEX signforms_lines_held ON signforms_lines (lease) WHERE abs(token) > 0;
CREATE INDEX signforms_events_odd ON signforms_events (id) WHERE odd = 1 AND body IS NOT NULL;
CREATE TABLE signforms_queue_clock (boot TEXT NOT NULL, base INTEGER NOT NULL, seen INTEGER NOT NULL, trusted INTEGER NOT NULL);
INSERT INTO signforms_queue_clock (boot, base, seen, trusted) VALUES ('', 0, 0, 0);
CREATE TABLE signforms_queue_schema (version INTEGER NOT NULL, oldest INTEGER NOT NULL);
`}}

var postgresSchema = []step{{sql: `
CREATE TABLE signforms_events (
	id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dedupe   BYTEA  NOT NULL UNIQUE,
	line_id  BIGINT NOT NULL,
	line     TEXT   NOT NULL,
	type     TEXT   NOT NULL,
	subject  TEXT   NOT NULL,
	signers  TEXT   NOT NULL,
	state    SMALLINT NOT NULL DEFAULT 0,
	attempts INTEGER NOT NULL DEFAULT 0,
	received BIGINT NOT NULL,
	settled  BIGINT NOT NULL DEFAULT 0,
	error    TEXT   NOT NULL DEFAULT '',
	body     BYTEA
);
CREATE TABLE signforms_lines (
	id    BIGINT PRIMARY KEY,
	due   BIGINT NOT NULL,
	lease BIGINT NOT NULL DEFAULT 0,
	token BIGINT NOT NULL DEFAULT 0,
	head  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX signforms_events_pending ON signforms_events (line_id, id) WHERE state = 0;
CREATE INDEX signforms_events_settled ON signforms_events (state, settled) WHERE state > 0;
CREATE INDEX signforms_events_bodies ON signforms_events (settled) WHERE state = 1 AND body IS NOT NULL;
CREATE INDEX signforms_lines_due ON signforms_lines (greatest(due, lease));
ALTER TABLE signforms_lines SET (fillfactor = 70);
`}, {sql: `
ALTER TABLE signforms_lines ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE signforms_lines ADD COLUMN low BIGINT NOT NULL DEFAULT 0;
ALTER TABLE signforms_events ADD COLUMN odd SMALLINT NOT NULL DEFAULT 1;
ALTER TABLE signforms_events ADD COLUMN note TEXT NOT NULL DEFAULT '';
CREATE INDEX signforms_events_waiting ON signforms_events (received) WHERE state = 0;
CREATE INDEX signforms_lines_held ON signforms_lines (lease) WHERE abs(token) > 0;
CREATE INDEX signforms_events_odd ON signforms_events (id) WHERE odd = 1 AND body IS NOT NULL;
CREATE TABLE signforms_queue_clock (boot TEXT NOT NULL, base BIGINT NOT NULL, seen BIGINT NOT NULL, trusted BIGINT NOT NULL);
INSERT INTO signforms_queue_clock (boot, base, seen, trusted) VALUES ('', 0, 0, 0);
ALTER TABLE signforms_queue_schema ADD COLUMN oldest INTEGER;
`}}
