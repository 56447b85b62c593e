package signforms

import (
	"slices"
	"strconv"
	"strings"
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
	pages   *int // totalPages
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
		p.Pagination = &Pagination{value(f.CurrentPage), value(f.TotalPages), value(f.total()), value(f.HasNextPage), value(f.HasPreviousPage)}
	}
	if run.c.operations[run.call.op].IgnoreTotals {
		w = w.withoutTotals()
		p.count = nil
	}
	if f := w.Pagination; f != nil {
		p.total = f.total()
		p.pages = f.TotalPages
		p.more = f.more(current, len(items))
	}
	if p.more == morePromised || p.more == moreUnknown && len(items) > 0 {
		p.Next = current + 1
	}
	return p
}

// withoutTotals returns w as if the service had reported no totals.
func (w wirePage) withoutTotals() wirePage {
	w.DocumentsCount = nil
	if w.Pagination != nil {
		w.Pagination = &wirePagination{CurrentPage: w.Pagination.CurrentPage, HasNextPage: w.Pagination.HasNextPage}
	}
	return w
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

// more believes a promise when the fields of a page with records contradict each other: reading a page too many costs less than
// missing one.
func (f *wirePagination) more(current, items int) more {
	var promised, denied bool
	if unset := items > 0 && f.TotalPages != nil && *f.TotalPages == 0; f.HasNextPage != nil && !unset {
		promised, denied = *f.HasNextPage, !*f.HasNextPage
	}
	if f.TotalPages != nil && (*f.TotalPages > 0 || items == 0) {
		promised, denied = promised || current < *f.TotalPages, denied || current >= *f.TotalPages
	}
	switch {
	case promised == denied && (!promised || items == 0):
		return moreUnknown
	case promised:
		return morePromised
	}
	return noMore
}

// only returns the item with the id. A service that ignores the filter answers with other items: then nothing is known of this one.
func (p *Page[T]) only(id string, idOf func(*T) string) (*T, error) {
	for i := range p.Items {
		if strings.EqualFold(idOf(&p.Items[i]), id) {
			return &p.Items[i], nil
		}
	}
	if len(p.Items) > 0 {
		return nil, p.lacking(ErrUnavailable, "the filter was ignored: the answer holds other ids, not the one asked for")
	}
	if value(p.total) > 0 || p.more == morePromised {
		return nil, p.lacking(ErrUnavailable, "the answer contradicts itself: its list is empty, and it reports records")
	}
	return nil, p.lacking(ErrNotFound, "the service has none with this id")
}
