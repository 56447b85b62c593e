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

// Querier has the common methods of *sql.Tx, *sql.DB and *sql.Conn. A method with a Querier works
// in its transaction, if it has one. Without one, each method's change commits by itself.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tx runs statements, whose parameters are $1, $2, … for both databases. After the first error, err, it runs no others,
// and its transaction is not committed.
type tx struct {
	ctx context.Context
	on  Querier
	*database
	now   int64 // the stored time
	err   error
	lines []func() // log lines, written after the commit, because the transaction may run more than once
}

func (t *tx) text(query string) string {
	if t.d == SQLite {
		return strings.ReplaceAll(query, "$", "?")
	}
	return query
}

// exec returns the number of rows that were changed.
func (t *tx) exec(query string, args ...any) (n int64) {
	if t.err == nil {
		var result sql.Result
		if result, t.err = t.on.ExecContext(t.ctx, t.text(query), args...); t.err == nil {
			n, t.err = result.RowsAffected()
		}
	}
	return n
}

// each calls scan for each row.
func (t *tx) each(scan func(*sql.Rows) error, query string, args ...any) {
	if t.err != nil {
		return
	}
	rows, err := t.on.QueryContext(t.ctx, t.text(query), args...)
	if t.err = err; err != nil {
		return
	}
	defer rows.Close()
	for t.err == nil && rows.Next() {
		t.err = scan(rows)
	}
	t.err = errors.Join(t.err, rows.Err())
}

// first scans the first row into dest and reports whether there is one.
func (t *tx) first(dest []any, query string, args ...any) (found bool) {
	t.each(func(rows *sql.Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(dest...)
	}, query, args...)
	return found
}

// lock returns the end of a SELECT whose rows are changed next. Locked rows are skipped by skip.
func (t *tx) lock() string { return map[Dialect]string{Postgres: " FOR UPDATE"}[t.d] }
func (t *tx) skip() string { return map[Dialect]string{Postgres: " FOR UPDATE SKIP LOCKED"}[t.d] }

func (t *tx) log(level slog.Level, message string, attrs ...any) {
	t.lines = append(t.lines, func() { t.database.log(level, message, attrs...) })
}

// placeholders returns n parameters from $first on.
func placeholders(first, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("$%d", first+i))
	}
	return strings.Join(list, ", ")
}

// mode is the mode of a transaction of a box.
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
	db       *sql.DB
	d        Dialect
	box      string
	now      func() time.Time
	ownClock bool // the stored time is the database's
	logger   *slog.Logger
	writing  chan struct{} // SQLite has one writer: those of this process wait here in turn, instead of asking again and again
}

func (b *database) log(level slog.Level, message string, attrs ...any) {
	b.logger.Log(context.Background(), level, "outbox: "+message, append([]any{slog.String("box", b.box)}, attrs...)...)
}

// session returns q with the stored time.
func (b *database) session(ctx context.Context, q Querier) *tx {
	t := &tx{ctx: ctx, on: q, database: b}
	b.clock(t)
	return t
}

func (b *database) clock(t *tx) {
	t.now = b.now().UnixMilli()
	if b.ownClock {
		t.first([]any{&t.now}, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
	}
}

// read runs statements that change nothing.
func (b *database) read(ctx context.Context, do func(*tx)) error {
	return b.connected(ctx, stepLimit, func(ctx context.Context, conn *sql.Conn) error {
		t := b.session(ctx, conn)
		do(t)
		return t.err
	})
}

// write runs do in a transaction and commits it. While SQLite is busy, it tries again: do may run more than once.
func (b *database) write(ctx context.Context, m mode, do func(*tx)) error {
	return b.connected(ctx, max(m.limit, stepLimit), func(ctx context.Context, conn *sql.Conn) error {
		return patiently(ctx, func() error { return b.transaction(ctx, conn, m, do) })
	})
}

// patiently repeats do while another connection holds the lock of a SQLite file. Drivers have no common type of error.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "SQLITE_BUSY") && !strings.Contains(err.Error(), "database is locked") {
			return err
		}
		select {
		case <-time.After(busyWait):
		case <-ctx.Done():
		}
	}
}

// connected calls do with a connection. A connection that failed on Postgres is not used again,
// because its server may have become read-only or may not respond.
func (b *database) connected(ctx context.Context, limit time.Duration, do func(context.Context, *sql.Conn) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("the database did not respond in time"))
	defer cancel()
	conn, err := b.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err = do(ctx, conn); err != nil && b.d == Postgres {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return err
}

func (b *database) transaction(ctx context.Context, conn *sql.Conn, m mode, do func(*tx)) error {
	var options *sql.TxOptions
	if b.d == Postgres {
		options = &sql.TxOptions{Isolation: sql.LevelReadCommitted}
	} else {
		select {
		case b.writing <- struct{}{}:
			defer func() { <-b.writing }()
		case <-ctx.Done():
			return ctx.Err()
		}
		restore, err := synchronous(ctx, conn, m.durable)
		if err != nil {
			return err
		}
		defer restore()
	}
	began, err := conn.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	defer began.Rollback()
	t := &tx{ctx: ctx, on: began, database: b}
	t.begin(m)
	b.clock(t)
	if t.err == nil {
		do(t)
	}
	if t.err != nil {
		return t.err
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
func (t *tx) begin(m mode) {
	if t.d == SQLite {
		t.exec("DELETE FROM signforms_outbox_boxes WHERE name IS NULL")
		return
	}
	// The server ends a transaction whose client froze, which would hold its locks for hours.
	t.exec("SELECT set_config('lock_timeout', '2s', true), set_config('idle_in_transaction_session_timeout', '10s', true)")
	if m.durable {
		t.exec(`SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
			THEN 'on' ELSE current_setting('synchronous_commit') END, true)`)
	}
	if m.serial {
		t.exec("SELECT pg_advisory_xact_lock($1, hashtext($2))", advisoryLock, t.box)
	}
}

// advisoryLock is the class of this package's advisory locks: "sfo1".
const advisoryLock = 0x73666f31

// synchronous makes the commits of one SQLite connection survive a power cut until restore is called.
// If durable is false, it changes nothing.
func synchronous(ctx context.Context, conn *sql.Conn, durable bool) (restore func(), err error) {
	const full = 2
	before := full
	if durable {
		err = conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&before)
	}
	if err != nil || before >= full {
		return func() {}, err
	}
	_, err = conn.ExecContext(ctx, "PRAGMA synchronous = FULL")
	return func() { // if this fails, later commits are safer than necessary
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), fmt.Sprintf("PRAGMA synchronous = %d", before))
	}, err
}
