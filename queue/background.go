package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// How long Run waits for the store. stepTimeout applies to one statement or transaction.
// batchTimeout applies to one transaction of the sweep, which may read and change a batch of rows
// from a slow disk. stepTimeout also bounds how long Run waits at its end for a store that does not
// respond.
const (
	stepTimeout  = 5 * time.Second
	batchTimeout = 30 * time.Second
)

var errNoAnswer = errors.New("the store did not respond in time")

// background limits the time of the store calls that Run makes outside of functions. After a
// failover the connections of a pool may neither respond nor end.
type background struct {
	log  *slog.Logger
	drop func() // makes the store open new connections; nil on SQLite

	life    context.Context // ends when the queue is closed
	end     context.CancelFunc
	lookups sync.WaitGroup

	mu     sync.Mutex
	silent map[string]bool // steps that timed out and have not succeeded since
}

func newBackground(log *slog.Logger) *background {
	b := &background{log: log, silent: map[string]bool{}}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// close ends the running lookups.
func (b *background) close() {
	b.mu.Lock()
	b.end()
	b.mu.Unlock()
	b.lookups.Wait()
}

// within runs one step for at most limit. If the step times out, the error matches errNoAnswer. The
// first time-out is logged; further ones are logged only after the step has succeeded again.
func (b *background) within(
	ctx context.Context, limit time.Duration, what string, step func(context.Context) error,
) error {
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errNoAnswer)
	defer cancel()
	err := step(bounded)
	gaveUp := err != nil && errors.Is(context.Cause(bounded), errNoAnswer)
	b.mu.Lock()
	first := gaveUp && !b.silent[what]
	b.silent[what] = gaveUp
	b.mu.Unlock()
	if !gaveUp {
		return err
	}
	if b.drop != nil {
		b.drop()
	}
	if first {
		b.log.LogAttrs(ctx, slog.LevelError, "queue: the store did not respond in time, Run tries again",
			slog.String("what", what), slog.Duration("waited", limit), slog.String("error", err.Error()))
	}
	if errors.Is(err, errNoAnswer) {
		return err
	}
	return fmt.Errorf("%w: %w", errNoAnswer, err)
}

// How long a lookup may take, and how long others wait for it.
const (
	lookupTimeout  = 2 * time.Minute
	lookupPatience = 200 * time.Millisecond
)

// lookup is a query that may take long: while a client of Postgres has a snapshot open, queries
// also read rows that were deleted since. The query runs once at a time. Nobody waits for it longer
// than lookupPatience after its start.
type lookup struct {
	mu    sync.Mutex
	begun time.Time
	ended chan struct{} // closed when the running query ends; nil if no query is running
}

// wait starts the query, unless the query is running or the queue is closed, and waits for it.
func (l *lookup) wait(ctx context.Context, b *background, query func(context.Context)) {
	l.mu.Lock()
	if l.ended == nil {
		l.begun, l.ended = time.Now(), make(chan struct{})
		b.start(func(ctx context.Context) {
			query(ctx)
			l.mu.Lock()
			defer l.mu.Unlock()
			close(l.ended)
			l.ended = nil
		})
	}
	ended := l.ended
	patience := time.NewTimer(time.Until(l.begun.Add(lookupPatience)))
	l.mu.Unlock()
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	case <-ctx.Done():
	}
}

// start runs a lookup, unless the queue is closed.
func (b *background) start(lookup func(context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.life.Err() == nil {
		b.lookups.Go(func() {
			ctx, cancel := context.WithTimeout(b.life, lookupTimeout)
			defer cancel()
			lookup(ctx)
		})
	}
}
