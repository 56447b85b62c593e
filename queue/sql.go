package queue

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// store is a database with the tables of schema.go.
type store interface {
	// write runs do in a transaction and commits it. On SQLite several calls share a transaction.
	// Then do may run twice, and only the second run takes effect.
	write(ctx context.Context, do func(*tx) error) error

	// submit is write for a caller that must not wait longer than ctx. After an error the caller
	// must not read the variables that do writes, because do may still be running.
	submit(ctx context.Context, do func(*tx) error) error

	// note is write for claims and outcomes. The first statement of do that locks rows must also
	// evaluate dialect.silent. A commit of note survives the death of the process, but a power
	// failure may undo it, and then the events run again. On SQLite, a power failure may undo the
	// commits of the last tenth of a second in which anything was written, however long ago that
	// was.
	note(ctx context.Context, do func(*tx) error) error

	// receive stores the rows of a delivery in a transaction. It returns an error if ctx, which is
	// the ctx of the caller, has ended.
	receive(ctx context.Context, t *tx, rows []row, now int64, lastTry int) (receipt, error)

	// reader returns a database for queries outside of transactions.
	reader() *sql.DB

	// text returns the SQL that differs between the databases.
	text() *dialect

	// clean removes the remains of erased data from the files, as far as the store can do this.
	clean(ctx context.Context) error

	// clock corrects c by the database's clock. A SQLite file has no clock, and sets c only once,
	// when it is opened.
	clock(ctx context.Context, c *clock) error

	// watch calls wake when another process has stored something. It returns after an error, and when ctx ends.
	watch(ctx context.Context, wake func())

	// announce makes watch of other processes call wake.
	announce()

	close() error
}

// dialect holds the differences between the statements of the two databases. Both number their parameters $1, $2, ….
type dialect struct {
	due   string // selects and locks up to $4 ordering keys that are due at $1, not below the floor $2, and not in $3
	next  string // selects when the first ordering key is due that is not below the floor $1 and not in $2
	fence string // selects and locks the ordering key $1 if its token is $2
	first string // selects the first pending event of the ordering key $1 from the id $2 on
	// tries selects and locks the event $1. It fails if another transaction has locked the row. A
	// transaction in which a function has called [Complete] may hold the row forever, and a
	// settlement that waited for it would hold the ordering key.
	tries string

	extend string // gives up the ordering key $1 until $2, but not before its lease ends
	ahead  string // selects and locks ordering keys that are due after $1 and were set after $2
	locks  string // locks the ordering keys $1 in the order of their ids
	clock  string // selects and locks the row of signforms_queue_clock
	body   string // selects the JSON of the event $1
	silent string // makes the database end the transaction if this process stops responding in it

	expiredBodies, expiredFailed, expiredKeys string // select and lock events that were settled before $1

	dueCount, lag, oldest, blocked string // for Stats

	floors bool // whether searches by time start at a floor
	plain  bool // texts are stored in ASCII, because the encoding of the database is not UTF-8

	bytes func(column string) string        // returns the expression that selects a column of bytes for blob
	in    func(column, param string) string // returns the condition that a column is in a list
	holds func(column, param string) string // returns the condition that a column's text contains an element of a list
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

// exec returns how many rows the statement changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	result, err := t.on.ExecContext(t.ctx, query, t.texts(args)...)
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
	rows, err := t.on.QueryContext(t.ctx, query, t.texts(args)...)
	if err != nil {
		return hinted(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); errors.Is(err, errEnough) {
			return rows.Close()
		} else if err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// errEnough is returned by a scan that needs no further row.
var errEnough = errors.New("enough rows")

// texts converts args to texts that the database can store.
func (t *tx) texts(args []any) []any {
	if !t.plain {
		return args
	}
	args = slices.Clone(args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = inASCII(arg)
		case []string:
			all := make([]string, len(arg))
			for j, text := range arg {
				all[j] = inASCII(text)
			}
			args[i] = all
		}
	}
	return args
}

// inASCII escapes every character of a text that is not ASCII.
func inASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

// blob is a column of bytes. Postgres sends it in hexadecimal digits, because the format of a bytea
// depends on settings of the session, which are unknown behind a pooler.
type blob []byte

func (b *blob) Scan(from any) (err error) {
	switch from := from.(type) {
	case nil:
		*b = nil
	case []byte:
		*b = slices.Clone(from)
	case string:
		*b, err = hex.DecodeString(from)
	default:
		err = fmt.Errorf("bytes are stored as %T", from)
	}
	return err
}
