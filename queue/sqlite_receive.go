package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// Only one goroutine writes, so no other delivery comes between these statements. The order of ids is the order of commits, without
// a lock on lines.
const (
	sqliteInsertEvent = `INSERT INTO signforms_events (dedupe, line_id, line, type, subject, signers, received, body, odd, note)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (dedupe) DO NOTHING`
	sqliteRedrive    = `UPDATE signforms_events SET state = 0, settled = 0, attempts = $2 WHERE dedupe = $1 AND state = 2`
	sqliteInsertLine = `INSERT INTO signforms_lines (id, due, since) VALUES ($1, $2, $2) ON CONFLICT (id) DO NOTHING`
)

func (s *sqliteStore) receive(ctx context.Context, t *tx, rows []row, now int64, lastTry int) (got receipt, err error) {
	for i := range rows {
		if ctx.Err() != nil { // other writes wait
			return receipt{}, context.Cause(ctx)
		}
		r := &rows[i]
		changed, err := t.exec(sqliteInsertEvent, r.key[:], r.lineID, r.line, r.kind, r.subject, r.signers, now, r.body, r.odd, r.note)
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
			if err := reopen(t, []int64{r.lineID}, now); err != nil {
				return receipt{}, err
			}
		} else {
			got.stored++
		}
		if i > 0 && rows[i-1].lineID == r.lineID && got.duplicates == 0 {
			continue // the row before has made sure that the line exists
		}
		if _, err := t.exec(sqliteInsertLine, r.lineID, now); err != nil {
			return receipt{}, err
		}
	}
	return got, nil
}

// ErrNotTruncated is matched by the error of [Queue.Erase] when erased bytes may still be in SQLite's log. The error says why: the
// log was being read, the writer was busy for 2 seconds, ctx ended, or the disk failed. The queue no longer returns erased events,
// but their bytes stay in the file until the next successful checkpoint. Call Erase again, or let [Queue.Run] do it, which tries once
// a minute.
var ErrNotTruncated = errors.New("queue: SQLite's log could not be truncated, erased bytes may still be in it")

var (
	errLogRead    = errors.New("others were reading or writing it for 2 seconds")
	errWriterBusy = errors.New("other writes were going on for 2 seconds")
)

// truncateFor is how long clean waits for readers and writers to end.
const truncateFor = 2 * time.Second

// clean moves the log into the file and truncates it, because the log holds earlier contents of pages. Its errors match
// ErrNotTruncated.
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

// checkpoint moves and truncates the log. It reports whether that failed because the log is being read or another process writes.
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
