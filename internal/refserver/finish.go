package refserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// finisher makes the finished files of documents that were completed. A nil finisher makes none.
type finisher struct {
	server *Server
	wake   chan struct{}
	most   int            // how many calls are made at a time
	calls  sync.WaitGroup // those of the run

	mu       sync.Mutex
	underWay map[string]bool // ids of documents
	retry    chan struct{}   // closed, and replaced, when the store may save again
	finisherState
}

type finisherState struct {
	done     chan struct{} // closed, and replaced, after each file and each failure of the store
	failures int           // how often the store did not save one
	failure  error         // the last time
	closed   bool
}

const (
	finishMost   = 4           // calls of Options.Finish at a time
	finishWithin = time.Minute // how long one may take
)

func newFinisher(s *Server) *finisher {
	f := &finisher{
		server: s, wake: make(chan struct{}, 1), most: finishMost, underWay: map[string]bool{}, retry: make(chan struct{}),
		finisherState: finisherState{done: make(chan struct{})},
	}
	if s.clock.frozen() {
		f.most = 1 // so that every run is the same
	}
	return f
}

// run makes files until ctx ends.
func (f *finisher) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		if wait, ok := f.begin(ctx); ok && !f.server.clock.frozen() {
			timer.Reset(wait)
		}
		select {
		case <-ctx.Done():
		case <-f.wake:
		case <-f.server.store.Completed():
		case <-timer.C:
		}
	}
	f.calls.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	close(f.done)
}

// begin starts on the files that are due, as many as there is room for. It returns how long until the next one is due, if any.
func (f *finisher) begin(ctx context.Context) (wait time.Duration, ok bool) {
	var documents []signing.Document
	f.server.store.View(func(tx *store.Tx) error {
		documents = tx.ToFinish(f.most) // so that one of them is not under way as long as there is room
		return nil
	})
	now := f.server.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range documents {
		if f.underWay[d.ID] {
			continue
		}
		if wait = d.FinishAt.Sub(now); wait > 0 {
			return wait, true
		}
		if len(f.underWay) == f.most {
			return 0, false // the end of a call wakes
		}
		f.underWay[d.ID] = true
		f.calls.Go(func() { f.finish(ctx, d) })
	}
	return 0, false
}

// finish makes one file.
func (f *finisher) finish(ctx context.Context, d signing.Document) {
	f.try(ctx, d)
	f.mu.Lock()
	delete(f.underWay, d.ID)
	f.tell()
	f.mu.Unlock()
	f.signal()
}

// tell wakes those who wait for a change. The caller holds mu.
func (f *finisher) tell() {
	close(f.done)
	f.done = make(chan struct{})
}

func (f *finisher) next() (d signing.Document, at time.Time, ok bool) {
	f.server.store.View(func(tx *store.Tx) error {
		d, at, ok = tx.NextToFinish()
		return nil
	})
	return d, at, ok
}

// errEnded is why a try failed that is the last one and was begun before.
var errEnded = errors.New("the program ended during the try")

// try makes one file, and stores it or its failure. The try is saved before it begins, and once there is room, so that one that waited
// for others when the program ended does not count. A call that the server's end breaks off has not failed.
func (f *finisher) try(ctx context.Context, d signing.Document) {
	var content []byte
	failure := errEnded
	if d.FinishTries < signing.FinishTriesMax {
		var begun bool
		if d, content, begun, failure = f.callInRoom(ctx, d); !begun {
			return
		}
	}
	if ctx.Err() != nil {
		f.save(ctx, func(tx *store.Tx) { tx.CountFinish(d.ID, signing.Document.TakeBackFinish) })
		return
	}
	if failure != nil {
		f.server.logger.Error("making a finished file", "document", d.ID, "try", d.FinishTries, "of", signing.FinishTriesMax, "error", failure)
	}
	file := signing.NewFile(content)
	f.save(ctx, func(tx *store.Tx) {
		tx.Finish(d.ID, func(d signing.Document, at time.Time) signing.Change {
			if failure != nil {
				return d.FinishFailed(failure.Error(), at)
			}
			return d.Finish(file, at)
		})
	})
}

// callInRoom waits for room, saves that a try begins, and makes the call. It reports whether the try began.
func (f *finisher) callInRoom(ctx context.Context, d signing.Document) (_ signing.Document, content []byte, begun bool, failure error) {
	if room := f.server.options.FinishRoom; room != nil {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-ctx.Done():
			return d, nil, false, nil
		}
	}
	due := false
	saved := f.save(ctx, func(tx *store.Tx) { d, due = tx.CountFinish(d.ID, signing.Document.BeginFinish) })
	if !saved || !due {
		return d, nil, false, nil
	}
	content, failure = f.call(ctx, d)
	return d, content, true, failure
}

// save makes a change and reports whether it was saved. It repeats one that was not, until ctx ends.
func (f *finisher) save(ctx context.Context, change func(tx *store.Tx)) (saved bool) {
	for {
		f.mu.Lock()
		retry := f.retry
		f.mu.Unlock()
		err := f.server.store.Update(func(tx *store.Tx) error {
			change(tx)
			return nil
		})
		if err == nil {
			return true
		}
		f.mu.Lock()
		f.failure = err
		f.failures++
		f.tell()
		f.mu.Unlock()
		select {
		case <-time.After(time.Second):
		case <-retry:
		case <-ctx.Done():
			return false
		}
	}
}

// call makes one file in a goroutine, and gives up when that goes on after its context has ended.
func (f *finisher) call(ctx context.Context, d signing.Document) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, finishWithin)
	defer cancel()
	type made struct {
		content []byte
		err     error
	}
	result := make(chan made, 1)
	go func() {
		content, err := f.make(ctx, d)
		result <- made{content, err}
	}()
	select {
	case m := <-result:
		return m.content, m.err
	case <-ctx.Done():
	}
	select {
	case m := <-result:
		return m.content, m.err
	case <-time.After(closing):
		return nil, errors.New("the call of Options.Finish goes on although its context has ended: it is left to itself")
	}
}

// make calls the program's function with the document and its PDF.
func (f *finisher) make(ctx context.Context, d signing.Document) (content []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	public := f.server.publicDocument(d)
	if public.PDF, err = f.server.content(ctx, "document "+d.ID, d.PDF); err != nil {
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

// wakeUp makes the finisher look at the clock again, and try again what was not saved.
func (f *finisher) wakeUp() {
	if f == nil {
		return
	}
	f.mu.Lock()
	close(f.retry)
	f.retry = make(chan struct{})
	f.mu.Unlock()
	f.signal()
}

// signal makes run look for documents that wait for a file.
func (f *finisher) signal() {
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
	f.mu.Lock()
	underWay := len(f.underWay)
	f.mu.Unlock()
	_, at, ok := f.next()
	return underWay > 0 || ok && !at.After(f.server.Now())
}

// settle returns when no file is due or under way, or the reason why that cannot happen.
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
			return delivery.ErrClosed
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
