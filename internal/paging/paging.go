// Package paging reads all pages of a list that may change meanwhile. Its inputs are the ids of records, their creation
// times, and the totals that the service reports; it does not use HTTP. [All] reads a list, and whole.go decides when the
// list is whole.
package paging

import (
	"context"
	"iter"
	"time"
)

// Request is what is asked for.
type Request struct{ Page, Limit int }

// ID is the id of a record, or its hash.
type ID [16]byte

// More is whether a response reports further pages.
type More uint8

const (
	MoreUnknown More = iota
	Promised
	NoMore
)

// Answer is the content of a page and of the response that has it.
type Answer struct {
	IDs      []ID
	Times    []time.Time // of the records, zero where they have none
	Now      time.Time   // when the response was made
	Total    *int        // records in the list
	Pages    *int        // the number of pages that the service reports for this limit
	More     More
	Nameless bool // a record has no id
	Refusal  Refusal
}

// Refusal is the reason for which a request may have been refused.
type Refusal uint8

const (
	NotRefused Refusal = iota
	Refused            // perhaps because of its limit or its page
	NoSuchPage         // or no such list
)

// State is the result of the reading so far.
type State uint8

const (
	Reading  State = iota
	Whole          // every record that was there all the time was seen
	Restless       // the list changes faster than it can be read
	Missing        // the service has more records than it lists, or may have
	Nameless       // a record has no id, and there are further pages, or may be
)

// Step is the result of one response. The last step of a list has a state other than Reading.
type Step[P any] struct {
	Page              P
	New               []int // the indexes of records that no earlier response contained
	State             State
	Yielded, Reported int // the records so far, and the least number of records that the service has reported
}

// All reads a list with pages of up to limit records, one at a time. An error of fetch ends the list. The exceptions are
// the refusal of a page past the end, and the refusal of a limit other than the first.
func All[P any](ctx context.Context, limit int, fetch func(context.Context, Request) (P, Answer, error)) iter.Seq2[Step[P], error] {
	return func(yield func(Step[P], error) bool) {
		w, r := newWalk(limit), Request{1, limit}
		for state := Reading; state == Reading; {
			content, a, err := fetch(ctx, r)
			if err != nil && (a.Refusal == NotRefused || r.Limit == limit && !w.isPastEnd(r, a.Refusal)) {
				yield(Step[P]{}, err)
				return
			}
			p, fresh := w.read.add(r, a)
			w.growth.note(a, fresh)
			r, state = w.evaluate(p, a)
			if a.Nameless && (state == Reading || w.read.requests > 1) { // without ids two records cannot be told apart, except in a list of one page
				state = Nameless
			}
			if !yield(Step[P]{content, fresh, state, w.read.count(), max(w.reports.least, w.pass.promised)}, nil) {
				return
			}
		}
	}
}
