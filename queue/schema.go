package queue

// The schema has two tables. signforms_events has a row for each event; its state is an index of the array states.
// signforms_lines has a row for each line in which an event is pending, or which a worker holds:
//
//	due          when the line's first pending event may be tried
//	lease        until when a worker holds the line; 0: nobody does
//	token        of the worker that holds it; empty: nobody does
//	head         the event that the worker processes now, or next; 0: nobody holds the line
//	interrupted  the head of the worker before, when that one let its lease end; else 0
//
// Times are Unix milliseconds. A new step goes to the end of both lists; a step that was released never changes.

var sqliteSchema = []string{`
CREATE TABLE signforms_events (
	id       INTEGER PRIMARY KEY,
	dedupe   BLOB    NOT NULL UNIQUE,
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
	line        TEXT    PRIMARY KEY,
	due         INTEGER NOT NULL,
	lease       INTEGER NOT NULL DEFAULT 0,
	token       TEXT    NOT NULL DEFAULT '',
	head        INTEGER NOT NULL DEFAULT 0,
	interrupted INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX signforms_events_pending ON signforms_events (line, id) WHERE state = 0;
CREATE INDEX signforms_events_settled ON signforms_events (state, settled) WHERE state > 0;
CREATE INDEX signforms_events_bodies ON signforms_events (settled) WHERE state = 1 AND body IS NOT NULL;
CREATE INDEX signforms_events_received ON signforms_events (received);
CREATE INDEX signforms_lines_due ON signforms_lines (max(due, lease));
`}

var postgresSchema = []string{`
CREATE TABLE signforms_events (
	id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	dedupe   BYTEA  NOT NULL UNIQUE,
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
	line        TEXT   PRIMARY KEY,
	due         BIGINT NOT NULL,
	lease       BIGINT NOT NULL DEFAULT 0,
	token       TEXT   NOT NULL DEFAULT '',
	head        BIGINT NOT NULL DEFAULT 0,
	interrupted BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX signforms_events_pending ON signforms_events (line, id) WHERE state = 0;
CREATE INDEX signforms_events_settled ON signforms_events (state, settled) WHERE state > 0;
CREATE INDEX signforms_events_bodies ON signforms_events (settled) WHERE state = 1 AND body IS NOT NULL;
CREATE INDEX signforms_events_received ON signforms_events (received);
CREATE INDEX signforms_lines_due ON signforms_lines (greatest(due, lease));
ALTER TABLE signforms_lines SET (fillfactor = 70);
`}
