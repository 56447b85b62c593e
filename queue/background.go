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

	mu     sync.Mutex
	silent map[string]bool // what was given up and has not been answered since
}

func newBackground(log *slog.Logger) *background {
	return &background{log: log, silent: map[string]bool{}}
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
