// Package paging reads all pages of a list that may change meanwhile. It knows the ids of records, the times at which they
// were made, and what the service tells of the whole list; nothing of HTTP. Start with [All].
package paging

import (
	"context"
	"iter"
	"runtime"
	"time"
)

// Request is what is asked for.
type Request struct{ Page, Limit int }

// ID is the id of a record, or its hash.
type ID [16]byte

// More says whether an answer promises further pages.
type More uint8

const (
	MoreUnknown More = iota
	Promised
	NoMore
)

// Answer is what a page and its answer say.
type Answer struct {
	IDs      []ID
	Times    []time.Time // of the records, zero where they have none
	Total    *int        // records in the list
	Pages    *int        // that the service counts with this limit
	More     More
	Nameless bool // a record has no id
	Refusal  Refusal
}

// Refusal says why a request may have been refused.
type Refusal uint8

const (
	NotRefused Refusal = iota
	Refused            // perhaps for its limit, or its page
	NoSuchPage         // or no such list
)

// State is what is known of a list.
type State uint8

const (
	Reading  State = iota
	Whole          // every record that was there all the time was seen
	Restless       // the list changes faster than it can be read
	Missing        // the service has more records than it lists, or may have
	Nameless       // a record has no id, and there are further pages, or may be
)

// Step is what an answer adds. The last step of a list has another state than Reading.
type Step[P any] struct {
	Page              P
	New               []int // the places of records that no answer had before
	State             State
	Yielded, Reported int // records, so far and according to the service: the least number that the last answer stands for
}

// fetched is a page that is being fetched.
type fetched[P any] struct {
	Request
	done     chan struct{}
	page     P
	answer   Answer
	err      error
	returned bool // else fetch panicked, or ended its goroutine as t.FailNow does
	panicked any
}

func start[P any](ctx context.Context, r Request, fetch func(context.Context, Request) (P, Answer, error)) *fetched[P] {
	f := &fetched[P]{Request: r, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer func() {
			if !f.returned {
				f.panicked = recover()
			}
		}()
		f.page, f.answer, f.err = fetch(ctx, r)
		f.returned = true
	}()
	return f
}

// wait returns when the fetch has ended. Its first call passes a panic of a hook or the Transport
// on to the caller's goroutine.
func (f *fetched[P]) wait() {
	if <-f.done; f.returned {
		return
	}
	f.returned = true
	if f.panicked != nil {
		panic(f.panicked)
	}
	runtime.Goexit()
}

// All reads a list with pages of up to limit records. It calls fetch for one page at a time, and fetches the next while the
// caller works on this one. Leaving the loop cancels that fetch and waits until it has ended. An error of fetch ends the list,
// unless the answer is a refusal that the list can go on after.
func All[P any](ctx context.Context, limit int, fetch func(context.Context, Request) (P, Answer, error)) iter.Seq2[Step[P], error] {
	return func(yield func(Step[P], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		next := start(ctx, Request{1, limit}, fetch)
		defer func() { cancel(); next.wait() }()
		w := newWalk(limit)
		for state := Reading; state == Reading; {
			next.wait()
			got, request := next, Request{}
			if got.err != nil && !w.mayRefuse(got.Request, got.answer.Refusal) {
				yield(Step[P]{}, got.err)
				return
			}
			fresh := w.unseen(got.answer.IDs)
			if request, state = w.read(got.Request, got.answer); state == Reading {
				next = start(ctx, request, fetch)
			}
			if !yield(Step[P]{got.page, fresh, state, len(w.seen), w.least}, nil) {
				return
			}
		}
	}
}
