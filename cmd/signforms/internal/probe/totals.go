package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signforms/signforms-go"
)

func unmarshal(text []byte, v any) bool { return json.Unmarshal(text, v) == nil }

// counts are what an answer reports of the whole list. Fields are nil where it does not.
type counts struct {
	DocumentsCount *int
	Pagination     *struct{ CurrentPage, TotalPages, TotalDocuments *int }
}

// totals compares what the service counts with a page from which the number of all documents follows: the last, behind another.
func (r *run) totals(ctx context.Context) {
	if !r.paged || !r.limited {
		return
	}
	if r.behind.Status == 0 {
		r.behind = r.documents(ctx, params{Limit: r.size, Page: 2})
	}
	behind, first := r.behind, answer{page: page{records: r.sample}}
	// Some services answer a page beyond the last with the last.
	r.complete = behind.none() || behind.ok() && len(behind.records) < r.size && len(behind.records) == len(r.sample) && shared(behind.records, r.sample) == len(r.sample)
	if n := len(r.sample); n < r.size && apart(behind, first) {
		r.size, r.cut = n, true
	}
	limit, number := max(1, (len(r.sample)+1)/2), 2
	if !r.complete {
		if !apart(behind, first) {
			return
		}
		limit, number = r.size, 2
		if c := behind.counts; len(behind.records) == r.size { // further pages: the last by the service's count
			claimed := 0
			switch {
			case c.Pagination != nil && c.Pagination.TotalDocuments != nil:
				claimed = *c.Pagination.TotalDocuments
			case c.DocumentsCount != nil:
				claimed = *c.DocumentsCount
			}
			if number = (claimed + limit - 1) / limit; number < 3 {
				r.manyTotals(c, 2*r.size)
				return
			}
		}
	}
	p := params{Limit: limit, Page: number}
	if r.sorted {
		p.SortOrder, first = signforms.OldestFirst, r.up
	}
	if number > 2 { // what the ends of the list do not show, the middle may
		middle := p
		middle.Page = 2
		r.documents(ctx, middle)
	}
	last := r.documents(ctx, p)
	m := len(last.records)
	all := (number-1)*limit + m
	if !last.ok() || m == 0 || m > limit || shared(last.records, first.records[:min(limit, len(first.records))]) > 0 || r.complete && max(all, len(r.sample))-min(all, len(r.sample)) > 3 {
		return
	}
	if m == limit {
		p.Page++
		if after := r.documents(ctx, p); !after.none() && shared(after.records, last.records) < m {
			return
		}
	}
	r.compare(ctx, last, all, number)
}

// compare compares the counts of the last page with the number of all documents and of pages, and then with those of the other lists.
func (r *run) compare(ctx context.Context, last answer, all, number int) {
	c, m := last.counts, len(last.records)
	if c.DocumentsCount != nil && all > m {
		r.sayCount("documents count", *c.DocumentsCount == all, func(c counts) *int { return c.DocumentsCount },
			fmt.Sprintf("%d, of a page of %d out of %d", *c.DocumentsCount, m, all))
		r.report.Profile.CountPage = !slices.ContainsFunc(r.whole(), func(a answer) bool {
			n := a.counts.DocumentsCount
			return n == nil || *n != len(a.records)
		})
	} else if c.DocumentsCount == nil {
		r.say("documents count", CannotTell, "documentsCount is missing")
	}
	if t := c.Pagination; t != nil && all > m && (t.TotalDocuments != nil || t.TotalPages != nil) {
		right := (t.TotalDocuments == nil || *t.TotalDocuments == all) && (t.TotalPages == nil || *t.TotalPages == number)
		r.sayCount("totals", right, func(c counts) *int {
			if c.Pagination == nil {
				return nil
			}
			return c.Pagination.TotalDocuments
		}, fmt.Sprintf("of %d documents on %d pages", all, number))
		if r.outcomes["totals"].Outcome == Differs {
			r.ignoreTotals(ctx)
		}
	}
}

// sayCount notes whether a count that was right or wrong once counts all documents. Other lists of the run may contradict it: by a
// count far below the documents that were seen, or by another one.
func (r *run) sayCount(fact string, right bool, of func(counts) *int, seen string) {
	low, values := 0, map[int]bool{}
	for _, a := range r.seen {
		if n := of(a.counts); n != nil && a.only(shaping...) {
			if values[*n] = true; *n*2 < len(r.sample) {
				low++
			}
		}
	}
	switch {
	case low > 1:
		r.say(fact, Differs, "%d lists count fewer than half of the %d documents that one list holds", low, len(r.sample))
	case len(values) > 1:
		r.say(fact, CannotTell, "the count changes from list to list")
	default:
		r.check(fact, right, "%s", seen)
	}
}

// manyTotals judges counts that are lower than the documents that were seen.
func (r *run) manyTotals(c counts, seen int) {
	if c.DocumentsCount != nil && *c.DocumentsCount < seen {
		r.say("documents count", Differs, "%d, while at least %d were seen", *c.DocumentsCount, seen)
		r.report.Profile.CountPage = *c.DocumentsCount == r.size
	}
}

// ignoreTotals keeps Endpoint.IgnoreTotals if the SDK reads the documents that were seen with it, over two pages.
func (r *run) ignoreTotals(ctx context.Context) {
	limit := r.size
	if r.complete {
		limit = max(1, (len(r.sample)+1)/2)
	}
	tried := r.with(signforms.OpListDocuments, func(e *signforms.Endpoint) { e.IgnoreTotals = true })
	whole := r.ask(ctx, question{endpoints: tried, do: func(ctx context.Context, c *signforms.Client) (all page, err error) {
		for d, err := range c.Documents.All(ctx, params{Limit: limit}) {
			if err != nil {
				return page{}, err
			}
			if all.records = append(all.records, ofDocument(d)); len(all.records) > len(r.sample) {
				break
			}
		}
		return all, nil
	}})
	if whole.ok() && len(whole.records) >= len(r.sample) {
		r.report.Endpoints = tried
	}
}
