package queue

// The schema has two tables. signforms_events has a row for each event. Its state is an index of the array states; its
// line is what [Entry.Line] says, and line_id the row of its line.
//
// signforms_lines has a row for each line in which an event is pending, or which a worker holds:
//
//	id     lineID of the line: receipts, claims and settlements need no text as a key
//	due    when the line's first pending event may be tried
//	lease  until when nobody else may start the line; 0: anybody may
//	token  of the worker that holds it; 0: nobody does, though an abandoned function may go on until lease
//	head   the event that the worker processes, negative: it was stored that its function begins; 0: nobody holds the line
//
// An event has attempts = -1 while the try of it is not to be counted that was going on when [Queue.Retry] was called.
//
// Times are Unix milliseconds. There is no index by time of receipt: ids ascend with it, apart from what receives at the
// same moment. A new step goes to the end of both lists; a step that was released never changes.

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
