package reminderlimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// ended is how a function ended: it returned a value, panicked, or ended its goroutine as t.FailNow does.
type ended[T any] struct {
	value    T
	returned bool
	panicked any
}

// finish runs fn to its end in a goroutine, with own as its context for at most storeTimeout. It returns fn's result, or an
// error if fn panicked: the call may have sent its request. When ctx or that time ends, finish waits for endGrace and then returns ctx's error or errNotReturned. If fn ends
// after that, late gets its result, or the zero value if fn did not return. A fn that outlasts its time keeps its goroutine, and
// overdue is called then, with true, and with false when fn has ended after all.
func finish[T any](ctx, own context.Context, fn func(context.Context) T, late func(T), overdue func(bool)) (value T, err error) {
	own, cancel := context.WithTimeout(own, storeTimeout)
	ends, gone := make(chan ended[T]), make(chan struct{})
	watchdog := time.AfterFunc(storeTimeout+endGrace, func() { overdue(true) })
	go func() {
		defer cancel()
		var end ended[T]
		defer func() {
			if !end.returned {
				end.panicked = recover()
			}
			if !watchdog.Stop() {
				overdue(false)
			}
			select {
			case ends <- end:
			case <-gone:
				late(end.value)
			}
		}()
		end.value = fn(own)
		end.returned = true
	}()
	end, err := await(ctx, own, ends)
	if err != nil {
		close(gone)
		return value, err
	}
	switch {
	case end.panicked != nil:
		return value, &StoreError{fmt.Errorf("a method panicked: %v", end.panicked)}
	case !end.returned:
		runtime.Goexit()
	}
	return end.value, nil
}

// errNotReturned says that a method of a store outlasted its context.
var errNotReturned = errors.New("a method did not return within " + storeTimeout.String())

// await receives from a channel until endGrace after ctx or own has ended.
func await[T any](ctx, own context.Context, from <-chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	case <-ctx.Done():
	case <-own.Done():
	}
	grace := time.NewTimer(endGrace)
	defer grace.Stop()
	select {
	case v = <-from:
		return v, nil
	case <-grace.C:
		return v, cmp.Or(ctx.Err(), errNotReturned)
	}
}
