package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// commit runs one transaction on the group's goroutine. It waits for other processes at most as
// long as a delivery may wait.
func (s *sqliteStore) commit(do func(*tx) error, lazy bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	return s.transaction(ctx, do, lazy)
}

// Values of synchronous. In WAL mode, FULL syncs the log at each commit. Such a sync includes the
// earlier commits under NORMAL.
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
	background := context.Background() // if ctx could end, each statement would need a goroutine
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
		s.ExecContext(background, "ROLLBACK") // SQLite may have rolled back already
		return err
	}
	if syncs {
		s.synced = time.Now()
	}
	return s.intact() // checked after the commit, because the file could be replaced until then
}

// patiently repeats do while another process holds the lock. SQLite's own busy handler polls at
// growing intervals, so it may never get the lock from a process that commits without a pause.
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

// Only one goroutine writes, so no other delivery comes between these statements. The order of ids is the order of
// commits, without a lock on ordering keys.
const (
	sqliteInsertEvent = `INSERT INTO signforms_events (dedupe, ordering_key_id, ordering_key, type, subject, signers, received, body, note)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (dedupe) DO NOTHING`
	sqliteRedrive   = `UPDATE signforms_events SET state = 0, settled = 0, attempts = $2 WHERE dedupe = $1 AND state = 2`
	sqliteInsertKey = `INSERT INTO signforms_ordering_keys (id, due, since) VALUES ($1, $2, $2) ON CONFLICT (id) DO NOTHING`
)

func (s *sqliteStore) receive(ctx context.Context, t *tx, rows []row, now int64, lastTry int) (got receipt, err error) {
	for i := range rows {
		if ctx.Err() != nil { // end early, because other writes wait
			return receipt{}, context.Cause(ctx)
		}
		r := &rows[i]
		changed, err := t.exec(sqliteInsertEvent, r.key[:], r.orderingKeyID, r.orderingKey, r.kind, r.subject, r.signers, now, r.body, r.note)
		if err != nil {
			return receipt{}, err
		}
		if changed == 0 {
			if changed, err = t.exec(sqliteRedrive, r.key[:], lastTry); err != nil {
				return receipt{}, err
			}
			if changed == 0 {
				got.duplicates++
				continue
			}
			got.redriven++
			if err := reopen(t, []int64{r.orderingKeyID}, now); err != nil {
				return receipt{}, err
			}
		} else {
			got.stored++
		}
		if i > 0 && rows[i-1].orderingKeyID == r.orderingKeyID && got.duplicates == 0 {
			continue // the previous row has made sure that the ordering key exists
		}
		if _, err := t.exec(sqliteInsertKey, r.orderingKeyID, now); err != nil {
			return receipt{}, err
		}
	}
	return got, nil
}

// ErrNotTruncated is matched by the error of [Queue.Erase] if erased bytes may still be in SQLite's
// log. The text names the reason:
//
//   - The log was being read.
//   - The writer was busy for 2 seconds.
//   - ctx ended.
//   - The disk failed.
//
// The queue no longer returns the erased events, but their bytes stay in the file until the next
// successful checkpoint. Call Erase again, or let [Queue.Run] do it, which tries once a minute.
var ErrNotTruncated = errors.New("queue: SQLite's log could not be truncated, erased bytes may still be in it")

var (
	errLogRead    = errors.New("others were reading or writing it for 2 seconds")
	errWriterBusy = errors.New("other writes were going on for 2 seconds")
)

// truncateFor is how long clean waits for readers and writers to end.
const truncateFor = 2 * time.Second

// clean copies the log into the file and truncates the log, because the log holds earlier contents
// of pages. Its errors match ErrNotTruncated.
func (s *sqliteStore) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, truncateFor, errWriterBusy)
	defer cancel()
	for {
		busy, err := s.checkpoint(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotTruncated, err)
		}
		if !busy {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			err := context.Cause(ctx)
			if errors.Is(err, errWriterBusy) {
				err = errLogRead
			}
			return fmt.Errorf("%w: %w", ErrNotTruncated, err)
		}
	}
}

// checkpoint copies the log into the file and truncates it. busy means that it failed because the
// log is being read or another process writes.
func (s *sqliteStore) checkpoint(ctx context.Context) (busy bool, err error) {
	var blocked int
	err = s.group.write(&operation{ctx: ctx, alone: func() error {
		var frames, moved int
		return s.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &frames, &moved)
	}})
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return true, nil
	}
	return blocked != 0, err
}

// ErrClosed is matched by errors of a [Queue] after Close.
var ErrClosed = errors.New("queue: closed")

// maxGroup bounds how many writes share one transaction.
const maxGroup = 128

// operation is one write that waits to be committed.
type operation struct {
	ctx   context.Context
	do    func(*tx) error // runs in a transaction; nil if alone is set
	alone func() error    // runs between transactions
	lazy  bool            // the commit need not be on the disk when write returns
	leave bool            // when ctx ends, the caller returns even if do is running; then it must not read variables that do writes
	begun atomic.Bool     // set by the group when it starts the operation, or by the caller when it gives up first
	done  chan error      // has room for one result
}

// group commits several writes together. One goroutine takes all waiting writes and runs them in one transaction, so
// that they share one sync of the disk.
type group struct {
	commit  func(do func(*tx) error, lazy bool) error // runs one transaction
	shared  func(error) bool                          // reports whether an error is about the database, and not about one write
	waiting chan *operation
	stop    chan struct{}
	once    sync.Once
	ended   chan struct{}

	expected int           // how many writes to expect for the next transaction: those of the last transaction and those that arrived during it
	patience time.Duration // how long the next transaction waits for the expected writes
	alone    int           // how many transactions do not wait, because waiting for writes brought none
}

func newGroup(commit func(do func(*tx) error, lazy bool) error, shared func(error) bool) *group {
	g := &group{
		commit: commit, shared: shared,
		waiting: make(chan *operation, maxGroup), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go g.run()
	return g
}

// write returns when op is committed, when op has failed, or when its ctx has ended before op
// began. If op.leave is true, write also returns when ctx ends after op began. In that case op may
// still be committed later.
func (g *group) write(op *operation) error {
	op.done = make(chan error, 1)
	select {
	case g.waiting <- op:
	case <-op.ctx.Done():
		return context.Cause(op.ctx)
	case <-g.stop:
		return ErrClosed
	}
	select {
	case err := <-op.done:
		return err
	case <-op.ctx.Done():
		if op.leave || op.begun.CompareAndSwap(false, true) {
			return context.Cause(op.ctx)
		}
	case <-g.ended:
	}
	select {
	case err := <-op.done:
		return err
	case <-g.ended:
	}
	select {
	case err := <-op.done:
		return err
	default:
		return ErrClosed
	}
}

// close waits for the running transaction, refuses the other writes, and returns when the goroutine
// has ended.
func (g *group) close() {
	g.once.Do(func() { close(g.stop) })
	<-g.ended
}

func (g *group) run() {
	defer close(g.ended)
	for {
		select {
		case <-g.stop:
			return
		case op := <-g.waiting:
			g.process(op)
		}
	}
}

// maxPatience limits how long a transaction waits for further writes. aloneFor is how many
// transactions do not wait after one that waited in vain.
const (
	maxPatience = 5 * time.Millisecond
	aloneFor    = 16
)

// next returns another write for a batch, or nil. The senders whose writes were in the last
// transaction usually return soon. So next waits for them half as long as that transaction took,
// which saves one transaction.
func (g *group) next(batch []*operation, patience *<-chan time.Time) *operation {
	select {
	case op := <-g.waiting:
		return op
	default:
	}
	if len(batch) == 0 || len(batch) >= g.expected || g.alone > 0 {
		return nil
	}
	if *patience == nil {
		*patience = time.After(g.patience)
	}
	select {
	case op := <-g.waiting:
		return op
	case <-*patience:
		if len(batch) == 1 {
			g.alone = aloneFor
		}
	case <-g.stop:
	}
	return nil
}

// process commits op and the writes that are waiting after op.
func (g *group) process(op *operation) {
	var batch []*operation
	var patience <-chan time.Time
	for op != nil {
		switch {
		case op.ctx.Err() != nil:
			op.done <- context.Cause(op.ctx)
		case op.alone != nil:
			g.flush(batch)
			batch = nil
			if op.begun.CompareAndSwap(false, true) { // otherwise the caller of op has given up
				op.done <- op.alone()
			}
		case !op.begun.CompareAndSwap(false, true): // its caller has given up
		default:
			batch = append(batch, op)
		}
		if len(batch) == maxGroup {
			break
		}
		op = g.next(batch, &patience)
	}
	begun := time.Now()
	g.flush(batch)
	g.patience = min(time.Since(begun)/2, maxPatience)
	g.expected, g.alone = min(len(batch)+len(g.waiting), maxGroup), max(0, g.alone-1)
}

// flush commits a batch. If a write of the batch fails, flush commits each write separately, so
// that no write fails because of another.
func (g *group) flush(batch []*operation) {
	if len(batch) == 0 {
		return
	}
	lazy := !slices.ContainsFunc(batch, func(op *operation) bool { return !op.lazy })
	err := g.commit(func(t *tx) error {
		for _, op := range batch {
			if err := op.do(t); err != nil {
				return err
			}
		}
		return nil
	}, lazy)
	if err != nil && len(batch) > 1 && !g.shared(err) {
		for _, op := range batch {
			op.done <- g.commit(op.do, op.lazy)
		}
		return
	}
	for _, op := range batch {
		op.done <- err
	}
}
