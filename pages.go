package signforms

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"

	"github.com/google/uuid"
)

// allLimit is the page size of the All methods: the most that the service allows for documents.
const allLimit = 100

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Next is the number of the next page, to be asked for with the same parameters; 0 when this page is the last. Where the
	// service reports no pagination, only an empty page is the last.
	Next int
	// Message is the service's.
	Message string
	// Pagination is what the service reported; nil when it did not, as live answers often do not.
	Pagination *Pagination
	// DocumentsCount and FormCount are set for lists of documents only. Whether they count this page or all is not documented
	// by the service.
	DocumentsCount, FormCount int
	// Raw is the answer as it came.
	Raw RawAnswer `json:"-"`

	lacking func(kind error, message string) *Error // for the call that got the page
	more    more
	total   *int
}

// Pagination is what the service reported with a page; 0 and false also stand for what it left out.
type Pagination struct {
	CurrentPage int
	TotalPages  int
	// TotalItems counts the documents or responses of all pages. Respondents have none.
	TotalItems int
	// HasNextPage and HasPreviousPage come with form responses only.
	HasNextPage, HasPreviousPage bool
}

// more is what an answer tells about further pages.
type more uint8

const (
	moreUnknown more = iota
	morePromised
	noMore
)

// paginationField tells what was left out from what is zero.
type paginationField struct {
	CurrentPage     *int  `json:"currentPage"`
	TotalPages      *int  `json:"totalPages"`
	TotalDocuments  *int  `json:"totalDocuments"`
	TotalResponses  *int  `json:"totalResponses"`
	HasNextPage     *bool `json:"hasNextPage"`
	HasPreviousPage *bool `json:"hasPreviousPage"`
}

func newPage[T any](items []T, asked int, message string, f *paginationField, run *run) *Page[T] {
	p := &Page[T]{Items: items, Message: message, Raw: run.last.body, lacking: run.lacking}
	current := max(asked, 1)
	if f != nil {
		p.total = f.TotalDocuments
		if p.total == nil {
			p.total = f.TotalResponses
		}
		p.Pagination = &Pagination{value(f.CurrentPage), value(f.TotalPages), value(p.total), value(f.HasNextPage), value(f.HasPreviousPage)}
		if value(p.total) < len(items) { // it counts something else
			p.total = nil
		}
		p.more = f.more(current, len(items))
	}
	if p.more == morePromised || p.more == moreUnknown && len(items) > 0 {
		p.Next = current + 1
	}
	return p
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// more is unknown where the fields contradict each other: a page too many costs less than one too few.
func (f *paginationField) more(current, items int) more {
	var promised, denied bool
	if f.HasNextPage != nil {
		promised, denied = *f.HasNextPage, !*f.HasNextPage
	}
	if f.TotalPages != nil && (*f.TotalPages > 0 || items == 0) {
		promised, denied = promised || current < *f.TotalPages, denied || current >= *f.TotalPages
	}
	switch {
	case promised == denied:
		return moreUnknown
	case promised:
		return morePromised
	}
	return noMore
}

// only returns the item with the id that was asked for: a service that ignores the filter must not answer for another.
func (p *Page[T]) only(id string, idOf func(*T) string) (*T, error) {
	for i := range p.Items {
		if strings.EqualFold(idOf(&p.Items[i]), id) {
			return &p.Items[i], nil
		}
	}
	message := "the service has none with this id"
	if len(p.Items) > 0 {
		message = "the answer holds other ids, not the one asked for"
	}
	return nil, p.lacking(ErrNotFound, message)
}

// lister walks all pages of a list. fetch is called for one page at a time.
type lister[T any] struct {
	id    func(*T) string
	fetch func(ctx context.Context, page int) (*Page[T], error)
}

// fetched is a page on its way.
type fetched[T any] struct {
	done     chan struct{}
	page     *Page[T]
	err      error
	returned bool // else fetch panicked, or ended its goroutine as t.FailNow does
	panicked any
}

// wait returns when the page is there. The first time, it hands a panic in Options.OnAttempt over to the caller's goroutine.
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

func (l lister[T]) start(ctx context.Context, number int) *fetched[T] {
	f := &fetched[T]{done: make(chan struct{})}
	go func() {
		defer close(f.done)
		defer func() {
			if !f.returned {
				f.panicked = recover()
			}
		}()
		f.page, f.err = l.fetch(ctx, number)
		f.returned = true
	}()
	return f
}

// all yields every item once. The next page is fetched while the caller works on this one; leaving the loop cancels that
// and waits for it.
func (l lister[T]) all(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		next := l.start(ctx, 1)
		defer func() { cancel(); next.wait() }()
		var read coverage
		seen := seenIDs{}
		for number := 1; number > 0; {
			next.wait()
			if next.err != nil {
				yield(nil, next.err)
				return
			}
			items := next.page.Items
			fresh := make([]bool, len(items))
			nameless, progress := len(items) > 0, false
			for i := range items {
				id := l.id(&items[i])
				fresh[i] = id == "" || seen.add(id)
				nameless, progress = nameless && id == "", progress || fresh[i] && id != ""
			}
			more := next.page.more
			var err error
			if number, err = read.after(number, len(items), more, next.page.total, progress); number > 0 {
				next = l.start(ctx, number)
			} else if err == nil && nameless && more == moreUnknown {
				err = errors.New("the records have no id and the pages no pagination, so there may be more: ask for further pages by their number")
			}
			for i := range items {
				if fresh[i] && !yield(&items[i], nil) {
					return
				}
			}
			if err != nil {
				yield(nil, next.page.lacking(ErrUnavailable, err.Error()))
			}
		}
	}
}

// seenIDs keeps 16 bytes of each id.
type seenIDs map[[16]byte]struct{}

func (s seenIDs) add(id string) bool {
	key, err := uuid.Parse(id)
	if err != nil {
		sum := sha256.Sum256([]byte(id))
		copy(key[:], sum[:])
	}
	if _, ok := s[key]; ok {
		return false
	}
	s[key] = struct{}{}
	return true
}

// coverage knows which part of a list has been read although the list moves. Positions count from 0 in the list as it is
// now: when the reported total shrinks, what was read may have moved up by as much.
type coverage struct {
	size     int // records to a page, which the service may have capped
	covered  int // everything before this position has been read
	gapEnd   int // with a gap: where reading went on after it …
	tail     int // … and how far it came; 0 without a gap
	furthest int // the highest page read
	total    *int
	least    int // the lowest total so far
	idle     int // pages in a row without a new id or a lower total
}

// after takes note of a page and returns the number of the next one, 0 at the end.
func (c *coverage) after(number, items int, m more, total *int, progress bool) (int, error) {
	if c.size == 0 {
		c.size = items
	}
	if c.idle++; progress {
		c.idle = 0
	}
	c.shrink(total)
	c.add((number-1)*c.size, number*c.size)
	again := number <= c.furthest
	c.furthest = max(c.furthest, number)
	gap := c.tail > 0
	whole := total != nil && c.covered >= *total
	switch {
	case c.idle > c.furthest+10:
		return 0, fmt.Errorf("the list changes faster than it can be read: %d pages held nothing new; try again later, or with a narrower filter", c.idle)
	case gap:
	case m == noMore && (whole || total == nil), whole && (again || m == moreUnknown):
		return 0, nil
	case again, progress:
	case m == morePromised:
		return 0, fmt.Errorf("page %d holds nothing new, yet more pages are promised: ask for further pages by their number", number)
	default:
		return 0, nil
	}
	return c.covered/c.size + 1, nil
}

func (c *coverage) shrink(total *int) {
	if total == nil {
		return
	}
	if c.total == nil || *total < c.least { // a list that only shrinks is read in the end; one that swings may not be
		c.least, c.idle = *total, 0
	}
	if c.total != nil && *total < *c.total {
		by := *c.total - *total
		c.covered, c.tail = max(c.covered-by, 0), c.tail-by // gapEnd stays: the stretch behind it may not have moved at all
	}
	c.total = total
}

// add notes that the positions from start to end have been read. Reading always starts before gapEnd.
func (c *coverage) add(start, end int) {
	if c.tail > 0 && end >= c.gapEnd { // it came back to the stretch behind the gap
		end = max(end, c.tail)
	}
	if start > c.covered {
		c.gapEnd, c.tail = start, end
		return
	}
	c.covered, c.tail = end, 0 // a page is always read from where covered stands
}
