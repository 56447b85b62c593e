package queue

import (
	"context"
	"database/sql"
	"errors"
)

// store is a database with the tables of schema.go.
type store interface {
	// write runs do in a transaction and commits it. On SQLite several calls share a transaction.
	// Then do may run twice, of which only the second run takes effect.
	write(ctx context.Context, do func(*tx) error) error

	// submit is write for a caller that must not wait longer than ctx. After an error the caller must not read the
	// variables that do writes, because do may still be running.
	submit(ctx context.Context, do func(*tx) error) error

	// note is write for claims and outcomes. The first statement of do that locks rows must evaluate dialect.bound. Its
	// commits survive the death of the process, but a power failure may undo them; then the events run again. On SQLite
	// these are the notes of the last tenth of a second in which anything was written, however long ago.
	note(ctx context.Context, do func(*tx) error) error

	// receive stores the rows of a delivery in a transaction. It returns an error when ctx, that of
	// the caller, has ended.
	receive(ctx context.Context, t *tx, rows []row, now int64, lastTry int) (receipt, error)

	// reader returns a database for queries outside of transactions.
	reader() *sql.DB

	// text returns the SQL that differs between the databases.
	text() *dialect

	// clean removes the remains of erased data from the files, as far as the store can do this.
	clean(ctx context.Context) error

	// clock corrects c by the database's clock. A SQLite file has none, and sets c only once, when it is opened.
	clock(ctx context.Context, c *clock) error

	// watch calls wake when another process has stored something. It returns after an error, and when ctx ends.
	watch(ctx context.Context, wake func())

	// announce makes watch of other processes call wake.
	announce()

	close() error
}

// dialect holds the differences between the statements of the two databases. Both number their parameters $1, $2, ….
type dialect struct {
	latest string // a function that returns the greater of two values
	skip   string // ends a SELECT that locks its rows and skips rows that others have locked
	lock   string // ends a SELECT that locks its rows and waits for others that have locked them
	free   string // ends a SELECT that locks its rows and fails where others have locked them
	bound  string // an expression that makes the database end the transaction if this process falls silent in it
	shows  string // an expression for the database's clock in Unix milliseconds, 0 if it has none

	in    func(column, param string) string // returns the condition that a column is in a list
	holds func(column, param string) string // returns the condition that a column's text holds one of a list
	list  func(values any) any              // returns the parameter for that list, from an []int64 or []string
}

// statements runs statements, inside or outside of a transaction.
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
		return 0, hinted(err)
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
		return hinted(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
