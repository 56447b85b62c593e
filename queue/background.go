package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// How long Run waits for the store: for one statement or transaction, and for one of the sweep, which may read and
// change a batch of rows from a slow disk. The first also bounds Run's wait at its end for a store that is silent.
const (
	stepTimeout  = 5 * time.Second
	batchTimeout = 30 * time.Second
)

var errNoAnswer = errors.New("the store did not answer in time")

// background bounds what Run asks of the store besides its functions. After a failover the connections of a pool may
// neither answer nor end.
type background struct {
	log  *slog.Logger
	drop func() // makes the store open new connections; nil on SQLite

	life    context.Context // ends with the queue
	end     context.CancelFunc
	lookups sync.WaitGroup

	mu     sync.Mutex
	silent map[string]bool // what was given up and has not been answered since
}

func newBackground(log *slog.Logger) *background {
	b := &background{log: log, silent: map[string]bool{}}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// close ends the lookups under way.
func (b *background) close() {
	b.mu.Lock()
	b.end()
	b.mu.Unlock()
	b.lookups.Wait()
}

// within runs one step for at most limit. It logs a step that it gives up, once until the step is answered again. The
// error then matches errNoAnswer.
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
		b.log.LogAttrs(ctx, slog.LevelError, "queue: the store did not answer, Run gave it up and tries again",
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

// lookup is a query that may take long: while a client of Postgres has a snapshot open, queries also read what was
// deleted since. It runs once at a time, and nobody waits for it longer than lookupPatience after its start.
type lookup struct {
	mu    sync.Mutex
	begun time.Time
	ended chan struct{} // closed when the query under way ends; nil: none is
}

// wait starts the query, unless it is under way or the queue is closed, and waits for it.
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
