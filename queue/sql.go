package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// store is a database with the tables of schema.go.
type store interface {
	// write runs do in a transaction and commits it. On SQLite several calls share a transaction, and do may run twice;
	// the first time without effect.
	write(ctx context.Context, do func(*tx) error) error

	// submit is write for a caller that must not wait longer than ctx. After an error it must not read what do has written:
	// do may still be running.
	submit(ctx context.Context, do func(*tx) error) error

	// note is write for claims and outcomes. What it has committed outlives the process, but a power cut may undo it: then
	// the events run again. On SQLite that is what was noted in the last tenth of a second in which anything was written.
	note(ctx context.Context, do func(*tx) error) error

	// receive stores deliveries' rows within a transaction.
	receive(t *tx, rows []row, now int64, lastTry int) (receipt, error)

	// reader is for queries outside of transactions.
	reader() *sql.DB

	// text is the SQL that differs between databases.
	text() *dialect

	// clean removes what erased data leaves behind in the files, as far as it is in the store's hands.
	clean(ctx context.Context) error

	// clock returns how far the database's clock is ahead of this process's, and how far that may be wrong.
	clock(ctx context.Context) (ahead, within time.Duration, err error)

	close() error
}

// dialect is what differs between the statements of the two databases. Both number their parameters $1, $2, ….
type dialect struct {
	latest   string // function that returns the greater of two values
	position string // function that returns where a text is in a text, from 1, or 0
	skip     string // ends a SELECT whose rows are to be changed, without those that others are changing
	lock     string // ends a SELECT whose rows are to be changed, after waiting for others

	in   func(column, param string) string // condition that a column is one of a list
	list func(values any) any              // the parameter for it: of []int64
}

// statements runs statements, in a transaction or not.
type statements interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tx is a transaction of one of the databases.
type tx struct {
	ctx context.Context
	on  statements
	*dialect
}

// exec returns how many rows were changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	result, err := t.on.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// first scans the first row into dest and reports whether there is one.
func (t *tx) first(dest []any, query string, args ...any) (found bool, err error) {
	err = t.each(func(rows *sql.Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(dest...)
	}, query, args...)
	return found, err
}

// each calls scan for each row.
func (t *tx) each(scan func(*sql.Rows) error, query string, args ...any) error {
	return eachRow(t.ctx, t.on, scan, query, args...)
}

func eachRow(ctx context.Context, on statements, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// migrate brings the schema from version to the newest one, step by step.
func migrate(t *tx, version int, steps []string, record func(version int) error) error {
	if version > len(steps) {
		return fmt.Errorf("the database has schema version %d, this program knows up to %d: use a newer version of the program", version, len(steps))
	}
	for ; version < len(steps); version++ {
		if _, err := t.exec(steps[version]); err != nil {
			return fmt.Errorf("schema step %d: %w", version+1, err)
		}
		if err := record(version + 1); err != nil {
			return fmt.Errorf("schema step %d: %w", version+1, err)
		}
	}
	return nil
}
