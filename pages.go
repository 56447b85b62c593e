package signforms

// This file reads the pages in responses. internal/paging/whole.go decides when a list is whole.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/internal/paging"
)

// allLimit is the default page size of the All methods. It is the largest that the service allows for documents.
const allLimit = 100

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Next is the number of the next page, or 0 on the last page. Request it with the same
	// parameters. If the service does not report pagination, only an empty page counts as the last
	// one.
	Next int
	// Total is the number of records in the whole list, as the service reports it. It is the total
	// of the pagination or, without that, documentsCount if that exceeds the records of this page.
	// It is nil if the service reports neither, or if [Endpoint].IgnoreTotals is set.
	Total *int
	// Time is the response's Date, the time of the service's clock; zero if the response has none.
	Time time.Time
	// Raw is the response as received.
	Raw RawResponse `json:"-"`

	errorOf func(kind error, message string) *Error // makes an error of the call that got the page; no *response, which fmt would print
	more    paging.More
	pages   *int   // totalPages
	old     string // text about the age of a cache's response; empty if it is not from a cache
}

// wirePage has the fields of every list except its records.
type wirePage struct {
	DocumentsCount *int            `json:"documentsCount"`
	Pagination     *wirePagination `json:"pagination"`
}

// wirePagination has pointers, so that a missing field differs from a zero.
type wirePagination struct {
	TotalPages     *int  `json:"totalPages"`
	TotalDocuments *int  `json:"totalDocuments"`
	TotalResponses *int  `json:"totalResponses"`
	HasNextPage    *bool `json:"hasNextPage"`
}

// page checks and sets the inputs of one page of a list. A maxLimit of 0 means that no maximum is documented.
func (c *request) page(page, limit, maxLimit int) {
	c.in.set("page", page)
	c.in.set("limit", limit)
	if page < 0 {
		c.add("Page", "must be 1 or more (0 means the first)")
	}
	if limit < 0 {
		c.add("Limit", "must be 1 or more (0 means the default)")
	}
	if maxLimit > 0 && limit > maxLimit {
		c.add("Limit", fmt.Sprintf("must be from 1 to %d (0 means the default)", maxLimit))
	}
}

// pageOf requests a page of a list. out is a struct with page, and with the records, *items, under
// the key name.
func pageOf[T any](ctx context.Context, c *caller, req request, out any, page *wirePage, name string, items *[]T) (*Page[T], error) {
	resp, err := c.perform(ctx, req, func(r *response) error {
		return r.readRecord(out, func() string { return page.missingList(name, *items != nil, r) })
	})
	if err != nil {
		return nil, err
	}
	return newPage(*items, *page, resp), nil
}

func newPage[T any](items []T, w wirePage, resp *response) *Page[T] {
	current := resp.pageNumber()
	p := &Page[T]{Items: items, Raw: resp.outcome.Body, errorOf: resp.errorOf}
	p.Time, _ = http.ParseTime(resp.outcome.Header.Get("Date"))
	if age(resp.outcome) > 0 {
		p.old = cacheText(resp.outcome)
	}
	if resp.c.operations[resp.op].IgnoreTotals {
		w = w.withoutTotals()
	}
	if f := w.Pagination; f != nil {
		p.Total = f.total()
		p.pages = f.TotalPages
		p.more = f.more(current, len(items))
	}
	if n := w.DocumentsCount; p.Total == nil && value(n) > len(items) { // documentsCount counts more than this page
		p.Total = n
	}
	if p.more == paging.Promised || p.more == paging.MoreUnknown && len(items) > 0 {
		p.Next = current + 1
	}
	return p
}

// withoutTotals returns w as if the service had reported no totals.
func (w wirePage) withoutTotals() wirePage {
	w.DocumentsCount = nil
	if w.Pagination != nil {
		w.Pagination = &wirePagination{HasNextPage: w.Pagination.HasNextPage}
	}
	return w
}

// missingList returns what is wrong with a response that lacks its list, or "".
func (w wirePage) missingList(name string, there bool, r *response) string {
	if there || w.provesEmpty(name, r) {
		return ""
	}
	return fmt.Sprintf("it has no %s, and does not report that there are none", name)
}

// provesEmpty reports whether a response without its list proves otherwise that the page is empty.
// Some services leave out an empty list. Others return an error, or a list under another name, with
// status 200.
func (w wirePage) provesEmpty(name string, r *response) bool {
	page, f := r.pageNumber(), w.Pagination
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
	var fields map[string]json.RawMessage
	if page == 1 || len(r.outcome.Body) > 4<<10 || json.Unmarshal(text(r.outcome), &fields) != nil {
		return false
	}
	for _, key := range append(pageKeys, name) {
		delete(fields, key)
	}
	return len(fields) == 0
}

// pageKeys are the keys that a response may have in addition to its list. A response with other
// keys may not be a list at all.
var pageKeys = []string{"message", "documentsCount", "formCount", "pagination", "success", "status", "statusCode", "code"}

func (f *wirePagination) total() *int { return cmp.Or(f.TotalDocuments, f.TotalResponses) }

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// more reports whether a further page is promised. If the fields of a page with records contradict
// each other, it counts the promise, because reading a page too many costs less than missing one.
func (f *wirePagination) more(current, items int) paging.More {
	if items > 0 && f.TotalPages != nil && *f.TotalPages == 0 { // no field is set
		return paging.MoreUnknown
	}
	promised := value(f.HasNextPage) || f.TotalPages != nil && current < *f.TotalPages
	denied := f.HasNextPage != nil && !*f.HasNextPage || f.TotalPages != nil && current >= *f.TotalPages
	switch {
	case promised && (items > 0 || !denied):
		return paging.Promised
	case denied && !promised:
		return paging.NoMore
	}
	return paging.MoreUnknown
}

// list reads all pages of a list, of up to limit records.
type list[T any] struct {
	limit int // 0: allLimit
	key   func(*T) (id string, created time.Time)
	fetch func(context.Context, paging.Request) (*Page[T], error)
}

// all yields every item once.
func (l list[T]) all(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		var lastPage *Page[T]
		yielded := 0
		for step, err := range paging.All(ctx, cmp.Or(l.limit, allLimit), l.readPage) {
			if err != nil {
				if e, ok := errors.AsType[*Error](err); ok && errors.Is(e, ErrIncomplete) {
					e.Yielded = yielded
				}
				yield(nil, err)
				return
			}
			yielded = step.Yielded
			if step.Page != nil {
				lastPage = step.Page
			}
			for _, i := range step.New {
				if !yield(&step.Page.Items[i], nil) {
					return
				}
			}
			if why := likelyCauses[step.State]; why != "" {
				yield(nil, lastPage.incomplete(step.Yielded, step.Reported, why))
			}
		}
	}
}

// readPage fetches a page, and returns with it what a walk needs of it.
func (l list[T]) readPage(ctx context.Context, r paging.Request) (*Page[T], paging.Answer, error) {
	p, err := l.fetch(ctx, r)
	switch {
	case err != nil:
		return nil, paging.Answer{Refusal: refusal(err)}, err
	case p.old != "":
		return nil, paging.Answer{}, p.errorOf(ErrIncomplete, p.old+"it may lack records")
	}
	a := paging.Answer{Total: p.Total, Pages: p.pages, More: p.more, Now: p.Time,
		IDs: make([]paging.ID, len(p.Items)), Times: make([]time.Time, len(p.Items))}
	if a.Now.IsZero() {
		a.Now = time.Now()
	}
	for i := range p.Items {
		id, created := l.key(&p.Items[i])
		a.IDs[i], a.Times[i] = recordID(id), created
		if id == "" { // with a missing id, a further page would end the list
			a.Nameless, a.IDs[i] = true, recordID(fmt.Sprint("\x00", i))
		}
	}
	return p, a, nil
}

// refusal reports whether the service refused a request, perhaps because of its limit or its page.
func refusal(err error) paging.Refusal {
	switch e := (*Error)(nil); {
	case !errors.As(err, &e) || e.StatusCode/100 != 4 || len(bytes.TrimSpace(e.Body)) == 0: // an empty response may come from a gateway
		return paging.NotRefused
	case errors.Is(err, ErrNotFound):
		return paging.NoSuchPage
	case errors.Is(err, ErrInvalid), errors.Is(err, ErrRefused):
		return paging.Refused
	}
	return paging.NotRefused
}

// incomplete returns the error at the end of a list that may lack records.
func (p *Page[T]) incomplete(yielded, reported int, why string) *Error {
	count := fmt.Sprintf("%d records", yielded)
	if yielded < reported {
		of := "of"
		if p.Total == nil {
			of = "of at least"
		}
		count = fmt.Sprintf("%d %s %d", yielded, of, reported)
	}
	e := p.errorOf(ErrIncomplete, count+"; "+why)
	e.Yielded, e.Reported = yielded, reported
	return e
}

// likelyCauses fit into the 200 bytes of a message, with a count.
var likelyCauses = map[paging.State]string{
	paging.Restless: "the list changes faster than it can be read, or its order differs in each request; " +
		"try again later, or with a narrower filter",
	paging.Missing: "a second reading found no more records; the service may ignore the page, or its total counts something else (see Endpoint)",
	paging.Nameless: "some records have no id, so All cannot tell a further page from a repeated one; " +
		"request further pages by their number",
}

// recordID returns the bytes of a UUID, whatever its letter case, and the hash of any other id.
func recordID(id string) paging.ID {
	if len(id) == 36 {
		if key, err := uuid.Parse(id); err == nil {
			return paging.ID(key)
		}
	}
	sum := sha256.Sum256([]byte(id))
	return paging.ID(sum[:])
}
