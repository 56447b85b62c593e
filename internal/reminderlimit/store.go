package reminderlimit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Store keeps the slots. signforms.LimitStore documents its methods.
type Store interface {
	Take(ctx context.Context, key string, limit int, hold time.Duration) (slot string, wait time.Duration, err error)
	Settle(ctx context.Context, key, slot string, keep time.Duration) error
	Block(ctx context.Context, key string, d time.Duration) error
	Peek(ctx context.Context, key string, limit int) ([]time.Duration, error)
}

const (
	// storeTimeout limits the time of each call of a store, even if the caller has given up.
	storeTimeout = 3 * time.Second
	// endGrace is how long a caller waits for its store after its context has ended. Usually that
	// is enough to give the slot back before the call returns and the process exits.
	endGrace = 100 * time.Millisecond
)

var (
	errNotReturned = errors.New("a method did not return within " + storeTimeout.String())
	errSlow        = errors.New("it took longer than " + storeTimeout.String() + " for the calls before this one")
	errNothing     = errors.New("Take returned neither a slot nor a wait")
	errGone        = errors.New("a method ended its goroutine")
)

// callStore calls fn with own as the parent context, for at most storeTimeout. It returns endGrace after
// ctx or storeTimeout has ended, even if fn has not returned. fn still runs to its end, and late
// gets its result. A panic of fn becomes an error, because the store may have taken a slot.
func callStore[T any](ctx, own context.Context, fn func(context.Context) (T, error), late func(T)) (answer T, err error) {
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

// update runs fn to its end, but returns at most endGrace after ctx has ended. When fn has returned,
// the first caller in line asks the store again.
func (b *Budget) update(ctx context.Context, fn func(context.Context) error) error {
	_, err := callStore(ctx, context.WithoutCancel(ctx), func(ctx context.Context) (struct{}, error) {
		err := fn(ctx)
		b.lines.wakeFirst(b.id)
		return struct{}{}, err
	}, func(struct{}) {})
	return err
}

// Peek returns the time until each of Limit slots is free, soonest first. Its error is a
// [*StoreError], or ctx's error if ctx ends first.
func (b *Budget) Peek(ctx context.Context) ([]time.Duration, error) {
	frees, err := callStore(ctx, ctx, func(ctx context.Context) ([]time.Duration, error) {
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

// changed returns a channel that is closed when the store's clock is moved, or nil if the store has
// no method Changed.
func (b *Budget) changed() <-chan struct{} {
	if s, ok := b.id.store.(interface{ Changed() <-chan struct{} }); ok {
		return s.Changed()
	}
	return nil
}
