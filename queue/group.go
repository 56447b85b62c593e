package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrClosed is matched by errors of a [Queue] after Close.
var ErrClosed = errors.New("queue: closed")

// maxGroup bounds how many writes share one transaction.
const maxGroup = 128

// operation is one write that waits to be committed.
type operation struct {
	ctx   context.Context
	do    func(*tx) error // runs in a transaction; nil if alone is set
	alone func() error    // runs between transactions
	lazy  bool            // need not be on the disk when it is done
	leave bool            // when ctx ends, the caller returns even if do is running, and reads nothing that do writes
	begun atomic.Bool     // set by the group when it starts the operation, or by the caller when it gives up before that
	done  chan error      // has room for one
}

// group commits several writes together. One goroutine takes all waiting writes and runs them in one transaction, so that they
// share one sync of the disk.
type group struct {
	commit  func(do func(*tx) error, lazy bool) error // runs one transaction
	shared  func(error) bool                          // reports whether an error is about the database instead of one write
	waiting chan *operation
	stop    chan struct{}
	once    sync.Once
	ended   chan struct{}
}

func newGroup(commit func(do func(*tx) error, lazy bool) error, shared func(error) bool) *group {
	g := &group{
		commit: commit, shared: shared,
		waiting: make(chan *operation, maxGroup), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go g.run()
	return g
}

// write returns when op is committed, when it has failed, or when its ctx has ended before op began. With op.leave it also returns
// when the ctx ends after op began. Then op may still be committed later.
func (g *group) write(op *operation) error {
	op.done = make(chan error, 1)
	select {
	case g.waiting <- op:
	case <-op.ctx.Done():
		return context.Cause(op.ctx)
	case <-g.stop:
		return ErrClosed
	}
	select {
	case err := <-op.done:
		return err
	case <-op.ctx.Done():
		if op.leave || op.begun.CompareAndSwap(false, true) {
			return context.Cause(op.ctx)
		}
	case <-g.ended:
	}
	select {
	case err := <-op.done:
		return err
	case <-g.ended:
	}
	select {
	case err := <-op.done:
		return err
	default:
		return ErrClosed
	}
}

// close waits for the transaction under way, refuses the other writes, and returns when the goroutine has ended.
func (g *group) close() {
	g.once.Do(func() { close(g.stop) })
	<-g.ended
}

func (g *group) run() {
	defer close(g.ended)
	for {
		select {
		case <-g.stop:
			return
		case op := <-g.waiting:
			g.process(op)
		}
	}
}

// process commits op and the writes that wait after it.
func (g *group) process(op *operation) {
	var batch []*operation
	for {
		switch {
		case op.ctx.Err() != nil:
			op.done <- context.Cause(op.ctx)
		case op.alone != nil:
			g.flush(batch)
			batch = nil
			if op.begun.CompareAndSwap(false, true) { // otherwise its caller has given up
				op.done <- op.alone()
			}
		case !op.begun.CompareAndSwap(false, true): // its caller has given up
		default:
			batch = append(batch, op)
		}
		if len(batch) == maxGroup {
			break
		}
		select {
		case op = <-g.waiting:
			continue
		default:
		}
		break
	}
	g.flush(batch)
}

// flush commits a batch. When one of its writes fails, it commits each by itself, so that no write fails because of another.
func (g *group) flush(batch []*operation) {
	if len(batch) == 0 {
		return
	}
	lazy := !slices.ContainsFunc(batch, func(op *operation) bool { return !op.lazy })
	err := g.commit(func(t *tx) error {
		for _, op := range batch {
			if err := op.do(t); err != nil {
				return err
			}
		}
		return nil
	}, lazy)
	if err != nil && len(batch) > 1 && !g.shared(err) {
		for _, op := range batch {
			op.done <- g.commit(op.do, op.lazy)
		}
		return
	}
	for _, op := range batch {
		op.done <- err
	}
}
