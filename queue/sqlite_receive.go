package queue

import (
	"context"
	"errors"
	"time"
)

// One goroutine writes, so that no other delivery comes between these statements: the order of the ids is that of the
// commits without a lock on lines.
const (
	sqliteInsertEvent = `INSERT INTO signforms_events (dedupe, line_id, line, type, subject, signers, received, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (dedupe) DO NOTHING`
	sqliteRedrive    = `UPDATE signforms_events SET state = 0, settled = 0, attempts = $2 WHERE dedupe = $1 AND state = 2`
	sqliteInsertLine = `INSERT INTO signforms_lines (id, due) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`
)

func (s *sqliteStore) receive(t *tx, rows []row, now int64, lastTry int) (got receipt, err error) {
	for i := range rows {
		r := &rows[i]
		changed, err := t.exec(sqliteInsertEvent, r.key[:], r.lineID, r.line, r.kind, r.subject, r.signers, now, r.body)
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
			if err := bringForward(t, []int64{r.lineID}, now); err != nil {
				return receipt{}, err
			}
		} else {
			got.stored++
		}
		if i > 0 && rows[i-1].lineID == r.lineID && got.duplicates == 0 {
			continue // the line is there: the row before made sure of it
		}
		if _, err := t.exec(sqliteInsertLine, r.lineID, now); err != nil {
			return receipt{}, err
		}
	}
	return got, nil
}

// ErrNotTruncated is matched by the error of [Queue.Erase] when what was erased may still be in SQLite's log, because
// someone was reading from it: erased events cannot be read through the queue any more, but their bytes are in the file
// until the next checkpoint that succeeds. Erase again, or let [Queue.Run] do it, which tries once a minute.
var ErrNotTruncated = errors.New("queue: SQLite's log could not be truncated, because it was being read")

// truncateFor is how long clean waits for readers to end.
const truncateFor = 2 * time.Second

// clean moves the log into the file and truncates it: until then the log holds what the pages looked like before.
func (s *sqliteStore) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, truncateFor)
	defer cancel()
	for {
		busy, err := s.checkpoint(ctx)
		if err != nil || !busy {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ErrNotTruncated
		}
	}
}

func (s *sqliteStore) checkpoint(ctx context.Context) (busy bool, err error) {
	var blocked int
	err = s.group.write(&operation{ctx: ctx, alone: func() error {
		var frames, moved int
		return s.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &frames, &moved)
	}})
	if sqliteCode(err) != 0 || errors.Is(err, context.DeadlineExceeded) {
		return true, ctx.Err()
	}
	return blocked != 0, err
}
