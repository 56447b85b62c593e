package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID is "SFms" in ASCII. SQLite's header field for it marks the file as one of this program.
const applicationID = 0x53466d73

// schema is the version of the tables below, stored as the file's user_version. Another version is
// refused, because nothing is migrated before v0.1.0.
const schema = 5

// tables makes the tables of a new file. The id in the table of files is the SHA-256 of the
// content. The table meta has the values of the program itself.
const tables = `
create table record (kind text not null, id text not null, data not null, primary key (kind, id));
create table file (id text primary key not null, data not null);
create table meta (name text primary key not null, value text not null)`

// prepare makes the tables of a new file, and refuses a file with other tables.
func prepare(ctx context.Context, db *sql.DB, program string) error {
	empty, err := checkSchema(ctx, db)
	if err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `pragma journal_mode = wal`); err != nil || !empty {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	text := fmt.Sprintf("%s; pragma user_version = %d; pragma application_id = %d", tables, schema, applicationID)
	if _, err := tx.ExecContext(ctx, text); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `insert into meta values ('program', ?)`, program); err != nil {
		return err
	}
	return tx.Commit()
}

// checkSchema reports whether a file is empty. It refuses a file of another program or with another
// schema, and leaves that file unchanged.
func checkSchema(ctx context.Context, db *sql.DB) (empty bool, err error) {
	var id, version, objects int
	err = db.QueryRowContext(ctx, `select (select application_id from pragma_application_id),
		(select user_version from pragma_user_version), (select count(*) from sqlite_schema)`).Scan(&id, &version, &objects)
	switch {
	case err != nil:
		return false, err
	case id == 0 && version == 0 && objects == 0:
		return true, nil
	case id != applicationID:
		return false, fmt.Errorf("%w: choose another file", ErrForeign)
	case version == schema:
		return false, nil
	}
	program := "the version that wrote it"
	var named string
	if db.QueryRowContext(ctx, `select value from meta where name = 'program'`).Scan(&named) == nil && named != "" {
		program = "version " + named + ", which wrote it"
	}
	return false, fmt.Errorf("%w: its schema is %d, and this version reads %d: use %s, or choose another file", ErrSchema, version, schema, program)
}
