package signformstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// finisher makes the finished files of documents that were completed, one after the other. A nil finisher makes none.
type finisher struct {
	server *Server
	wake   chan struct{}

	mu sync.Mutex
	finisherState
}

type finisherState struct {
	done     chan struct{} // closed, and replaced, after each try
	failing  bool          // the store did not save the last try
	failures int           // how often it did not
	failure  error         // the last time
	closed   bool
}

func newFinisher(s *Server) *finisher {
	return &finisher{server: s, wake: make(chan struct{}, 1), finisherState: finisherState{done: make(chan struct{})}}
}

// run makes files until ctx ends.
func (f *finisher) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		d, at, ok := f.next()
		wait := at.Sub(f.server.Now())
		if ok && wait <= 0 {
			if f.try(ctx, d); f.state().failing {
				timer.Reset(time.Second)
			} else {
				continue
			}
		} else if ok && !f.server.clock.frozen() {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
		case <-f.wake:
		case <-f.server.store.Completed():
		case <-timer.C:
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	close(f.done)
}

func (f *finisher) next() (d signing.Document, at time.Time, ok bool) {
	f.server.store.View(func(tx *store.Tx) error {
		d, at, ok = tx.NextToFinish()
		return nil
	})
	return d, at, ok
}

// try makes one file and stores it, or that it failed. What the server's end breaks off is no failure.
func (f *finisher) try(ctx context.Context, d signing.Document) {
	content, err := f.call(ctx, d)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		f.server.logger.Error("making a finished file", "document", d.ID, "try", d.FinishTries+1, "of", signing.FinishTriesMax, "error", err)
	}
	file := signing.NewFile(content)
	err = f.server.store.Update(func(tx *store.Tx) error {
		tx.Finish(d.ID, func(d signing.Document, at time.Time) signing.Change {
			if err != nil {
				return d.FinishFailed(at)
			}
			return d.Finish(file, at)
		})
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failing = err != nil; f.failing {
		f.failure = err
		f.failures++
	}
	close(f.done)
	f.done = make(chan struct{})
}

// call calls the program's function with the document and its PDF.
func (f *finisher) call(ctx context.Context, d signing.Document) (content []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	public := f.server.publicDocument(d)
	if public.PDF, err = f.server.store.Content(ctx, d.PDF); err != nil {
		return nil, fmt.Errorf("reading the document's PDF: %w", err)
	}
	if err := f.server.images(ctx, &public, d); err != nil {
		return nil, fmt.Errorf("reading a signature: %w", err)
	}
	content, err = f.server.options.Finish(ctx, public)
	if err == nil && len(content) == 0 {
		err = errors.New("the file is empty")
	}
	return content, err
}

// wakeUp makes the finisher look at the clock again.
func (f *finisher) wakeUp() {
	if f == nil {
		return
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// busy reports whether a file is due or under way.
func (f *finisher) busy() bool {
	if f == nil {
		return false
	}
	_, at, ok := f.next()
	return ok && !at.After(f.server.Now())
}

// settle returns when no file is due or under way, or why that will not come.
func (f *finisher) settle(ctx context.Context) error {
	if f == nil {
		return nil
	}
	f.wakeUp() // what failed before may be over
	for before := f.state(); ; {
		now := f.state() // before looking whether there is work, so that no end of it is missed
		switch {
		case !f.busy():
			return nil
		case now.closed:
			return errClosed
		case now.failures > before.failures:
			return now.failure
		}
		select {
		case <-now.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *finisher) state() finisherState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.finisherState
}
