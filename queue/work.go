package queue

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

var (
	errInterrupted  = errors.New("the process ended, was suspended or lost the store while the function ran")
	errNotReturning = errors.New("the function did not return after its time-out and was abandoned")
)

// work processes events of one line, one after the other, until none is left, one has to wait, or Run ends.
func (r *runner) work(c *claim) {
	defer func() { r.ended <- c }()
	if c.head == 0 && r.skip(c) != nil { // nothing was pending when it was claimed
		return
	}
	for n := 0; c.head != 0; n++ {
		if n == yieldAfter || r.stopping() {
			r.released(c)
			return
		}
		w, err := r.load(r.values, c)
		if err != nil {
			r.Logger.LogAttrs(r.values, slog.LevelError, "queue: reading an event", slog.String("error", err.Error()))
			r.released(c)
			return
		}
		if w == nil { // erased
			err = r.skip(c)
		} else if !r.process(c, w) {
			return
		}
		if err != nil {
			return
		}
	}
}

func (r *runner) released(c *claim) {
	if err := r.release(c); err != nil && !errors.Is(err, errStale) {
		r.Logger.LogAttrs(r.values, slog.LevelError, "queue: releasing a line, it will be due when its lease ends", slog.String("error", err.Error()))
	}
}

// process runs the function for one event and stores the outcome. It reports whether the claim goes on.
func (r *runner) process(c *claim, w *work) bool {
	if c.interrupted {
		if goOn := r.interrupted(c, w); !goOn {
			return false
		}
		if c.head != w.entry.ID { // that was its last try
			return true
		}
	}
	if time.Until(c.until) < r.lease()-r.margin/4 { // reading took long
		if err := r.fenced(c, func(*tx, int64) error { return nil }); err != nil {
			r.stored(&w.entry, err)
			return false
		}
	}
	begun := time.Now()
	ctx, err := r.call(c, w)
	s := Settled{Entry: w.entry, Duration: time.Since(begun)}
	goOn := r.settle(c, w, err, &s)
	if r.OnSettled != nil {
		r.OnSettled(ctx, s)
	}
	return goOn
}

// call runs the function and waits for it, up to patience.
func (r *runner) call(c *claim, w *work) (context.Context, error) {
	ctx, cancel := context.WithTimeout(entryContext(r.values, w.entry), r.Timeout)
	defer cancel()
	if w.err != nil {
		return ctx, w.err
	}
	if u, ok := w.event.(*webhook.UnknownEvent); ok && u.Err != nil && r.on.Unknown == nil {
		return ctx, webhook.Permanent(r.without(r.on.Dispatch(ctx, w.event), w)) // its error says which function would take it
	}
	returned := make(chan error, 1)
	go func() { returned <- r.on.Dispatch(ctx, w.event) }()
	patience := time.NewTimer(r.patience())
	defer patience.Stop()
	select {
	case err := <-returned:
		return ctx, r.without(err, w)
	case <-patience.C:
	}
	abandoned := make(chan struct{})
	c.abandoned = abandoned
	r.count.abandoned.Add(1)
	go func() {
		err := <-returned
		r.log(slog.LevelWarn, "queue: an abandoned function has returned", &w.entry, slog.Bool("failed", err != nil))
		close(abandoned)
	}()
	return ctx, errNotReturning
}

// without lets events pass that no function is there for.
func (r *runner) without(err error, w *work) error {
	if errors.Is(err, webhook.ErrNoFunction) {
		r.log(slog.LevelInfo, "queue: event done, no function for it", &w.entry)
		return nil
	}
	return err
}

// settle stores what became of the event and reports whether the claim goes on.
func (r *runner) settle(c *claim, w *work, err error, s *Settled) (goOn bool) {
	s.Err = err
	failed := w.entry.Attempts + 1
	var stored error
	switch {
	case err == nil:
		s.Outcome = Processed
		stored = r.settleDone(c)
		goOn = true
	case context.Cause(r.values) != nil && c.abandoned == nil && !webhook.IsPermanent(err):
		s.Outcome = Released
		stored = r.release(c)
	case context.Cause(r.values) != nil && c.abandoned != nil:
		s.Outcome = Released // it goes on: nobody may start it before the lease ends
	case webhook.IsPermanent(err) || failed >= r.maxTries:
		s.Outcome = GivenUp
		stored = r.settleFailed(c, errorText(err))
		goOn = c.abandoned == nil
		if stored == nil && !goOn && c.head != 0 {
			stored = r.release(c)
		}
	default:
		s.Outcome = Retrying
		wait := r.wait(err, failed)
		s.Retry = time.Now().Add(wait)
		stored = r.settleTried(c, errorText(err), wait)
	}
	if stored != nil {
		s.Outcome, goOn = Stale, false
		r.stored(&w.entry, stored)
	}
	r.tell(w, s)
	return goOn
}

// tell counts and logs an outcome.
func (r *runner) tell(w *work, s *Settled) {
	attrs := []slog.Attr{slog.Int("failed_tries", w.entry.Attempts+1)}
	if s.Err != nil {
		attrs = append(attrs, slog.String("error", errorText(s.Err)))
	}
	if p, ok := errors.AsType[*webhook.PanicError](s.Err); ok {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	switch s.Outcome {
	case Processed:
		r.count.processed.Add(1)
		r.log(slog.LevelDebug, "queue: event processed", &w.entry, slog.Duration("took", s.Duration))
	case Retrying:
		r.count.retried.Add(1)
		r.log(slog.LevelWarn, "queue: event failed, will be tried again", &w.entry, append(attrs, slog.Time("retry", s.Retry))...)
	case GivenUp:
		r.count.failed.Add(1)
		r.log(slog.LevelError, "queue: event failed for good", &w.entry, attrs...)
	case Released:
		r.log(slog.LevelWarn, "queue: event interrupted by the end of Run", &w.entry)
	case Stale:
		r.log(slog.LevelWarn, "queue: outcome not stored, the lease had ended", &w.entry, attrs...)
	}
}

// interrupted counts the try that an earlier lease ended without an outcome. It reports whether the claim goes on.
func (r *runner) interrupted(c *claim, w *work) bool {
	s := Settled{Entry: w.entry, Err: errInterrupted, Outcome: GivenUp}
	var err error
	if w.entry.Attempts+1 < r.maxTries {
		err = r.settleInterrupted(c, errInterrupted.Error())
		s.Outcome = Retrying
		s.Retry = time.Now()
	} else {
		err = r.settleFailed(c, errInterrupted.Error())
	}
	if err != nil {
		r.stored(&w.entry, err)
		return false
	}
	r.tell(w, &s)
	w.entry.Attempts++
	w.entry.Error = errInterrupted.Error()
	return true
}
