package queue

import "fmt"

// The schema has two main tables. signforms_events has a row for each event. state is an index of
// the array states. ordering_key is [Entry.OrderingKey], and ordering_key_id is the id of the
// ordering key's row. note is the text that [Options.Note] returned for the delivery.
//
// signforms_ordering_keys has a row for each ordering key in which an event is pending, or which a
// worker holds:
//
//	id     the orderingKeyID of the ordering key, so that no statement needs a text as a key
//	due    when the ordering key's first pending event may be tried
//	lease  until when no other worker may start the ordering key; 0: any worker may
//	token  identifies the worker that holds the ordering key; 0: no worker does, but an abandoned function may run until lease
//	head   the id of the event that the worker processes, negative once its function's start is stored; 0: no worker
//	since  when due or lease was set
//	low    no event of the ordering key with a lower id is pending
//
// The index signforms_ordering_keys_held uses abs(token), so that Postgres does not choose it for a
// search by id and token. Such a search would read the index entries of past leases.
//
// A statement that needs signforms_events_settled contains state > 0 in addition to state = 2,
// because SQLite does not infer it.
//
// Every table has a primary key, because logical replication refuses to update one without.
//
// signforms_queue_clock has one row. Only SQLite uses boot and base: boot identifies a start of the
// machine, and base is the store's time less the time since that start. seen is when a process last
// read the clock. trusted is the time since when the clock is known not to have jumped.
//
// [Queue.Retry] of an event that is being processed sets its attempts to -1, so that the try under
// way does not count.
//
// Times are Unix milliseconds. There is no index by time of receipt for all events, because ids
// ascend with it, except for events that are received at the same moment.

// schemaVersion is the value of user_version in SQLite and of signforms_queue_schema in Postgres.
// Increment it with every change of the schema.
const schemaVersion = 5

// there reports whether the tables exist; version is 0 if they do not. It refuses tables of another
// version.
func there(version int) (bool, error) {
	switch {
	case version > schemaVersion:
		return false, fmt.Errorf("the tables have schema version %d, this program reads %d: use a newer version of the program",
			version, schemaVersion)
	case version != 0 && version < schemaVersion:
		return false, fmt.Errorf("the tables have schema version %d, this program reads %d: let the older version of the program that "+
			"made them process their events, and start with a new file or schema", version, schemaVersion)
	}
	return version != 0, nil
}

const sqliteSchema = `
CREATE TABLE signforms_events (
	id       INTEGER PRIMARY KEY,
	dedupe   BLOB    NOT NULL UNIQUE,
	ordering_key_id  INTEGER NOT NULL,
	ordering_key    TEXT    NOT NULL,
	type     TEXT    NOT NULL,
	subject  TEXT    NOT NULL,
	signers  TEXT    NOT NULL,
	state    INTEGER NOT NULL DEFAULT 0,
	attempts INTEGER NOT NULL DEFAULT 0,
	received INTEGER NOT NULL,
	settled  INTEGER NOT NULL DEFAULT 0,
	error    TEXT    NOT NULL DEFAULT '',
	note     TEXT    NOT NULL DEFAULT '',
	body     BLOB
);
CREATE TABLE signforms_ordering_keys (
	id    INTEGER PRIMARY KEY,
	due   INTEGER NOT NULL,
	lease INTEGER NOT NULL DEFAULT 0,
	token INTEGER NOT NULL DEFAULT 0,
	head  INTEGER NOT NULL DEFAULT 0,
	since INTEGER NOT NULL DEFAULT 0,
	low   INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE signforms_queue_clock (id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, base INTEGER NOT NULL, seen INTEGER NOT NULL, trusted INTEGER NOT NULL);
` + indexes + `CREATE INDEX signforms_ordering_keys_due ON signforms_ordering_keys (max(due, lease));
`

const postgresSchema = `
CREATE TABLE signforms_events (
	id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dedupe   BYTEA    NOT NULL UNIQUE,
	ordering_key_id  BIGINT   NOT NULL,
	ordering_key    TEXT     NOT NULL,
	type     TEXT     NOT NULL,
	subject  TEXT     NOT NULL,
	signers  TEXT     NOT NULL,
	state    SMALLINT NOT NULL DEFAULT 0,
	attempts INTEGER  NOT NULL DEFAULT 0,
	received BIGINT   NOT NULL,
	settled  BIGINT   NOT NULL DEFAULT 0,
	error    TEXT     NOT NULL DEFAULT '',
	note     TEXT     NOT NULL DEFAULT '',
	body     BYTEA
);
CREATE TABLE signforms_ordering_keys (
	id    BIGINT PRIMARY KEY,
	due   BIGINT NOT NULL,
	lease BIGINT NOT NULL DEFAULT 0,
	token BIGINT NOT NULL DEFAULT 0,
	head  BIGINT NOT NULL DEFAULT 0,
	since BIGINT NOT NULL DEFAULT 0,
	low   BIGINT NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE TABLE signforms_queue_clock (id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, base BIGINT NOT NULL, seen BIGINT NOT NULL, trusted BIGINT NOT NULL);
` + indexes + `CREATE INDEX signforms_ordering_keys_due ON signforms_ordering_keys (greatest(due, lease));
`

const indexes = `INSERT INTO signforms_queue_clock (id, boot, base, seen, trusted) VALUES (1, '', 0, 0, 0);
CREATE INDEX signforms_events_pending ON signforms_events (ordering_key_id, id) WHERE state = 0;
CREATE INDEX signforms_events_settled ON signforms_events (state, settled) WHERE state > 0;
CREATE INDEX signforms_events_bodies ON signforms_events (settled) WHERE state = 1 AND body IS NOT NULL;
CREATE INDEX signforms_ordering_keys_held ON signforms_ordering_keys (lease) WHERE abs(token) > 0;
`
