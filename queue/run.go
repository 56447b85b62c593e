package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

const (
	defaultPoll  = 500 * time.Millisecond
	sweepEvery   = time.Minute
	maxAbandoned = 100 // functions
	yieldAfter   = 32  // events of one ordering key; then the worker takes another ordering key
)

// ErrAbandoned is returned by [Queue.Run] when 100 abandoned functions are still running. Only a
// restart of the process ends them.
var ErrAbandoned = errors.New("queue: too many functions did not return after Options.Timeout: end the process, and make functions return when their ctx ends")

// runner is one call of Run.
type runner struct {
	*Queue
	on      webhook.Funcs
	values  context.Context // the context of functions; it does not end with Run's ctx
	cancel  context.CancelCauseFunc
	stop    chan struct{} // closed when Run's ctx ends
	ended   chan struct{} // has room for one signal per worker
	touched chan struct{} // has room for one signal; with Options.Exclusive, each settled event sends a signal
	workers sync.WaitGroup
	active  int
}

var errShutdown = errors.New("queue: Run is ending")

// Run processes events until ctx ends, and then returns nil. The package documentation describes
// which function Run calls, what counts as a failed try, and how Run ends. A function's ctx has the
// values of ctx and of [EntryFromContext]. Run also erases data that is no longer kept. While the
// store is unreachable, Run keeps trying.
//
// Run returns an error if on has no function or if Run is running in this Queue already. It returns
// [ErrClosed] after Close. It returns [ErrAbandoned] if too many functions do not return.
func (q *Queue) Run(ctx context.Context, on webhook.Funcs) error {
	if reflect.ValueOf(on).IsZero() {
		return errors.New("queue: Run: Funcs has no function: set at least one, Default for all events")
	}
	if !q.running.CompareAndSwap(false, true) {
		return errors.New("queue: Run is running in this Queue already: set Options.Workers to work on more ordering keys at once")
	}
	defer q.running.Store(false)
	r := &runner{Queue: q, on: on, stop: make(chan struct{}), ended: make(chan struct{}, q.Workers), touched: make(chan struct{}, 1)}
	r.values, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	defer r.cancel(errShutdown)
	var beside sync.WaitGroup
	beside.Go(r.sweepUntilStop)
	watch, unwatch := context.WithCancel(r.values)
	beside.Go(func() { r.watchStore(watch) })
	err := r.loop(ctx)
	close(r.stop)
	unwatch()
	r.drain()
	beside.Wait()
	return err
}

// loop claims ordering keys and starts workers.
func (r *runner) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-r.wake:
		case <-r.ended:
			r.active--
		}
		if ctx.Err() != nil {
			return nil
		}
		if n := r.count.abandoned.Load(); n >= maxAbandoned {
			return ErrAbandoned
		}
		wait, err := r.start(ctx)
		if errors.Is(r.orClosed(err), ErrClosed) {
			return ErrClosed
		}
		if err != nil && ctx.Err() == nil {
			if !errors.Is(err, errNoAnswer) { // within has logged errNoAnswer
				r.Logger.LogAttrs(ctx, slog.LevelError, "queue: claiming ordering keys", slog.String("error", err.Error()))
			}
			wait = time.Second
		}
		timer.Reset(wait)
	}
}

// start claims as many ordering keys as there are free workers, and returns when to check again.
func (r *runner) start(ctx context.Context) (time.Duration, error) {
	free := r.Workers - r.active
	if free == 0 {
		return r.poll, nil
	}
	due, any, err := r.nextDue(ctx)
	switch {
	case err != nil:
		return 0, err
	case !any:
		return r.poll, nil
	case due > 0:
		return min(due, r.poll), nil
	}
	claims, err := r.claimKeys(ctx, free)
	if err != nil {
		return 0, err
	}
	for _, c := range claims {
		r.active++
		r.workers.Go(func() { r.work(c) })
	}
	switch len(claims) {
	case 0: // another process has claimed the ordering key first
		return 20 * time.Millisecond, nil
	case free: // the end of a worker starts the next check
		return r.poll, nil
	}
	return 0, nil
}

// drain waits for the workers, first for Grace and then until they give up.
func (r *runner) drain() {
	idle := make(chan struct{})
	go func() {
		r.workers.Wait()
		close(idle)
	}()
	if r.Grace > 0 {
		grace := time.NewTimer(r.Grace)
		defer grace.Stop()
		select {
		case <-idle:
		case <-grace.C:
		}
	}
	r.cancel(errShutdown)
	<-idle
}

// leave frees the ordering key for this process. If a function of the ordering key was abandoned,
// leave frees the ordering key when that function returns.
func (q *Queue) leave(c *claim) {
	if c.abandoned == nil {
		q.vacate(c)
		q.wakeUp()
		return
	}
	go func() {
		<-c.abandoned
		q.count.abandoned.Add(-1)
		q.vacate(c)
		q.floor.reset() // the ordering key may have been due for long
		q.wakeUp()
	}()
}

// entryContext returns the ctx of a function, with its entry.
func entryContext(ctx context.Context, e Entry) context.Context {
	return context.WithValue(ctx, entryKey{}, e)
}

func (r *runner) log(level slog.Level, message string, e *Entry, attrs ...slog.Attr) {
	if !r.Logger.Enabled(r.values, level) {
		return
	}
	attrs = append([]slog.Attr{slog.Int64("id", e.ID), slog.String("event", string(e.Type)), slog.String("subject", e.Subject)}, attrs...)
	r.Logger.LogAttrs(r.values, level, message, attrs...)
}

func (r *runner) stopping() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

// stored logs the error err, because of which an outcome was not stored. The event runs again.
func (r *runner) stored(e *Entry, err error) {
	if err != nil && !errors.Is(err, errStale) {
		r.log(slog.LevelError, "queue: outcome not stored, the event will run again", e, slog.String("error", fmt.Sprint(err)))
	}
}
