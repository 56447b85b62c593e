package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	tellLimit = 5 * time.Second
	tellBatch = 20
)

// tellChanges calls OnChange for the messages that have changed.
func (b *Box) tellChanges(ctx context.Context) error {
	if b.options.OnChange == nil {
		return b.write(ctx, mode{}, func(t *tx) error {
			_, err := t.exec("UPDATE signforms_outbox SET told = changes WHERE box = $1 AND told <> changes", t.box)
			return err
		})
	}
	var ids []int64
	err := b.read(ctx, func(t *tx) error {
		ids = nil
		return t.each(func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		}, `SELECT id FROM signforms_outbox WHERE box = $1 AND told <> changes AND (tell_due <= $2 OR tell_due > $3)
			ORDER BY tell_due, id LIMIT $4`, t.box, t.now, t.now+maxBackoff.Milliseconds(), tellBatch)
	})
	for _, id := range ids {
		if err == nil && ctx.Err() == nil {
			err = b.tell(ctx, id)
		}
	}
	if err != nil {
		return fmt.Errorf("calling OnChange: %w", err)
	}
	return nil
}

var errAlreadyTold = errors.New("another process was faster")

// tell calls OnChange for one message, in the transaction that records that it was called.
func (b *Box) tell(ctx context.Context, id int64) error {
	var key string
	var failed error
	err := b.write(ctx, mode{limit: stepLimit + tellLimit}, func(t *tx) error {
		n, err := t.exec("UPDATE signforms_outbox SET told = changes WHERE id = $1 AND told <> changes", id)
		if err != nil {
			return err
		}
		if n == 0 {
			return errAlreadyTold
		}
		found, err := t.load("id = $2", id)
		if err != nil || len(found) == 0 {
			return errors.Join(err, errAlreadyTold)
		}
		key = found[0].key
		failed = b.call(t, found[0].entry())
		return failed
	})
	switch {
	case errors.Is(err, errAlreadyTold):
		return nil
	case err == nil:
		b.Wake() // OnChange may have added messages
		return nil
	case failed == nil:
		return err
	}
	b.log(slog.LevelError, "OnChange failed, and is called again", slog.String("key", key), slog.String("error", failed.Error()))
	return b.write(ctx, mode{}, func(t *tx) error {
		r, found, err := t.byID(id)
		if err != nil || !found {
			return err
		}
		var last int64
		if _, err := t.first([]any{&last}, "SELECT tell_backoff FROM signforms_outbox WHERE id = $1", r.id); err != nil {
			return err
		}
		backoff := nextBackoff(millis(last), nil).Milliseconds()
		return t.change(id, "tell_due = $2, tell_backoff = $3", t.now+backoff, backoff)
	})
}

// call runs OnChange.
func (b *Box) call(t *tx, e Entry) (err error) {
	ctx, cancel := context.WithTimeout(t.ctx, tellLimit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("OnChange panicked: %v", p)
		}
	}()
	return b.options.OnChange(ctx, t.on.(*sql.Tx), e)
}
