package outbox

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Querier is what *sql.Tx, *sql.DB and *sql.Conn have in common. Methods that take one work in its transaction, if it has
// one. Without one, each method's change commits by itself.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tx runs statements. Their parameters are $1, $2, … for both databases.
type tx struct {
	ctx context.Context
	on  Querier
	d   Dialect
	box string
	now int64 // the stored time

	logger *slog.Logger
	lines  []func()
}

func (t *tx) text(query string) string {
	if t.d == SQLite {
		return strings.ReplaceAll(query, "$", "?")
	}
	return query
}

// exec returns the number of rows that were changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	result, err := t.on.ExecContext(t.ctx, t.text(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// each calls scan for each row.
func (t *tx) each(scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := t.on.QueryContext(t.ctx, t.text(query), args...)
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

// lock ends a SELECT whose rows are changed next.
func (t *tx) lock() string {
	if t.d == Postgres {
		return " FOR UPDATE"
	}
	return ""
}

// skip is lock without the rows that another transaction has locked.
func (t *tx) skip() string {
	if t.d == Postgres {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// clock sets now. Postgres has a clock of its own.
func (b *database) clock(t *tx) error {
	t.now = b.now().UnixMilli()
	if !b.ownClock {
		return nil
	}
	_, err := t.first([]any{&t.now}, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
	return err
}

// log writes a line once the transaction is committed, because it may run more than once.
func (t *tx) log(level slog.Level, message string, attrs ...any) {
	t.lines = append(t.lines, func() {
		t.logger.Log(context.Background(), level, "outbox: "+message, append([]any{slog.String("box", t.box)}, attrs...)...)
	})
}

// placeholders returns n parameters from $first on.
func placeholders(first, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("$%d", first+i))
	}
	return strings.Join(list, ", ")
}

// How a transaction of a box is run.
type mode struct {
	durable bool // its commit survives a power cut
	serial  bool // no other serial transaction runs at the same time
	limit   time.Duration
}

const (
	stepLimit  = 5 * time.Second
	batchLimit = time.Minute
	busyWait   = 10 * time.Millisecond
)

// database is the user's database. No connection is held between transactions.
type database struct {
	db  *sql.DB
	d   Dialect
	box string
	now func() time.Time

	ownClock bool // the stored time is the database's
	logger   *slog.Logger
}

// session returns q as it is used within a call of the user.
func (b *database) session(ctx context.Context, q Querier) (*tx, error) {
	t := &tx{ctx: ctx, on: q, d: b.d, box: b.box}
	return t, b.clock(t)
}

// read runs statements that change nothing.
func (b *database) read(ctx context.Context, do func(*tx) error) error {
	return b.connected(ctx, stepLimit, func(ctx context.Context, conn *sql.Conn) error {
		t, err := b.session(ctx, conn)
		if err != nil {
			return err
		}
		return do(t)
	})
}

// write runs do in a transaction and commits it. While SQLite is busy, it tries again: do may run more than once.
func (b *database) write(ctx context.Context, m mode, do func(*tx) error) error {
	return b.connected(ctx, max(m.limit, stepLimit), func(ctx context.Context, conn *sql.Conn) error {
		return patiently(ctx, func() error { return b.transaction(ctx, conn, m, do) })
	})
}

// patiently repeats do while another connection holds the lock of a SQLite file.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !isBusy(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(busyWait):
		case <-ctx.Done():
		}
	}
}

var errNoAnswer = errors.New("the database did not answer in time")

// connected gives do a connection. One that failed on Postgres is not used again: it may be one to a server that turned
// read-only, or that is silent.
func (b *database) connected(ctx context.Context, limit time.Duration, do func(context.Context, *sql.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errNoAnswer)
	defer cancel()
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	err = do(ctx, conn)
	if err != nil && b.d == Postgres {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	if err != nil && errors.Is(context.Cause(ctx), errNoAnswer) {
		err = fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	return err
}

func (b *database) transaction(ctx context.Context, conn *sql.Conn, m mode, do func(*tx) error) (err error) {
	var options *sql.TxOptions
	if b.d == Postgres {
		options = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	} else if m.durable {
		restore, err := synchronousFull(ctx, conn)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, restore()) }()
	}
	began, err := conn.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer began.Rollback()
	t := &tx{ctx: ctx, on: began, d: b.d, box: b.box, logger: b.logger}
	if err := t.begin(m); err != nil {
		return err
	}
	if err := b.clock(t); err != nil {
		return err
	}
	if err := do(t); err != nil {
		return err
	}
	if err := began.Commit(); err != nil {
		return err
	}
	for _, line := range t.lines {
		line()
	}
	return nil
}

// begin makes the first statement a write, so that SQLite gives the transaction its lock before it has read anything.
func (t *tx) begin(m mode) error {
	if t.d == SQLite {
		_, err := t.exec("DELETE FROM signforms_outbox_boxes WHERE name IS NULL")
		return err
	}
	settings := "set_config('lock_timeout', '2s', true)"
	if m.durable {
		settings += `, set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
			THEN 'on' ELSE current_setting('synchronous_commit') END, true)`
	}
	if _, err := t.exec("SELECT " + settings); err != nil || !m.serial {
		return err
	}
	_, err := t.exec("SELECT pg_advisory_xact_lock($1, hashtext($2))", advisoryLock, t.box)
	return err
}

// advisoryLock is the class of this package's advisory locks: "sfo1".
const advisoryLock = 0x73666f31

// synchronousFull makes commits of a connection survive a power cut, until restore. The setting is the connection's.
func synchronousFull(ctx context.Context, conn *sql.Conn) (restore func() error, err error) {
	const full = 2
	var before int
	if err := conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&before); err != nil || before >= full {
		return func() error { return nil }, err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil {
		return nil, err
	}
	return func() error {
		_, err := conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA synchronous = %d", before))
		return err
	}, nil
}

// isBusy reports whether another connection holds the lock of a SQLite file. Drivers have no common type of error.
func isBusy(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "SQLITE_BUSY") || strings.Contains(err.Error(), "database is locked"))
}
