package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver"
)

// applicationID is "SFms" in ASCII. SQLite's header field for it marks the file as one of this program.
const applicationID = 0x53466d73

// migrations are the steps from an empty file to the current schema. The file's user_version is the number of steps that are done.
// Add steps only at the end, and never change one.
var migrations = []func(kinds []string) string{
	func([]string) string {
		return `create table _meta (name text primary key not null, value not null);
		 insert into _meta values ('resolved', 0);
		 create table "blob" (id text primary key not null, data not null)`
	},
	func([]string) string { return `insert into _meta values ('sealing_key', '')` },
	addSums,
}

// addSums gives each record a checksum, and the file one of all records, which shows that one is missing or an older one.
func addSums(kinds []string) string {
	var text strings.Builder
	text.WriteString(`create table _saved (saves integer not null, sums integer not null); insert into _saved values (0, 0);
		delete from _meta where name = 'resolved'; `)
	for _, kind := range kinds {
		if kind != refserver.BlobKind {
			fmt.Fprintf(&text, `alter table "%[1]s" add column sum integer not null default 0;
				update "%[1]s" set sum = record_sum('%[1]s', id, data);
				update _saved set sums = sums + (select coalesce(sum(sum), 0) from "%[1]s"); `, kind)
		}
	}
	return text.String()
}

// createTable makes the table of one kind of records. A kind gets it with its first record. Blobs have none of these tables: their id is
// their checksum.
func createTable(kind string) string {
	return `create table if not exists "` + kind + `" (id text primary key not null, data not null, sum integer not null)`
}

// schemaVersion returns how many migrations the file has. It refuses one of another program or of a newer version.
func schemaVersion(ctx context.Context, db *sql.DB) (version int, err error) {
	var id, objects int
	err = db.QueryRowContext(ctx, `select (select application_id from pragma_application_id), (select user_version from pragma_user_version), (select count(*) from sqlite_schema)`).
		Scan(&id, &version, &objects)
	switch {
	case err != nil:
	case id != applicationID && (id != 0 || version != 0 || objects != 0):
		err = fmt.Errorf("%w: it belongs to another program; choose another file", ErrForeign)
	case version > len(migrations):
		err = fmt.Errorf("%w: its schema is %d, and this version knows %d; use the newer version, or choose another file", ErrNewer, version, len(migrations))
	}
	return version, err
}

// migrate brings the file's tables to the current schema.
func migrate(ctx context.Context, db *sql.DB) error {
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `pragma journal_mode = wal`); err != nil {
		return err
	}
	for n := version; n < len(migrations); n++ {
		if err := step(ctx, db, n); err != nil {
			return fmt.Errorf("migrating its schema to %d: %w", n+1, err)
		}
	}
	return nil
}

// step does one migration. It sets user_version in the same transaction.
func step(ctx context.Context, db *sql.DB, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	kinds, err := tables(ctx, tx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s; pragma user_version = %d; pragma application_id = %d", migrations[n](kinds), n+1, applicationID)
	if _, err := tx.ExecContext(ctx, text); err != nil {
		return err
	}
	return tx.Commit()
}

// tables returns the kinds of records in the file.
func tables(ctx context.Context, db reader) ([]string, error) {
	rows, err := db.QueryContext(ctx, `select name from sqlite_schema where type = 'table' and name not like '\_%' escape '\' and name not like 'sqlite\_%' escape '\' order by name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var kinds []string
	for rows.Next() {
		var kind string
		if err := rows.Scan(&kind); err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, rows.Err()
}
