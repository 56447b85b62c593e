package budget

import (
	"context"
	"fmt"
	"time"
)

const (
	// storeTimeout bounds each question to a store, also one that outlives its caller.
	storeTimeout = 3 * time.Second
	// endGrace is how long a caller waits for its store once its context has ended. Mostly that is enough to have the slot
	// given back before the call returns, and with it perhaps the process.
	endGrace = 100 * time.Millisecond
)

// asker asks a store about one key, each time for at most storeTimeout.
type asker struct {
	store     Store
	key       string
	immediate bool
}

// taken is what the store's Take returned.
type taken struct {
	slot string
	wait time.Duration
	err  error
}

func (a asker) take(ctx context.Context, hold time.Duration) (t taken) {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	t.slot, t.wait, t.err = a.store.Take(ctx, a.key, Limit, hold)
	return t
}

func (a asker) settle(ctx context.Context, slot string, keep time.Duration) error {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	return a.store.Settle(ctx, a.key, slot, keep)
}

func (a asker) close(ctx context.Context, d time.Duration) error {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	return a.store.Close(ctx, a.key, d)
}

// Peek tells when each of Limit slots can be taken, soonest first. Its error is a [*StoreError].
func (a asker) Peek(ctx context.Context) ([]time.Duration, error) {
	ctx, cancel := a.bound(ctx)
	defer cancel()
	frees, err := a.store.Peek(ctx, a.key, Limit)
	switch {
	case err != nil:
		return nil, &StoreError{err}
	case len(frees) != Limit:
		return nil, &StoreError{fmt.Errorf("Peek returned %d durations, not %d", len(frees), Limit)}
	}
	return frees, nil
}

func (a asker) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.immediate {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, storeTimeout)
}

// changed returns a channel that closes when the store may answer otherwise than it did, although no time has passed: its
// clock was moved. A store that can tell has a method for it.
func (a asker) changed() <-chan struct{} {
	if s, ok := a.store.(interface{ Changed() <-chan struct{} }); ok {
		return s.Changed()
	}
	return nil
}

// tell lets do run to its end, and waits for it until endGrace after ctx has ended.
func (a asker) tell(ctx context.Context, do func(context.Context) error) error {
	if a.immediate {
		return do(ctx)
	}
	done := make(chan error, 1)
	go func() { done <- do(context.WithoutCancel(ctx)) }()
	err, ended := await(ctx, done)
	if ended != nil {
		return ended
	}
	return err
}
