// Package pgxtx adds, reads, voids and forgets messages of package outbox in a transaction of pgx,
// for programs that have no *sql.Tx. It is a separate package so that package outbox does not
// depend on pgx.
//
//	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
//		… // the program's own rows
//		return pgxtx.Add(ctx, box, tx, outbox.Message{Key: "offer-17", Send: …})
//	})
//
// The box itself is opened with a *sql.DB, such as the result of stdlib.OpenDBFromPool of pgx.
package pgxtx

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/signforms/signforms-go/outbox"
)

// Add is [outbox.Box.Add] in a transaction of pgx.
func Add(ctx context.Context, b *outbox.Box, tx pgx.Tx, m outbox.Message) error {
	return with(ctx, tx, func(q outbox.Querier) error { return b.Add(ctx, q, m) })
}

// Get is [outbox.Box.Get] in a transaction of pgx.
func Get(ctx context.Context, b *outbox.Box, tx pgx.Tx, key string) (e outbox.Entry, err error) {
	err = with(ctx, tx, func(q outbox.Querier) error {
		e, err = b.Get(ctx, q, key)
		return err
	})
	return e, err
}

// Void is [outbox.Box.Void] in a transaction of pgx.
func Void(ctx context.Context, b *outbox.Box, tx pgx.Tx, key string) error {
	return with(ctx, tx, func(q outbox.Querier) error { return b.Void(ctx, q, key) })
}

// Forget is [outbox.Box.Forget] in a transaction of pgx.
func Forget(ctx context.Context, b *outbox.Box, tx pgx.Tx, key string) error {
	return with(ctx, tx, func(q outbox.Querier) error { return b.Forget(ctx, q, key) })
}

// with calls do with a connection of database/sql whose statements run in tx.
func with(ctx context.Context, tx pgx.Tx, do func(outbox.Querier) error) error {
	db := sql.OpenDB(connector{tx})
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return do(conn)
}

// connector is a driver of database/sql for one transaction.
type connector struct{ tx pgx.Tx }

func (c connector) Connect(context.Context) (driver.Conn, error) { return conn(c), nil }
func (c connector) Driver() driver.Driver                        { return nil }

type conn connector

var errUnused = errors.New("pgxtx: statements are neither prepared nor in a transaction of their own")

func (c conn) Prepare(string) (driver.Stmt, error) { return nil, errUnused }
func (c conn) Begin() (driver.Tx, error)           { return nil, errUnused }
func (c conn) Close() error                        { return nil }

func values(args []driver.NamedValue) []any {
	var all []any
	for _, a := range args {
		all = append(all, a.Value)
	}
	return all
}

func (c conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	tag, err := c.tx.Exec(ctx, query, values(args)...)
	return driver.RowsAffected(tag.RowsAffected()), err
}

func (c conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	found, err := c.tx.Query(ctx, query, values(args)...)
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

type rows struct{ pgx.Rows }

// Columns returns empty names, because rows are scanned by position.
func (r rows) Columns() []string { return make([]string, len(r.FieldDescriptions())) }

func (r rows) Close() error {
	r.Rows.Close()
	return r.Err()
}

func (r rows) Next(dest []driver.Value) error {
	if !r.Rows.Next() {
		return cmp.Or(r.Err(), io.EOF)
	}
	all, err := r.Values()
	for i := range all {
		dest[i] = all[i]
	}
	return err
}
