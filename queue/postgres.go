package queue

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresStore is a Postgres database that several processes share.
type postgresStore struct{ db *sql.DB }

var postgresDialect = dialect{
	latest: "greatest", position: "strpos",
	skip: " FOR UPDATE SKIP LOCKED", lock: " FOR UPDATE",
	in:   func(column, param string) string { return column + " = ANY(" + param + ")" },
	list: func(values any) any { return values },
}

// schemaLock is the advisory lock for changes of the schema: "sfq1".
const schemaLock = applicationID

func openPostgres(ctx context.Context, pool *pgxpool.Pool) (*postgresStore, error) {
	s := &postgresStore{stdlib.OpenDBFromPool(pool)}
	if err := s.write(ctx, s.migrate); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

func (s *postgresStore) migrate(t *tx) error {
	if _, err := t.exec("SELECT pg_advisory_xact_lock($1)", int64(schemaLock)); err != nil {
		return err
	}
	if _, err := t.exec("CREATE TABLE IF NOT EXISTS signforms_queue_schema (version INTEGER NOT NULL)"); err != nil {
		return err
	}
	var version int
	if _, err := t.first([]any{&version}, "SELECT coalesce(max(version), 0) FROM signforms_queue_schema"); err != nil {
		return err
	}
	return migrate(t, version, postgresSchema, func(version int) error {
		_, err := t.exec("INSERT INTO signforms_queue_schema (version) VALUES ($1)", version)
		return err
	})
}

// repeats bounds how often a transaction is tried that Postgres aborted in favour of another one.
const repeats = 5

func (s *postgresStore) write(ctx context.Context, do func(*tx) error) (err error) {
	for range repeats {
		if err = s.transaction(ctx, do); !gaveWay(err) {
			break
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

func (s *postgresStore) submit(ctx context.Context, do func(*tx) error) error {
	return s.write(ctx, do)
}

func (s *postgresStore) note(ctx context.Context, do func(*tx) error) error {
	return s.write(ctx, do)
}

// readCommitted lets a statement see the changes for which the transaction waited at a lock, whatever the database's default is.
var readCommitted = sql.TxOptions{Isolation: sql.LevelReadCommitted}

func (s *postgresStore) transaction(ctx context.Context, do func(*tx) error) error {
	on, err := s.db.BeginTx(ctx, &readCommitted)
	if err != nil {
		return err
	}
	if err := do(&tx{ctx: ctx, on: on, dialect: &postgresDialect}); err != nil {
		return errors.Join(err, ignoreDone(on.Rollback()))
	}
	return on.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// gaveWay reports whether Postgres aborted a transaction because of a deadlock or a serialization failure.
func gaveWay(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40P01" || e.Code == "40001")
}

// A delivery locks its lines in sorted order before it inserts its events. So two deliveries with events of the same line get their
// ids in the order of their commits, and two deliveries never wait for each other.
const (
	postgresLockLines = `INSERT INTO signforms_lines (id, due)
		SELECT id, $2 FROM unnest($1::bigint[]) AS new (id) ORDER BY id
		ON CONFLICT (id) DO UPDATE SET due = signforms_lines.due`
	postgresInsertEvents = `INSERT INTO signforms_events (dedupe, line_id, line, type, subject, signers, received, body)
		SELECT dedupe, line_id, line, type, subject, signers, $8, body
		FROM unnest($1::bytea[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[])
			WITH ORDINALITY AS new (dedupe, line_id, line, type, subject, signers, body, place)
		ORDER BY place ON CONFLICT (dedupe) DO NOTHING`
	postgresRedrive  = `UPDATE signforms_events SET state = 0, settled = 0, attempts = $2 WHERE dedupe = ANY($1) AND state = 2 RETURNING line_id`
	postgresFreeLine = `DELETE FROM signforms_lines AS l WHERE id = ANY($1) AND token = 0 AND lease = 0
		AND NOT EXISTS (SELECT 1 FROM signforms_events AS e WHERE e.line_id = l.id AND e.state = 0)`
)

func (s *postgresStore) receive(t *tx, rows []row, now int64, lastTry int) (receipt, error) {
	var keys, bodies [][]byte
	var ids []int64
	var lines, kinds, subjects, signers []string
	for i := range rows {
		r := &rows[i]
		keys, bodies = append(keys, r.key[:]), append(bodies, r.body)
		ids, lines, kinds = append(ids, r.lineID), append(lines, r.line), append(kinds, r.kind)
		subjects, signers = append(subjects, r.subject), append(signers, r.signers)
	}
	locked := slices.Clone(ids)
	slices.Sort(locked)
	locked = slices.Compact(locked)
	if _, err := t.exec(postgresLockLines, locked, now); err != nil {
		return receipt{}, err
	}
	stored, err := t.exec(postgresInsertEvents, keys, ids, lines, kinds, subjects, signers, bodies, now)
	if err != nil {
		return receipt{}, err
	}
	got := receipt{stored: int(stored), duplicates: len(rows) - int(stored)}
	if got.duplicates == 0 {
		return got, nil
	}
	var redriven []int64
	err = t.each(func(rows *sql.Rows) error {
		var line int64
		err := rows.Scan(&line)
		redriven = append(redriven, line)
		return err
	}, postgresRedrive, keys, lastTry)
	if err == nil {
		err = bringForward(t, redriven, now)
	}
	if err != nil {
		return receipt{}, err
	}
	got.redriven = len(redriven)
	got.duplicates -= got.redriven
	_, err = t.exec(postgresFreeLine, locked)
	return got, err
}

func (s *postgresStore) reader() *sql.DB { return s.db }

func (s *postgresStore) text() *dialect { return &postgresDialect }

// clean does nothing. Erased data stays in pages until VACUUM, and in logs until the server rotates them.
func (s *postgresStore) clean(context.Context) error { return nil }

// clock gets a connection before it reads the local clock, so that the wait for a connection does not count as an error.
func (s *postgresStore) clock(ctx context.Context) (ahead, within time.Duration, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	before := time.Now()
	var server int64
	err = conn.QueryRowContext(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan(&server)
	if err != nil {
		return 0, 0, err
	}
	within = time.Since(before) / 2
	return time.UnixMicro(server).Sub(before.Add(within)), within, nil
}

// close does not close the pool, which belongs to the caller of OpenPostgres.
func (s *postgresStore) close() error { return s.db.Close() }
