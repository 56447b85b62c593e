package signforms

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// allLimit is the default page size of the All methods. It is the largest that the service allows for documents.
const allLimit = 100

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Next is the number of the next page, 0 on the last one. Ask for it with the same parameters. Where the service reports no
	// pagination, only an empty page counts as the last.
	Next int
	// Message is the service's message.
	Message string
	// Pagination is what the service reported. It is nil when the answer has none, as live answers often do not.
	Pagination *Pagination
	// DocumentsCount and FormCount are set in lists of documents; 0 also when the answer has none. Whether they count this page
	// or all pages is not documented by the service.
	DocumentsCount, FormCount int
	// Raw is the answer as received.
	Raw RawAnswer `json:"-"`

	lacking func(kind error, message string) *Error // makes an error of the call that got the page
	more    more
	total   *int
	count   *int // documentsCount
}

// Pagination is what the service reported with a page. Fields that it left out are 0 or false.
type Pagination struct {
	CurrentPage int
	TotalPages  int
	// TotalItems counts the documents or responses of all pages. It is 0 for respondents.
	TotalItems int
	// HasNextPage and HasPreviousPage are set for form responses only.
	HasNextPage, HasPreviousPage bool
}

// more says whether an answer promises further pages.
type more uint8

const (
	moreUnknown more = iota
	morePromised
	noMore
)

// wirePage holds the fields that every list has beside its records.
type wirePage struct {
	Message        string          `json:"message"`
	DocumentsCount *int            `json:"documentsCount"`
	Pagination     *wirePagination `json:"pagination"`
}

// wirePagination has pointers, so that a missing field differs from a zero.
type wirePagination struct {
	CurrentPage     *int  `json:"currentPage"`
	TotalPages      *int  `json:"totalPages"`
	TotalDocuments  *int  `json:"totalDocuments"`
	TotalResponses  *int  `json:"totalResponses"`
	HasNextPage     *bool `json:"hasNextPage"`
	HasPreviousPage *bool `json:"hasPreviousPage"`
}

func newPage[T any](items []T, asked int, w wirePage, run *run) *Page[T] {
	current := max(asked, 1)
	p := &Page[T]{Items: items, Message: w.Message, Raw: run.last.body, lacking: run.lacking, count: w.DocumentsCount}
	if f := w.Pagination; f != nil {
		p.total = f.total()
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

// missingList returns what is wrong when an answer lacks its list; empty when nothing is.
func (w wirePage) missingList(name string, there bool, r *run) string {
	page, _ := strconv.Atoi(r.call.in.text("page"))
	if there || w.provesEmpty(max(page, 1), name, r.last.body) {
		return ""
	}
	return noList(name, r.last.body)
}

// provesEmpty reports whether an answer without its list shows otherwise that the page is empty. Some services leave out an
// empty list. Others answer an error, or a list under another name, with status 200.
func (w wirePage) provesEmpty(page int, name string, answer []byte) bool {
	f := w.Pagination
	if f == nil {
		f = &wirePagination{}
	}
	total := f.total()
	switch {
	case value(f.HasNextPage), value(f.TotalPages) >= max(page, 2):
		return false
	case page == 1 && (value(total) > 0 || value(w.DocumentsCount) > 0):
		return false
	case total != nil && *total == 0, w.DocumentsCount != nil && *w.DocumentsCount == 0, f.TotalPages != nil && page > *f.TotalPages:
		return true
	}
	return page > 1 && !slices.ContainsFunc(keysOf(answer), func(key string) bool {
		return key != name && !slices.Contains(pageKeys, key)
	})
}

// pageKeys are the keys beside a list. An answer with other keys may not be a list at all.
var pageKeys = []string{"message", "documentsCount", "formCount", "pagination", "success", "status", "statusCode", "code"}

func (f *wirePagination) total() *int {
	if f.TotalDocuments != nil {
		return f.TotalDocuments
	}
	return f.TotalResponses
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// more returns moreUnknown when the fields contradict each other: reading a page too many costs less than missing one.
func (f *wirePagination) more(current, items int) more {
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

// only returns the item with the id. A service that ignores the filter answers with other items, which are not returned.
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

// lister reads all pages of a list. It calls fetch for one page at a time.
type lister[T any] struct {
	id    func(*T) string
	fetch func(ctx context.Context, page int) (*Page[T], error)
}

// fetched is a page that is being fetched.
type fetched[T any] struct {
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

// all yields every item once. It fetches the next page while the caller works on this one. Leaving the loop cancels that
// fetch and waits until it has ended.
func (l lister[T]) all(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if ctx == nil {
			_, err := l.fetch(ctx, 1) // says so
			yield(nil, err)
			return
		}
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
			nameless, found := len(items) > 0, 0
			for i := range items {
				id := l.id(&items[i])
				fresh[i] = id == "" || seen.add(id)
				nameless = nameless && id == ""
				if fresh[i] && id != "" {
					found++
				}
			}
			more := next.page.more
			var err error
			if number, err = read.after(number, len(items), more, next.page.total, found); number > 0 {
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

// seenIDs is a set of ids, 16 bytes each.
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

// coverage tracks which part of a changing list has been read. Positions count from 0 in the list as it is now. When the
// reported total shrinks, records may have moved up by as many positions.
type coverage struct {
	size     int // page size, which the service may have capped
	covered  int // everything before this position has been read
	gapEnd   int // start of the part that was read behind a gap
	tail     int // end of that part; 0 when there is no gap
	furthest int // the highest page read
	total    *int
	least    int // the lowest total so far
	most     int // the highest total so far
	found    int // new ids so far
	idle     int // pages in a row without a new id or a lower total
}

// after records a page on which found ids were new, and returns the number of the next page, 0 at the end.
func (c *coverage) after(number, items int, m more, total *int, found int) (int, error) {
	progress := found > 0
	if c.size == 0 {
		c.size = items
	}
	if c.idle++; progress {
		c.idle = 0
	}
	c.shrink(total)
	total = c.believed(items, total, found)
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
	if c.total == nil || *total < c.least { // only a new minimum counts as progress: a total that swings would go on for ever
		c.least, c.idle = *total, 0
	}
	if c.total != nil && *total < *c.total {
		by := *c.total - *total
		c.covered, c.tail = max(c.covered-by, 0), c.tail-by // gapEnd stays: what is behind it need not have moved
	}
	c.total = total
}

// believed returns the total, or nil where it may count something else: more records were found than any total says, or the
// first page alone holds as many as the total.
func (c *coverage) believed(items int, total *int, found int) *int {
	c.found += found
	if total == nil {
		return nil
	}
	c.most = max(c.most, *total)
	if c.found > c.most || c.furthest == 0 && items == *total {
		return nil
	}
	return total
}

// add records that the positions from start to end have been read. start is always before gapEnd.
func (c *coverage) add(start, end int) {
	if c.tail > 0 && end >= c.gapEnd { // the gap is closed
		end = max(end, c.tail)
	}
	if start > c.covered {
		c.gapEnd, c.tail = start, end
		return
	}
	c.covered, c.tail = end, 0 // start is at or before covered here
}
