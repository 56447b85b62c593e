package reminderlimit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Store holds the slots. It is what signforms.LimitStore says.
type Store interface {
	Take(ctx context.Context, key string, limit int, hold time.Duration) (slot string, wait time.Duration, err error)
	Settle(ctx context.Context, key, slot string, keep time.Duration) error
	Block(ctx context.Context, key string, d time.Duration) error
	Peek(ctx context.Context, key string, limit int) ([]time.Duration, error)
}

const (
	// storeTimeout bounds each question to a store, even one that outlives its caller.
	storeTimeout = 3 * time.Second
	// endGrace is how long a caller waits for its store once its context has ended. Usually that is enough to give the
	// slot back before the call returns and, perhaps, the process exits.
	endGrace = 100 * time.Millisecond
)

var (
	errNotReturned = errors.New("a method did not return within " + storeTimeout.String())
	errSlow        = errors.New("it took longer than " + storeTimeout.String() + " for the calls before this one")
	errNothing     = errors.New("Take returned neither a slot nor a wait")
	errGone        = errors.New("a method ended its goroutine")
)

// ask asks the store with own for at most storeTimeout. It gives up endGrace after ctx or that time has ended. The
// method still runs to its end, and late gets what it returns. A panic is an error: the request may have been sent.
func ask[T any](ctx, own context.Context, fn func(context.Context) (T, error), late func(T)) (answer T, err error) {
	own, cancel := context.WithTimeout(own, storeTimeout)
	done, gone := make(chan struct{}), make(chan struct{})
	returned, failed := answer, errGone
	go func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				failed = fmt.Errorf("a method panicked: %v", p)
			}
			select {
			case done <- struct{}{}:
			case <-gone:
				late(returned)
			}
		}()
		returned, failed = fn(own)
	}()
	select {
	case <-done:
		return returned, failed
	case <-ctx.Done():
	case <-own.Done():
	}
	select {
	case <-done:
		return returned, failed
	case <-time.After(endGrace):
	}
	close(gone)
	if ctx.Err() != nil {
		return answer, ctx.Err()
	}
	return answer, errNotReturned
}

// tell runs fn to its end, and waits for it until endGrace after ctx has ended. Then the first in line asks again.
func (b *Budget) tell(ctx context.Context, fn func(context.Context) error) error {
	_, err := ask(ctx, context.WithoutCancel(ctx), func(ctx context.Context) (struct{}, error) {
		err := fn(ctx)
		b.lines.wakeFirst(b.id)
		return struct{}{}, err
	}, func(struct{}) {})
	return err
}

// Peek says when each of Limit slots is free, soonest first. Its error is a [*StoreError], or ctx's if that ends first.
func (b *Budget) Peek(ctx context.Context) ([]time.Duration, error) {
	frees, err := ask(ctx, ctx, func(ctx context.Context) ([]time.Duration, error) {
		return b.id.store.Peek(ctx, b.id.key, Limit)
	}, func([]time.Duration) {})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &StoreError{err}
	case len(frees) != Limit:
		return nil, &StoreError{fmt.Errorf("Peek returned %d durations, not %d", len(frees), Limit)}
	}
	return frees, nil
}

// changed returns a channel that is closed when the store's clock is moved, or nil for a store without Changed.
func (b *Budget) changed() <-chan struct{} {
	if s, ok := b.id.store.(interface{ Changed() <-chan struct{} }); ok {
		return s.Changed()
	}
	return nil
}
