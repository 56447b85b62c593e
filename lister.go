package signforms

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"
)

// lister reads all pages of a list, of up to limit records. It calls fetch for one page at a time.
type lister[T any] struct {
	limit int
	id    func(*T) string
	at    func(*T) time.Time // of creation
	fetch func(context.Context, pageRequest) (*Page[T], error)
}

// fetched is a page that is being fetched.
type fetched[T any] struct {
	pageRequest
	done     chan struct{}
	page     *Page[T]
	err      error
	returned bool // else fetch panicked, or ended its goroutine as t.FailNow does
	panicked any
}

// wait returns when the fetch has ended. Its first call passes a panic of a hook or the Transport
// on to the caller's goroutine.
func (f *fetched[T]) wait() {
	if <-f.done; f.returned {
		return
	}
	f.returned = true
	if f.panicked != nil {
		panic(f.panicked)
	}
	runtime.Goexit()
}

func (l lister[T]) start(ctx context.Context, r pageRequest) *fetched[T] {
	f := &fetched[T]{pageRequest: r, done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer func() {
			if !f.returned {
				f.panicked = recover()
			}
		}()
		f.page, f.err = l.fetch(ctx, r)
		f.returned = true
	}()
	return f
}

// all yields every item once. It fetches the next page while the caller works on this one. Leaving the loop cancels that
// fetch and waits until it has ended.
func (l lister[T]) all(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if ctx == nil {
			_, err := l.fetch(ctx, pageRequest{1, l.limit}) // says so
			yield(nil, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		next := l.start(ctx, pageRequest{1, l.limit})
		defer func() { cancel(); next.wait() }()
		w := newWalk(l.limit)
		var lacking func(error, string) *Error
		for state := reading; state == reading; {
			next.wait()
			if refused(next.err) && w.behind(next.pageRequest) { // some services refuse a page behind the last
				next.page, next.err = &Page[T]{total: w.total, lacking: lacking}, nil
			}
			if refused(next.err) && next.limit != l.limit {
				next = l.start(ctx, w.withoutLimit())
				continue
			}
			if next.err != nil {
				yield(nil, next.err)
				return
			}
			page := next.page
			lacking = page.lacking
			a := l.answer(next)
			fresh := w.unseen(a.ids)
			var request pageRequest
			if request, state = w.read(a); l.nameless(page) && page.more != noMore {
				state = nameless
			}
			if state == reading {
				next = l.start(ctx, request)
			}
			for _, i := range fresh {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if state != reading && state != whole {
				yield(nil, page.incomplete(w, state))
			}
		}
	}
}

// refused reports whether the service did not take a request, perhaps for its limit.
func refused(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.StatusCode/100 == 4 && (errors.Is(err, ErrInvalid) || errors.Is(err, ErrRefused) || errors.Is(err, ErrNotFound))
}

// answer returns what a walk needs of a page.
func (l lister[T]) answer(f *fetched[T]) pageAnswer {
	a := pageAnswer{pageRequest: f.pageRequest, total: f.page.total, pages: f.page.pages, more: f.page.more,
		ids: make([]recordID, len(f.page.Items)), times: make([]time.Time, len(f.page.Items))}
	for i := range f.page.Items {
		item := &f.page.Items[i]
		a.ids[i], a.times[i] = newRecordID(l.id(item)), l.at(item)
		if l.id(item) != "" {
			continue
		}
		content, _ := json.Marshal(item)                                  // of strings, numbers, times and JSON that was decoded
		for n := 0; n == 0 || slices.Contains(a.ids[:i], a.ids[i]); n++ { // two may be the same
			a.ids[i] = newRecordID(fmt.Sprint(n, string(content)))
		}
	}
	return a
}

// nameless reports whether no record of a page has an id: then nobody can tell a page from the same page again.
func (l lister[T]) nameless(p *Page[T]) bool {
	return len(p.Items) > 0 && !slices.ContainsFunc(p.Items, func(item T) bool { return l.id(&item) != "" })
}

// incomplete is the error at the end of a list that may lack records.
func (p *Page[T]) incomplete(w *walk, state walkState) *Error {
	yielded, reported := len(w.seen), w.reported
	count := fmt.Sprintf("%d records", yielded)
	if yielded < reported {
		of := "of"
		if p.total == nil {
			of = "of at least"
		}
		count = fmt.Sprintf("%d %s %d", yielded, of, reported)
	}
	e := p.lacking(ErrIncomplete, count+": "+likelyCauses[state])
	e.Yielded, e.Reported = yielded, reported
	return e
}

// likelyCauses fit into the 200 bytes of a message, with a count.
var likelyCauses = map[walkState]string{
	restless: "the list changes faster than it can be read, or comes in another order each time: try again later, or with a narrower filter",
	missing:  "a second look found no more: the service may ignore the page, count pages from 0, or count something else: see Endpoint",
	nameless: "they have no id, so a further page cannot be told from the same again: ask for further pages by their number",
}

// newRecordID returns a UUID as it is, in any case of its letters, and the hash of any other id.
func newRecordID(id string) recordID {
	if len(id) == 36 {
		if key, err := uuid.Parse(id); err == nil {
			return recordID(key)
		}
	}
	sum := sha256.Sum256([]byte(id))
	return recordID(sum[:])
}
