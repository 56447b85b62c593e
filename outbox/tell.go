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
		return b.write(ctx, mode{}, func(t *tx) {
			t.exec("UPDATE signforms_outbox SET told = changes WHERE box = $1 AND told <> changes", t.box)
		})
	}
	var due []row
	err := b.read(ctx, func(t *tx) {
		due = t.load("told <> changes AND tell_due <= $2 ORDER BY tell_due, id LIMIT $3", t.now, tellBatch)
	})
	for _, r := range due {
		if err == nil && ctx.Err() == nil {
			err = b.tell(ctx, r)
		}
	}
	return err
}

// tell calls OnChange for one message, in the transaction that records the call.
func (b *Box) tell(ctx context.Context, r row) error {
	var failed error
	err := b.write(ctx, mode{limit: stepLimit + tellLimit}, func(t *tx) {
		if t.exec("UPDATE signforms_outbox SET told = changes WHERE id = $1 AND told <> changes", r.id) == 0 {
			return // another process has called OnChange first
		}
		for _, now := range t.load("id = $2", r.id) {
			failed = b.call(t, now.entry())
			t.err = errors.Join(t.err, failed)
		}
	})
	if failed == nil || err == nil {
		b.Wake() // OnChange may have added messages
		return err
	}
	b.log(slog.LevelError, "OnChange failed, and is called again", slog.String("key", r.key), slog.String("error", failed.Error()))
	return b.write(ctx, mode{}, func(t *tx) {
		t.change(r.id, `tell_backoff = CASE WHEN tell_backoff = 0 THEN 1000 WHEN tell_backoff > $3 THEN 2 * $3 ELSE 2 * tell_backoff END,
			tell_due = $2 + CASE WHEN tell_backoff = 0 THEN 1000 WHEN tell_backoff > $3 THEN 2 * $3 ELSE 2 * tell_backoff END`,
			t.now, maxBackoff.Milliseconds()/2)
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
