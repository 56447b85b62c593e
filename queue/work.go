package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signforms/signforms-go/webhook"
)

var (
	errInterrupted  = errors.New("the process ended, was suspended or lost its connection to the store while the function ran")
	errNotReturning = errors.New("the function did not return after its time-out and was abandoned")
)

// work processes events, one after the other, until no ordering key is due or Run ends.
func (r *runner) work(c *claim) {
	defer func() { r.ended <- struct{}{} }()
	for c != nil {
		next := r.process(c)
		if next == nil || next.keyID != c.keyID {
			r.leave(c)
		}
		c = next
	}
}

// process runs the function for the claim's event, stores the outcome, and returns the next claim
// to process.
func (r *runner) process(c *claim) (next *claim) {
	if c.interrupted {
		if next, goOn := r.interrupted(c); !goOn {
			return next
		}
	}
	if r.stopping() {
		if err := r.release(c); err != nil && !errors.Is(err, errStale) {
			r.Logger.LogAttrs(r.values, slog.LevelError, "queue: the ordering key could not be released, it is due again when its lease ends", slog.String("error", err.Error()))
		}
		return nil
	}
	if time.Until(c.until) < r.lease()-r.margin/4 { // storing the claim took long, so renew the lease
		if err := r.hold(c, func(*tx) error { return nil }); err != nil {
			r.stored(&c.entry, err)
			return nil
		}
	}
	begun := time.Now()
	ctx, err := r.call(c)
	s := Settled{Entry: c.entry, Err: err, Duration: time.Since(begun)}
	next = r.record(c, &s)
	r.tell(ctx, c, &s)
	return next
}

// call runs the function and waits for it, up to waitLimit.
func (r *runner) call(c *claim) (context.Context, error) {
	c.completion = &completion{queue: r.Queue, keyID: c.keyID, token: c.token, id: c.entry.ID}
	ctx, cancel := context.WithTimeout(context.WithValue(entryContext(r.values, c.entry), completionKey{}, c.completion), r.Timeout)
	defer cancel()
	event, err := c.event()
	if err != nil {
		return ctx, err
	}
	if fields := event.FieldErrors(); len(fields) > 0 && c.entry.Attempts == 0 {
		r.log(slog.LevelWarn, "queue: an event has a field that cannot be read", &c.entry, slog.String("error", fields[0].Error()))
	}
	if u, ok := event.(*webhook.UnknownEvent); ok && u.Err != nil && r.on.Unknown == nil {
		return ctx, webhook.Permanent(r.without(r.on.Dispatch(ctx, event), c)) // the error names the function that is missing
	}
	returned := make(chan error, 1)
	go func() { returned <- r.on.Dispatch(ctx, event) }()
	limit := time.NewTimer(r.waitLimit())
	defer limit.Stop()
	select {
	case err := <-returned:
		return ctx, r.without(err, c)
	case <-limit.C:
	}
	abandoned := make(chan struct{})
	c.abandoned = abandoned
	r.count.abandoned.Add(1)
	go func() {
		err := <-returned
		r.log(slog.LevelWarn, "queue: an abandoned function has returned", &c.entry, slog.Bool("failed", err != nil))
		close(abandoned)
	}()
	return ctx, errNotReturning
}

// without returns err, or nil when the event has no function.
func (r *runner) without(err error, c *claim) error {
	if errors.Is(err, webhook.ErrNoFunction) {
		r.log(slog.LevelInfo, "queue: event acknowledged, no function is set for it", &c.entry)
		return nil
	}
	return err
}

// turn decides how the worker continues after the claim's event. After yieldAfter events of one
// ordering key, the worker takes another ordering key. The worker ends when Run ends. It also ends
// when its function was abandoned, so that Run counts the abandoned function.
func (r *runner) turn(c *claim) turn {
	goOn := c.abandoned == nil && !r.stopping()
	return turn{next: goOn && c.row+1 < yieldAfter, more: goOn}
}

// record stores the outcome of the event, and sets it in s. It returns the next claim to process.
func (r *runner) record(c *claim, s *Settled) (next *claim) {
	ending := context.Cause(r.values) != nil
	completed := c.completion.called.Load()
	if completed && s.Err == nil {
		s.Err = errNotCommitted // unless the store shows that it was committed
	}
	var stored error
	switch {
	case s.Err == nil:
		s.Outcome = Processed
		next, stored = r.settleDone(c, r.turn(c))
	case ending && !completed && !webhook.IsPermanent(s.Err):
		s.Outcome = Released
		stored = r.release(c)
	default:
		next, stored = r.settleFailed(c, r.turn(c), s.Err, s)
	}
	if stored != nil {
		s.Outcome, s.Retry = Stale, time.Time{}
		r.stored(&c.entry, stored)
	}
	return next
}

// tell counts and logs an outcome, and calls OnSettled with the ctx of the function.
func (r *runner) tell(ctx context.Context, c *claim, s *Settled) {
	r.note(c, s)
	if r.Exclusive {
		select {
		case r.touched <- struct{}{}:
		default:
		}
	}
	if r.OnSettled != nil {
		r.hook("OnSettled", func() { r.OnSettled(ctx, *s) })
	}
}

// note counts and logs an outcome.
func (r *runner) note(c *claim, s *Settled) {
	attrs := []slog.Attr{slog.Int("failed_tries", c.entry.Attempts+1)}
	if s.Err != nil {
		attrs = append(attrs, slog.String("error", errorText(s.Err)))
	}
	if p, ok := errors.AsType[*webhook.PanicError](s.Err); ok {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	switch s.Outcome {
	case Processed:
		r.count.processed.Add(1)
		r.log(slog.LevelDebug, "queue: event processed", &c.entry, slog.Duration("took", s.Duration))
	case Retrying:
		r.count.retried.Add(1)
		r.log(slog.LevelWarn, "queue: event failed, will be tried again", &c.entry, append(attrs, slog.Time("retry", s.Retry))...)
	case FailedPermanently:
		r.count.failed.Add(1)
		r.log(slog.LevelError, "queue: event failed permanently", &c.entry, attrs...)
	case Released:
		r.log(slog.LevelWarn, "queue: event interrupted by the end of Run", &c.entry)
	case Stale:
		r.log(slog.LevelWarn, "queue: outcome not stored, the lease was lost or the store did not respond", &c.entry, attrs...)
	}
}

// interrupted records a try whose lease ended without an outcome. It reports whether the claim's
// event is to be tried now. If not, it returns the next claim to process. interrupted does not give
// an event up if its last try may not have begun.
func (r *runner) interrupted(c *claim) (next *claim, goOn bool) {
	ctx, cancel := context.WithCancel(entryContext(r.values, c.entry))
	cancel()
	s := Settled{Entry: c.entry, Err: errInterrupted}
	var err error
	last := c.entry.Attempts+1 >= r.maxTries
	if goOn = !last || !c.begun; goOn {
		s.Outcome, s.Retry = Retrying, time.Now()
		err = r.settleInterrupted(c, !last)
	} else {
		next, err = r.settleFailed(c, r.turn(c), errInterrupted, &s)
	}
	if err != nil {
		r.stored(&c.entry, err)
		return nil, false
	}
	r.tell(ctx, c, &s)
	return next, goOn
}

// ErrLost is matched by the error of [Complete] if the event no longer belongs to the function.
// Either its lease has ended and another worker holds the ordering key, or the event was erased or
// processed meanwhile. Roll the transaction back, and return the error. The event is then not
// reported as failed.
var ErrLost = errors.New("queue: lease lost: the event now belongs to another worker, or is settled")

// Complete marks the event of the function with this ctx as processed, in the function's own
// transaction tx. tx must be of the database and schema of the queue. The work that the function
// does in tx is then done exactly once:
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
// If tx is committed, the event has been processed, even if the function then returns an error or
// the process dies. If tx is not committed, the try has failed, even if the function returns nil.
//
// Call Complete last, and commit at once, because no worker can continue with the ordering key
// until tx ends. Postgres ends tx by itself only if the role or DSN sets
// idle_in_transaction_session_timeout. tx may still be committed after the lease has ended;
// Complete of another worker then returns [ErrLost].
//
// With a queue in a SQLite file, Complete returns an error, because a function cannot join SQLite's
// transactions.
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
	// The row of the event is the lock. If the leases of two workers overlap, only one of them
	// finds the event pending.
	tag, err := tx.Exec(ctx, mark+` AND EXISTS (SELECT 1 FROM signforms_ordering_keys WHERE id = $3 AND token = $4)`, c.id, c.queue.now(), c.keyID, c.token)
	if err != nil {
		return fmt.Errorf("queue: completing an event: %w", err)
	}
	if tag.RowsAffected() == 0 {
		var schema string
		if err := tx.QueryRow(ctx, ownSchema).Scan(&schema, new(bool)); err == nil && schema != db.schema {
			return fmt.Errorf("queue: Complete: the queue is in another schema than %s, where tx looks for its tables", schema)
		}
		return ErrLost
	}
	c.called.Store(true)
	return nil
}

// completion records the call of Complete for an event of a function.
type completion struct {
	queue            *Queue
	keyID, token, id int64
	called           atomic.Bool // Complete returned no error
}

type completionKey struct{}

var errNotCommitted = errors.New("queue: the function called Complete and returned, but its transaction was not committed")
