package queue

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

func (s *sqliteStore) write(ctx context.Context, do func(*tx) error) error {
	return s.group.write(&operation{ctx: ctx, do: do})
}

func (s *sqliteStore) submit(ctx context.Context, do func(*tx) error) error {
	return s.group.write(&operation{ctx: ctx, do: do, leave: true})
}

func (s *sqliteStore) note(ctx context.Context, do func(*tx) error) error {
	return s.group.write(&operation{ctx: ctx, do: do, lazy: true})
}

// commit runs one transaction on the group's goroutine. It waits for transactions of other processes as long as a delivery may wait.
func (s *sqliteStore) commit(do func(*tx) error, lazy bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	return s.transaction(ctx, do, lazy)
}

// The values of the setting synchronous. In WAL mode FULL syncs the log at each commit. This also syncs earlier commits under NORMAL.
const (
	synchronousNormal = 1
	synchronousFull   = 2
)

// syncEvery is how long lazy commits may go without a sync.
const syncEvery = 100 * time.Millisecond

// synchronous decides and reports whether the next commit syncs the log.
func (s *sqliteStore) synchronous(lazy bool) (syncs bool, err error) {
	level := s.full
	if lazy && time.Since(s.synced) < syncEvery {
		level = synchronousNormal
	}
	if level != s.current {
		if _, err := s.conn.ExecContext(context.Background(), "PRAGMA synchronous = "+strconv.Itoa(level)); err != nil {
			return false, err
		}
		s.current = level
	}
	return level == s.full, nil
}

func (s *sqliteStore) transaction(ctx context.Context, do func(*tx) error, lazy bool) error {
	syncs, err := s.synchronous(lazy)
	if err != nil {
		return err
	}
	background := context.Background() // with a ctx that can end, each statement would need a goroutine
	begin := func() error {
		_, err := s.ExecContext(background, "BEGIN IMMEDIATE")
		return err
	}
	if err := patiently(ctx, begin); err != nil {
		return err
	}
	if err = s.stamp(); err == nil {
		err = do(&tx{ctx: background, on: s, dialect: &sqliteDialect})
	}
	if syncs && s.sync != nil {
		s.sync()
	}
	if err == nil {
		_, err = s.ExecContext(background, "COMMIT")
	}
	if err != nil {
		s.ExecContext(background, "ROLLBACK") // SQLite may have done so already
		return err
	}
	if syncs {
		s.synced = time.Now()
	}
	return s.intact() // after the commit: before it, the file could still be replaced
}

// patiently repeats do while another process has the lock. SQLite's own busy handler polls at growing intervals, so it may never get
// the lock from a process that commits without a pause.
func patiently(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || sqliteCode(err) != sqlite3.SQLITE_BUSY {
			return err
		}
		pause := time.NewTimer(time.Millisecond/2 + rand.N(time.Millisecond))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// ExecContext runs a prepared statement on the writing connection.
func (s *sqliteStore) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if strings.Contains(query, ";") { // a schema step has several statements
		return s.conn.ExecContext(ctx, query, args...)
	}
	stmt, err := s.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext runs a prepared statement on the writing connection.
func (s *sqliteStore) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// maxPrepared bounds the number of prepared statements, because each Filter may have different ones.
const maxPrepared = 100

func (s *sqliteStore) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := s.ready[query]; stmt != nil {
		return stmt, nil
	}
	if len(s.ready) >= maxPrepared {
		for text, stmt := range s.ready {
			stmt.Close()
			delete(s.ready, text)
		}
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.ready[query] = stmt
	}
	return stmt, err
}
