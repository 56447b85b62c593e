// Package paging reads all pages of a list that may change meanwhile. It knows the ids of records, when they were made,
// and what the service tells of the whole list, but not HTTP. [All] reads a list; whole.go decides when it is whole.
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
	Now      time.Time   // when the response was made
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

// All reads a list with pages of up to limit records, one at a time. An error of fetch ends the list, unless it is a
// refusal of a page behind the end, or of another limit than the first.
func All[P any](ctx context.Context, limit int, fetch func(context.Context, Request) (P, Answer, error)) iter.Seq2[Step[P], error] {
	return func(yield func(Step[P], error) bool) {
		w, r := &walk{limit: limit, seen: map[ID]mark{}, period: 1, pass: pass{number: 1}, overlap: 2}, Request{1, limit}
		for state := Reading; state == Reading; {
			page, a, err := fetch(ctx, r)
			if err != nil && (a.Refusal == NotRefused || r.Limit == limit && !w.isBehind(r, a.Refusal)) {
				yield(Step[P]{}, err)
				return
			}
			fresh := w.unseen(a)
			r, state = w.read(r, a)
			if a.Nameless && (state == Reading || w.requests > 1) { // a record may be another, but for a list of one page
				state = Nameless
			}
			if !yield(Step[P]{page, fresh, state, len(w.seen), max(w.least, w.promised)}, nil) {
				return
			}
		}
	}
}
