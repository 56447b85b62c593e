package queue

// The schema has two tables. signforms_events has a row for each event. state is an index of the array states. line is the value of
// [Entry.Line], and line_id is the id of the line's row.
//
// signforms_lines has a row for each line in which an event is pending, or which a worker holds:
//
//	id     the lineID of the line, so that no statement needs a text as a key
//	due    when the line's first pending event may be tried
//	lease  until when no other worker may start the line; 0: any worker may
//	token  identifies the worker that holds the line; 0: no worker does, but an abandoned function may run until lease
//	head   the id of the event that the worker processes, negative once the start of its function is stored; 0: no worker holds the line
//
// If an event is being processed when [Queue.Retry] is called, its attempts becomes -1, so that the try under way does not count.
//
// Times are Unix milliseconds. There is no index by time of receipt, because ids ascend with it, except for events that are received at
// the same moment. Add new steps at the end of both lists. Never change a step that was released.

var sqliteSchema = []string{`
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
`}

var postgresSchema = []string{`
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
`}
