package outbox

import (
	"errors"
	"fmt"
	"strings"
)

// The schema has five tables. Times are Unix milliseconds and 0 for never, durations are milliseconds.
//
// signforms_outbox has a row for each message:
//
//	id           never used again, so that a late response finds no other message
//	due          pending: when the message may be claimed; sent: when it is to be reminded
//	since        when due was set; a time in the future shows that a clock was set back
//	backoff      the last wait after a refusal
//	tries        refusals in a row; refused: those while other messages were sent; refused_at: the first one
//	not_sent     how often two walks found that it was not sent
//	timeout      how long the send of this attempt may take
//	service_at   the service's time at the claim
//	first_walk   walks of the template that had ended before the first claim; -1: not claimed yet
//	phase        of a message that is sending: see the constants phase…
//	watched      how long this attempt was seen unchanged in this phase
//	doubted      how long this attempt was seen unchanged
//	looked       1: the candidates of an undecided message are complete
//	read_due     when the document is to be read; void_due: to be voided
//	missing_at   when the service first had no document with this id
//	changes      the number of changes of which OnChange is to be called; told: the last one of which it was
//
// signforms_outbox_documents has each document of a template that has been sent to, with the id of its message, or 0 if
// no message is known to have it, and the number of the walk that first listed it. The message may have been forgotten.
//
// signforms_outbox_signers finds messages by the id of a signer, or by a digest of template and address.
//
// signforms_outbox_templates counts the whole walks over a template's documents.
//
// signforms_outbox_boxes has a row for each box, and one with an empty name for the version of the schema.

// upgrades has the statements from each version of the schema to the next one, from version 1 on. Schema makes version 1,
// and runs them all.
var upgrades []string

func schemaVersion() int { return 1 + len(upgrades) }

// A Dialect is the SQL of a kind of database.
type Dialect string

// The databases that a box can be in.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Schema returns the SQL that makes the tables, for programs that set [Options.NoSchema].
func Schema(d Dialect) string {
	types := strings.NewReplacer("BYTES", "BLOB", "IDENTITY", "INTEGER PRIMARY KEY AUTOINCREMENT")
	if d == Postgres {
		types = strings.NewReplacer("BYTES", "BYTEA", "IDENTITY", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
	}
	upgrade, _ := Upgrade(d, 1)
	return types.Replace(schema) + upgrade
}

// Upgrade returns the SQL that upgrades tables of the version from to the version of this package.
// It only adds columns with defaults, so that programs with the previous version continue to work.
func Upgrade(d Dialect, from int) (string, error) {
	if from < 1 || from > schemaVersion() {
		return "", fmt.Errorf("outbox: Upgrade: this package knows the versions 1 to %d", schemaVersion())
	}
	return strings.Join(upgrades[from-1:], "") +
		fmt.Sprintf("UPDATE signforms_outbox_boxes SET version = %d WHERE name = '' AND version < %[1]d;\n", schemaVersion()), nil
}

const schema = `CREATE TABLE signforms_outbox_boxes (
	name TEXT NOT NULL PRIMARY KEY, base_url TEXT NOT NULL DEFAULT '', workspace TEXT NOT NULL DEFAULT '', version INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE signforms_outbox (
	id IDENTITY,
	box TEXT NOT NULL, key TEXT NOT NULL, template TEXT NOT NULL, digest BYTES NOT NULL,
	state TEXT NOT NULL DEFAULT 'pending', attempt INTEGER NOT NULL DEFAULT 0, due BIGINT NOT NULL, since BIGINT NOT NULL,
	backoff BIGINT NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0,
	refused_at BIGINT NOT NULL DEFAULT 0, not_sent INTEGER NOT NULL DEFAULT 0, send_before BIGINT NOT NULL DEFAULT 0,
	timeout BIGINT NOT NULL DEFAULT 0, claimed_at BIGINT NOT NULL DEFAULT 0, service_at BIGINT NOT NULL DEFAULT 0,
	first_walk BIGINT NOT NULL DEFAULT -1, phase INTEGER NOT NULL DEFAULT 0, watched BIGINT NOT NULL DEFAULT 0,
	doubted BIGINT NOT NULL DEFAULT 0, looked INTEGER NOT NULL DEFAULT 0, document TEXT NOT NULL DEFAULT '',
	status TEXT NOT NULL DEFAULT '', added_at BIGINT NOT NULL, sent_at BIGINT NOT NULL DEFAULT 0,
	ended_at BIGINT NOT NULL DEFAULT 0, remind_after TEXT NOT NULL DEFAULT '[]', reminded INTEGER NOT NULL DEFAULT 0,
	void INTEGER NOT NULL DEFAULT 0, void_due BIGINT NOT NULL DEFAULT 0, read_due BIGINT NOT NULL DEFAULT 0,
	missing_at BIGINT NOT NULL DEFAULT 0, changes INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0,
	tell_due BIGINT NOT NULL DEFAULT 0, tell_backoff BIGINT NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
	candidates TEXT NOT NULL DEFAULT '[]', duplicates TEXT NOT NULL DEFAULT '[]', signers TEXT NOT NULL DEFAULT '[]',
	receivers TEXT NOT NULL DEFAULT '[]',
	content BYTES,
	UNIQUE (box, key)
);
CREATE INDEX signforms_outbox_states ON signforms_outbox (box, state, due, id);
CREATE INDEX signforms_outbox_of_template ON signforms_outbox (box, template, state);
CREATE INDEX signforms_outbox_reads ON signforms_outbox (box, read_due) WHERE read_due > 0;
CREATE INDEX signforms_outbox_voids ON signforms_outbox (box, void_due) WHERE void_due > 0;
CREATE INDEX signforms_outbox_untold ON signforms_outbox (box, tell_due) WHERE told <> changes;
CREATE INDEX signforms_outbox_contents ON signforms_outbox (box, ended_at) WHERE content IS NOT NULL AND ended_at > 0;
CREATE TABLE signforms_outbox_signers (box TEXT NOT NULL, signer TEXT NOT NULL, message BIGINT NOT NULL, PRIMARY KEY (box, signer, message));
CREATE INDEX signforms_outbox_signers_of ON signforms_outbox_signers (message);
CREATE TABLE signforms_outbox_documents (
	box TEXT NOT NULL, document TEXT NOT NULL, template TEXT NOT NULL, message BIGINT NOT NULL DEFAULT 0, walk BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (box, document)
);
CREATE INDEX signforms_outbox_documents_of ON signforms_outbox_documents (box, template);
CREATE TABLE signforms_outbox_templates (
	box TEXT NOT NULL, template TEXT NOT NULL, walks BIGINT NOT NULL DEFAULT 0, reconcile BIGINT NOT NULL DEFAULT 0,
	again BIGINT NOT NULL DEFAULT 0, again_at BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (box, template)
);
INSERT INTO signforms_outbox_boxes (name, version) VALUES ('', 1);
`

// checkVersion reports whether tables of a version have to be upgraded. 0 means that there are no
// tables.
func checkVersion(version int, noSchema bool) (upgrade bool, err error) {
	switch {
	case version == 0 && noSchema:
		return false, errors.New("the tables are missing: run the SQL of outbox.Schema")
	case version == 0 || version == schemaVersion() || version == schemaVersion()+1:
		return false, nil
	case version > schemaVersion():
		return false, fmt.Errorf("the tables have schema version %d, this program knows %d: use a newer version of the program", version, schemaVersion())
	case noSchema:
		return false, fmt.Errorf("the tables have schema version %d, this program needs %d: run the SQL of outbox.Upgrade(dialect, %d)",
			version, schemaVersion(), version)
	}
	return true, nil
}
