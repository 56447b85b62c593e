package queue

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// ErrLost is matched by the error of [Complete] when the event is not the function's any more: its lease has ended and another worker
// holds the line, or the event was erased or processed meanwhile. Roll the transaction back.
var ErrLost = errors.New("queue: the event is not this function's any more")

// Complete marks the event of the function with this ctx as processed in the function's own transaction tx, which must be of
// the database and the schema in which the queue is. The work that the function does in tx is then done exactly once:
//
//	tx, err := pool.Begin(ctx)
//	…
//	defer tx.Rollback(context.WithoutCancel(ctx))
//	… // the work, in tx
//	if err := queue.Complete(ctx, tx); err != nil {
//		return err
//	}
//	return tx.Commit(ctx)
//
// If tx is committed, the event has been processed, whatever the function returns then and even if the process dies. If it
// is not, the try has failed, even if the function returns nil. Call Complete last: another worker that gets the event
// waits for tx in its own Complete. A queue in a SQLite file returns an error, because its transactions are its own.
func Complete(ctx context.Context, tx pgx.Tx) error {
	c, ok := ctx.Value(completionKey{}).(*completion)
	if !ok {
		return errors.New("queue: Complete: the ctx is not that of a function that Run called")
	}
	db, ok := c.queue.db.(*postgresStore)
	if !ok {
		return errors.New("queue: Complete: the queue is in a SQLite file, not in Postgres")
	}
	if tx == nil {
		return errors.New("queue: Complete: tx is nil")
	}
	mark := markDone
	if c.queue.KeepBodies > 0 {
		mark = markKept
	}
	// The row of the event is the lock: of two workers whose leases overlap, only one finds it pending.
	tag, err := tx.Exec(ctx, mark+` AND EXISTS (SELECT 1 FROM signforms_lines WHERE id = $3 AND token = $4)`, c.id, c.queue.now(), c.line, c.token)
	if err != nil {
		return fmt.Errorf("queue: completing an event: %w", err)
	}
	if tag.RowsAffected() == 0 {
		var schema string
		if err := tx.QueryRow(ctx, ownSchema).Scan(&schema); err == nil && channelName(schema) != db.channel {
			return fmt.Errorf("queue: Complete: the queue is in another schema than %s, where tx looks for its tables", schema)
		}
		return ErrLost
	}
	c.called.Store(true)
	return nil
}

// completion is what Complete knows of the event of a function.
type completion struct {
	queue           *Queue
	line, token, id int64
	called          atomic.Bool // without an error
}

type completionKey struct{}

var errNotCommitted = errors.New("queue: the function called Complete and returned, but its transaction was not committed")
