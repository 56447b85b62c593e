package probe

import (
	"context"
	"encoding/json"

	"github.com/signforms/signforms-go"
)

func unmarshal(text []byte, v any) bool { return json.Unmarshal(text, v) == nil }

// counts are what an answer reports of the whole list. Fields are nil where it does not.
type counts struct {
	DocumentsCount *int
	Pagination     *struct{ CurrentPage, TotalPages, TotalDocuments *int }
}

func countsOf(a answer) (c counts) {
	if !unmarshal(a.raw, &c) {
		return counts{}
	}
	return c
}

// pagination checks whether lists of documents come with pagination.
func (r *run) pagination() {
	if len(r.first.records) == 0 {
		return
	}
	_, there := object(r.first.raw)["pagination"]
	p := countsOf(r.first).Pagination
	switch {
	case p != nil && (p.TotalPages != nil || p.TotalDocuments != nil || p.CurrentPage != nil):
		r.say("pagination", Holds, "it is there")
	case there:
		r.say("pagination", CannotTell, "it has none of the fields that the SDK reads")
	default:
		r.say("pagination", Differs, "it is missing")
		r.report.Profile.NoPagination = true
	}
}

// totals compares what the service counts with a page from which the number of all documents follows: the last, behind another.
func (r *run) totals(ctx context.Context) {
	if !r.paged || !r.limited {
		return
	}
	behind := r.documents(ctx, params{Limit: r.size, Page: 2})
	r.complete = behind.ok() && len(behind.records) == 0
	if n := len(r.sample); n < r.size && apart(behind, answer{page: page{records: r.sample}}) {
		r.size, r.cut = n, true
	}
	limit, number := max(1, (len(r.sample)+1)/2), 2
	if !r.complete {
		limit, number = r.size, 2
		if c := countsOf(behind); len(behind.records) == r.size { // further pages: the last by the service's count
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
		p.SortOrder = signforms.OldestFirst
	}
	last := r.documents(ctx, p)
	m := len(last.records)
	if !last.ok() || m == 0 || m > limit {
		return
	}
	all := (number-1)*limit + m
	if m == limit {
		p.Page++
		if after := r.documents(ctx, p); !after.ok() || len(after.records) > 0 {
			return
		}
	}
	c := countsOf(last)
	if c.DocumentsCount != nil && all > m {
		r.check("documents count", *c.DocumentsCount == all, "%d, of a page of %d out of %d", *c.DocumentsCount, m, all)
		r.report.Profile.CountPage = *c.DocumentsCount == m
	} else if c.DocumentsCount == nil {
		r.say("documents count", CannotTell, "documentsCount is missing")
	}
	if t := c.Pagination; t != nil && all > m && (t.TotalDocuments != nil || t.TotalPages != nil) {
		documents := t.TotalDocuments == nil || *t.TotalDocuments == all
		pages := t.TotalPages == nil || *t.TotalPages == number
		if r.check("totals", documents && pages, "of %d documents on %d pages", all, number); !documents || !pages {
			r.ignoreTotals(ctx)
		}
	}
}

// manyTotals judges counts that are lower than the documents that were seen.
func (r *run) manyTotals(c counts, seen int) {
	if c.DocumentsCount != nil && *c.DocumentsCount < seen {
		r.say("documents count", Differs, "%d, while at least %d were seen", *c.DocumentsCount, seen)
		r.report.Profile.CountPage = *c.DocumentsCount == r.size
	}
}

// ignoreTotals keeps Endpoint.IgnoreTotals if the SDK reads the whole list with it, and not without.
func (r *run) ignoreTotals(ctx context.Context) {
	if !r.complete {
		return
	}
	whole := func(e map[signforms.Operation]signforms.Endpoint) answer {
		return r.ask(ctx, question{endpoints: e, do: func(ctx context.Context, c *signforms.Client) (all page, err error) {
			for d, err := range c.Documents.All(ctx, params{Limit: r.size}) {
				if err != nil {
					return page{}, err
				}
				all.records = append(all.records, ofDocument(d))
			}
			return all, nil
		}})
	}
	tried := r.with(signforms.OpListDocuments, func(e *signforms.Endpoint) { e.IgnoreTotals = true })
	if !whole(nil).ok() && len(whole(tried).records) >= len(r.sample) {
		r.report.Endpoints = tried
	}
}
