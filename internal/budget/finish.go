package budget

import (
	"context"
	"runtime"
	"time"
)

// ended is how a function ended: it returned a value, panicked, or ended its goroutine as t.FailNow does.
type ended[T any] struct {
	value    T
	returned bool
	panicked any
}

// finish runs fn to its end in a goroutine, with a context that does not end with ctx. It returns fn's result, or repeats fn's
// panic. When ctx ends, finish waits for endGrace and then returns ctx's error. If fn ends after that, late gets its result, or
// the zero value if fn did not return.
func finish[T any](ctx context.Context, fn func(context.Context) T, late func(context.Context, T)) (value T, err error) {
	ends, gone := make(chan ended[T]), make(chan struct{})
	own := context.WithoutCancel(ctx)
	go func() {
		var end ended[T]
		defer func() {
			if !end.returned {
				end.panicked = recover()
			}
			select {
			case ends <- end:
			case <-gone:
				defer end.raise()
				late(own, end.value)
			}
		}()
		end.value = fn(own)
		end.returned = true
	}()
	end, err := await(ctx, ends)
	if err != nil {
		close(gone)
		return value, err
	}
	end.raise()
	return end.value, nil
}

// raise ends the calling goroutine as the function ended: by its panic or by runtime.Goexit.
func (e ended[T]) raise() {
	switch {
	case e.returned:
	case e.panicked != nil:
		panic(e.panicked)
	default:
		runtime.Goexit()
	}
}

// await receives from a channel until endGrace after ctx has ended, whose error it then returns.
func await[T any](ctx context.Context, from <-chan T) (v T, err error) {
	select {
	case v = <-from:
		return v, nil
	case <-ctx.Done():
	}
	grace := time.NewTimer(endGrace)
	defer grace.Stop()
	select {
	case v = <-from:
		return v, nil
	case <-grace.C:
		return v, ctx.Err()
	}
}
