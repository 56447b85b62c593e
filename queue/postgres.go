package queue

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresStore is a Postgres database that several processes share.
type postgresStore struct {
	dialect    dialect
	pool       *pgxpool.Pool
	db         *sql.DB       // database/sql over the connections of pool
	schema     string        // the schema of the tables
	channel    string        // the channel on which processes notify each other, one for each schema
	announcing chan struct{} // has room for one
	announcer  sync.WaitGroup
	end        func()       // ends the announcer
	reset      atomic.Int64 // when a read-only connection reset the pool last
}

var postgresDialect = dialect{
	due: `SELECT id, low, token, head, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
		set_config('idle_in_transaction_session_timeout', '5s', true) FROM signforms_ordering_keys
		WHERE greatest(due, lease) <= $1 AND greatest(due, lease) >= $2 AND id <> ALL ($3) ORDER BY greatest(due, lease) LIMIT $4 FOR UPDATE SKIP LOCKED`,
	next: `SELECT greatest(due, lease), (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM signforms_ordering_keys
		WHERE greatest(due, lease) >= $1 AND id <> ALL ($2) ORDER BY greatest(due, lease) LIMIT 1`,
	fence: `SELECT low, (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
		set_config('idle_in_transaction_session_timeout', '5s', true) FROM signforms_ordering_keys WHERE id = $1 AND token = $2 FOR UPDATE`,
	first: `SELECT id, encode(dedupe, 'hex'), ordering_key, type, subject, attempts, received, error, note, encode(body, 'hex')
		FROM signforms_events WHERE (ordering_key_id, id) >= ($1, $2) AND ordering_key_id <= $1 AND state = 0 ORDER BY ordering_key_id, id LIMIT 1`,
	tries:  `SELECT state, attempts FROM signforms_events WHERE id = $1 FOR UPDATE NOWAIT`,
	extend: `UPDATE signforms_ordering_keys SET due = greatest($2, lease), token = 0, head = 0, since = $3 WHERE id = $1`,
	ahead: `SELECT id, due, lease, since, set_config('idle_in_transaction_session_timeout', '5s', true)
		FROM signforms_ordering_keys WHERE greatest(due, lease) > $1 AND since > $2 LIMIT 500 FOR UPDATE SKIP LOCKED`,
	locks:         `SELECT id FROM signforms_ordering_keys WHERE id = ANY ($1) ORDER BY id FOR UPDATE`,
	clock:         `SELECT seen, trusted, set_config('idle_in_transaction_session_timeout', '5s', true) FROM signforms_queue_clock FOR UPDATE`,
	body:          `SELECT encode(body, 'hex') FROM signforms_events WHERE id = $1`,
	silent:        `SELECT set_config('idle_in_transaction_session_timeout', '5s', true)`,
	expiredBodies: `SELECT id FROM signforms_events WHERE state = 1 AND body IS NOT NULL AND settled < $1 ORDER BY state, settled LIMIT 500 FOR UPDATE SKIP LOCKED`,
	expiredFailed: `SELECT id FROM signforms_events WHERE state > 0 AND state = 2 AND settled < $1 ORDER BY state, settled LIMIT 500 FOR UPDATE SKIP LOCKED`,
	expiredKeys:   `SELECT id FROM signforms_events WHERE state > 0 AND state IN (1, 3) AND settled < $1 ORDER BY state, settled LIMIT 500 FOR UPDATE SKIP LOCKED`,
	dueCount:      `SELECT count(*) FROM (SELECT 1 FROM signforms_ordering_keys WHERE greatest(due, lease) <= $1 LIMIT 10000) AS counted`,
	lag:           `SELECT greatest(due, lease) FROM signforms_ordering_keys WHERE greatest(due, lease) <= $1 ORDER BY greatest(due, lease) LIMIT 1`,
	oldest: `SELECT coalesce(min(received), 0) FROM (SELECT (SELECT e.received FROM signforms_events AS e
		WHERE (e.ordering_key_id, e.id) >= (l.id, l.low) AND e.ordering_key_id <= l.id AND e.state = 0
		AND e.id <> CASE WHEN l.lease > $1 THEN abs(l.head) ELSE 0 END ORDER BY e.ordering_key_id, e.id LIMIT 1) AS received
		FROM (SELECT id, low, lease, head FROM signforms_ordering_keys ORDER BY greatest(due, lease) LIMIT 10000) AS l) AS firsts`,
	blocked: `SELECT id, low, due, count(*) OVER () FROM (SELECT id, low, greatest(due, lease) AS due
		FROM signforms_ordering_keys WHERE greatest(due, lease) > $1 AND token = 0 LIMIT 10000) AS some_keys ORDER BY low LIMIT 10`,
	floors: true,
	bytes:  func(column string) string { return "encode(" + column + ", 'hex')" },
	in:     func(column, param string) string { return column + " = ANY(" + param + ")" },
	holds: func(column, param string) string {
		return "EXISTS (SELECT 1 FROM unnest(" + param + "::text[]) AS one (part) WHERE strpos(" + column + ", part) > 0)"
	},
	list: func(values any) any { return values },
}

// schemaLock is the advisory lock of the process that makes the tables: "sfq1".
const schemaLock = applicationID

func openPostgres(ctx context.Context, pool *pgxpool.Pool, b *background) (*postgresStore, error) {
	b.drop = pool.Reset
	s := &postgresStore{dialect: postgresDialect, pool: pool, db: stdlib.OpenDBFromPool(pool), announcing: make(chan struct{}, 1)}
	_, err := s.prepare(ctx)
	if err == nil {
		err = s.db.QueryRowContext(ctx, ownSchema).Scan(&s.schema, &s.dialect.plain)
	}
	if err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.channel = fmt.Sprintf("signforms_queue_%.8x", sha256.Sum256([]byte(s.schema)))
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.announcer.Go(func() { s.announceUntil(ctx) })
	return s, nil
}

// ownSchema selects the schema of the queue's tables, and whether the encoding of the database is
// not UTF-8.
const ownSchema = "SELECT nspname, current_setting('server_encoding') <> 'UTF8' FROM pg_namespace WHERE oid = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('signforms_ordering_keys'))"

// CreateTables makes a queue's tables in the first schema of pool's search_path, as [OpenPostgres]
// does. A role that only reads and writes them can then open the queue. CreateTables reports
// whether it made the tables. Existing tables stay as they are.
func CreateTables(ctx context.Context, pool *pgxpool.Pool) (made bool, err error) {
	s := &postgresStore{dialect: postgresDialect, db: stdlib.OpenDBFromPool(pool)}
	defer s.db.Close()
	if made, err = s.prepare(ctx); err != nil {
		return false, fmt.Errorf("queue: making the tables: %w", err)
	}
	return made, nil
}

// TablesSQL returns the SQL that makes the tables in one transaction. Use it if another tool runs
// the SQL. Afterwards [OpenPostgres] makes no tables.
func TablesSQL() string {
	return fmt.Sprintf("BEGIN;\nSELECT pg_advisory_xact_lock(%d);\n%s;\n%s;\n%sCOMMIT;\n",
		schemaLock, limitWait, makeVersionTable, postgresSchema+recordVersion)
}

// limitWait bounds how long the tables wait for a lock. The limit is set after the wait for another
// process that makes the tables.
const limitWait = "SET LOCAL lock_timeout = '500ms'"

const makeVersionTable = "CREATE TABLE IF NOT EXISTS signforms_queue_schema (version INTEGER PRIMARY KEY)"

var recordVersion = fmt.Sprintf("INSERT INTO signforms_queue_schema (version) VALUES (%d);\n", schemaVersion)

// prepare makes the tables. If the tables exist, the role needs no right to make tables.
func (s *postgresStore) prepare(ctx context.Context) (made bool, err error) {
	if done, err := tablesThere(&tx{ctx: ctx, on: s.db, dialect: &s.dialect}); done || err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *tx) error {
		// Each statement is sent separately, because the last ones must see the tables that another
		// process has made meanwhile.
		for _, statement := range []string{fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", schemaLock), limitWait, makeVersionTable} {
			if _, err := t.exec(statement); err != nil {
				return err
			}
		}
		done, err := tablesThere(t)
		if made = !done; done || err != nil {
			return err
		}
		_, err = t.exec(postgresSchema + recordVersion)
		return err
	})
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && e.Code == "42501":
		return false, fmt.Errorf("the tables are missing, and this role may not make them: run signforms-queue create with a role that may: %w", err)
	case ok && e.Code == "42P07":
		return false, fmt.Errorf("signforms_queue_schema says no version of the tables that are there: put its row back, or use another "+
			"schema: %w", err)
	}
	return made, err
}

// tablesThere reports whether the tables exist in the search_path.
func tablesThere(t *tx) (bool, error) {
	var known bool
	var version int
	if _, err := t.first([]any{&known}, "SELECT to_regclass('signforms_queue_schema') IS NOT NULL"); err != nil || !known {
		return false, err
	}
	if _, err := t.first([]any{&version}, "SELECT coalesce(max(version), 0) FROM signforms_queue_schema"); err != nil {
		return false, err
	}
	return there(version)
}

// repeats is how often a transaction is tried at most, if Postgres aborts it in favour of another
// transaction.
const repeats = 5

// write also limits the wait for locks. A transaction in which a function has called [Complete] may
// hold an event forever. A transaction that waited for it would hold ordering keys that deliveries
// need.
func (s *postgresStore) write(ctx context.Context, do func(*tx) error) error {
	return s.note(ctx, func(t *tx) error {
		if _, err := t.first([]any{new(string), new(string)}, "SELECT set_config('idle_in_transaction_session_timeout', '5s', true), set_config('lock_timeout', '500ms', true)"); err != nil {
			return err
		}
		return do(t)
	})
}

func (s *postgresStore) submit(ctx context.Context, do func(*tx) error) error {
	return s.note(ctx, do)
}

func (s *postgresStore) note(ctx context.Context, do func(*tx) error) (err error) {
	for range repeats {
		if err = s.transaction(ctx, do); !gaveWay(err) && !s.leftReadOnly(err) {
			break
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

// readCommitted is the isolation level of all transactions, whatever the default of the database
// is. With it, a statement that waited for a lock sees the changes that were committed meanwhile.
var readCommitted = sql.TxOptions{Isolation: sql.LevelReadCommitted}

func (s *postgresStore) transaction(ctx context.Context, do func(*tx) error) error {
	on, err := s.db.BeginTx(ctx, &readCommitted)
	if err != nil {
		return err
	}
	if err := do(&tx{ctx: ctx, on: on, dialect: &s.dialect}); err != nil {
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

// hinted adds to an error how to remove its cause, if the cause is outside of this program.
func hinted(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && (e.Code == "42P05" || e.Code == "26000"): // the prepared statement exists already, or is unknown
		return fmt.Errorf("%w: behind PgBouncer in transaction mode, add default_query_exec_mode=exec to the DSN", err)
	case ok && e.Code == "23505" && e.ConstraintName == "signforms_events_pkey":
		return fmt.Errorf("%w: the sequence of signforms_events.id went back, as after logical replication: set it to the highest id", err)
	}
	return err
}

// resetEvery is the shortest time between two resets of the pool because of read-only connections.
const resetEvery = time.Second

// leftReadOnly resets the pool if err means that the connection cannot write. A failover may leave
// connections to a standby, for example. leftReadOnly reports whether another try will use new
// connections.
func (s *postgresStore) leftReadOnly(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || e.Code != "25006" && e.Code != "25P02" && !strings.Contains(e.Message, "recovery") {
		return false
	}
	now, last := time.Now().UnixNano(), s.reset.Load()
	if now-last < int64(resetEvery) || !s.reset.CompareAndSwap(last, now) {
		return false
	}
	s.pool.Reset()
	return true
}

// gaveWay reports whether Postgres aborted a transaction because of a deadlock or a serialization failure.
func gaveWay(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == "40P01" || e.Code == "40001")
}

// A delivery locks its ordering keys in sorted order before it inserts its events. So two
// deliveries with events of the same ordering key get their ids in the order of their commits, and
// they never deadlock.
const (
	postgresLockKeys = `WITH bound AS (SELECT set_config('idle_in_transaction_session_timeout', '5s', true))
		INSERT INTO signforms_ordering_keys (id, due, since)
		SELECT id, $2, $2 FROM unnest($1::bigint[]) AS new (id), bound ORDER BY id
		ON CONFLICT (id) DO UPDATE SET due = signforms_ordering_keys.due`
	postgresInsertEvents = `INSERT INTO signforms_events (dedupe, ordering_key_id, ordering_key, type, subject, signers, received, body, note)
		SELECT dedupe, ordering_key_id, ordering_key, type, subject, signers, $8, body, $9
		FROM unnest($1::bytea[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[])
			WITH ORDINALITY AS new (dedupe, ordering_key_id, ordering_key, type, subject, signers, body, place)
		ORDER BY place ON CONFLICT (dedupe) DO NOTHING`
	postgresRedrive = `UPDATE signforms_events SET state = 0, settled = 0, attempts = $2 WHERE dedupe = ANY($1) AND state + 0 = 2 RETURNING ordering_key_id`
	postgresFreeKey = `DELETE FROM signforms_ordering_keys AS l WHERE id = ANY($1) AND token = 0 AND lease = 0
		AND NOT EXISTS (SELECT 1 FROM signforms_events AS e WHERE e.ordering_key_id = l.id AND e.state = 0)`
)

func (s *postgresStore) receive(_ context.Context, t *tx, rows []row, now int64, lastTry int) (receipt, error) {
	var keys, bodies [][]byte
	var ids []int64
	var orderingKeys, kinds, subjects, signers []string
	for i := range rows {
		r := &rows[i]
		keys, bodies = append(keys, r.key[:]), append(bodies, r.body)
		ids, orderingKeys, kinds = append(ids, r.orderingKeyID), append(orderingKeys, r.orderingKey), append(kinds, r.kind)
		subjects, signers = append(subjects, r.subject), append(signers, r.signers)
	}
	locked := slices.Clone(ids)
	slices.Sort(locked)
	locked = slices.Compact(locked)
	if _, err := t.exec(postgresLockKeys, locked, now); err != nil {
		return receipt{}, err
	}
	stored, err := t.exec(postgresInsertEvents, keys, ids, orderingKeys, kinds, subjects, signers, bodies, now, rows[0].note)
	if err != nil {
		return receipt{}, err
	}
	got := receipt{stored: int(stored), duplicates: len(rows) - int(stored)}
	if got.duplicates == 0 {
		return got, nil
	}
	var redriven []int64
	err = t.each(func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		redriven = append(redriven, id)
		return err
	}, postgresRedrive, keys, lastTry)
	if err == nil {
		err = reopen(t, redriven, now)
	}
	if err != nil {
		return receipt{}, err
	}
	got.redriven = len(redriven)
	got.duplicates -= got.redriven
	_, err = t.exec(postgresFreeKey, locked)
	return got, err
}

func (s *postgresStore) reader() *sql.DB { return s.db }

func (s *postgresStore) text() *dialect { return &s.dialect }

// clean does nothing. Erased data stays in pages until VACUUM, and in logs until the server rotates
// them.
func (s *postgresStore) clean(context.Context) error { return nil }

// clock gets a connection before it reads the local clock, so that the wait for a connection does
// not count as an error of the clock.
func (s *postgresStore) clock(ctx context.Context, c *clock) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var shown int64
	sent := c.boot()
	if err := conn.QueryRowContext(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").Scan(&shown); err != nil {
		return err
	}
	c.follow(shown, sent)
	return nil
}

// close does not close the pool, which belongs to the caller of OpenPostgres.
func (s *postgresStore) close() error {
	s.end()
	s.announcer.Wait()
	return s.db.Close()
}
