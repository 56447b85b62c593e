package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
)

func unmarshal(text []byte, v any) bool { return json.Unmarshal(text, v) == nil }

// counts are what an answer reports of the whole list. Fields are nil where it does not.
type counts struct {
	DocumentsCount *int
	Pagination     *pageCounts
}

type pageCounts struct{ CurrentPage, TotalPages, TotalDocuments *int }

// countsOf reads the counts of an answer by the exact names of its fields.
func countsOf(text []byte) (c counts) {
	list := object(text)
	all, pages := list["documentsCount"], object(list["pagination"])
	if pages != nil {
		c.Pagination = &pageCounts{}
		for name, into := range map[string]**int{"currentPage": &c.Pagination.CurrentPage, "totalPages": &c.Pagination.TotalPages, "totalDocuments": &c.Pagination.TotalDocuments} {
			if pages[name] != nil && !unmarshal(pages[name], into) {
				return counts{}
			}
		}
	}
	if all != nil && !unmarshal(all, &c.DocumentsCount) {
		return counts{}
	}
	return c
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
		if limit = r.size; len(behind.records) == limit { // further pages: the last by the service's count
			c := behind.counts
			claimed := c.DocumentsCount
			if c.Pagination != nil && c.Pagination.TotalDocuments != nil {
				claimed = c.Pagination.TotalDocuments
			}
			if claimed == nil {
				return
			}
			if number = (*claimed + limit - 1) / limit; number < 3 {
				if c.DocumentsCount != nil && *c.DocumentsCount < 2*r.size {
					r.say("documents count", Differs, "%d, while at least %d were seen", *c.DocumentsCount, 2*r.size)
					r.report.Profile.CountPage = *c.DocumentsCount == r.size
				}
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
	if !last.ok() || m == 0 || m > limit || shared(last.records, first.records[:min(limit, len(first.records))]) > 0 {
		return
	}
	if n := len(r.sample); r.complete && all != n {
		r.doubtTotals("%d documents on %d pages, and %d in one list", all, number, n)
		return
	}
	p.Page++
	if after := r.documents(ctx, p); !after.none() && shared(after.records, last.records) < m {
		r.doubtTotals("page %d has %d documents, and is not the last", number, m)
		return
	}
	if a, short := r.shortPage(all); short {
		r.doubtTotals("a list before the last page has %d documents: %s", len(a.records), a.request())
		return
	}
	r.compare(last, all, number)
}

func (r *run) doubtTotals(format string, args ...any) {
	r.say("documents count", CannotTell, format, args...)
	r.say("totals", CannotTell, format, args...)
}

// shortPage returns a list that has fewer documents than its page of all holds.
func (r *run) shortPage(all int) (short answer, found bool) {
	for _, a := range r.seen {
		first := ifThen(r.report.Endpoints[signforms.OpListDocuments].PagesFromZero, 0, 1)
		limit, page := 0, first
		fmt.Sscan(a.in["limit"], &limit)
		fmt.Sscan(a.in["page"], &page)
		if a.only(shaping...) && page >= first && limit > 0 && limit <= r.size && len(a.records) < min(limit, all-(page-first)*limit) {
			return a, true
		}
	}
	return answer{}, false
}

// compare compares the counts of the last page with the number of all documents and of pages, and then with those of the other lists.
func (r *run) compare(last answer, all, number int) {
	c, m := last.counts, len(last.records)
	if c.DocumentsCount != nil && all > m {
		r.sayCount("documents count", *c.DocumentsCount == all, func(c counts) *int { return c.DocumentsCount },
			fmt.Sprintf("%d, of a page of %d out of %d", *c.DocumentsCount, m, all))
		r.report.Profile.CountPage = !slices.ContainsFunc(r.whole(), func(a answer) bool {
			n := a.counts.DocumentsCount
			return n == nil || *n != len(a.records)
		})
	} else if c.DocumentsCount == nil {
		r.say("documents count", CannotTell, "documentsCount is missing or not a whole number")
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
			r.ignoreTotals()
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

// ignoreTotals keeps Endpoint.IgnoreTotals if a list counted fewer documents than had been seen by then. Where a service counts more,
// documents may be missing in its lists, and without its totals nobody would notice.
func (r *run) ignoreTotals() {
	known := map[string]bool{}
	for _, a := range r.whole() {
		for _, rec := range a.records {
			known[rec.id] = true
		}
		if p := a.counts.Pagination; p != nil && p.TotalDocuments != nil && *p.TotalDocuments < len(known) {
			r.report.Endpoints = r.with(signforms.OpListDocuments, func(e *signforms.Endpoint) { e.IgnoreTotals = true })
			return
		}
	}
}

// tryList takes back what was found about the list of documents if the SDK then lists less: each document that the run saw is looked
// for, and each that the SDK lists without. Of a long list this is the beginning.
func (r *run) tryList(ctx context.Context) {
	if !r.listChanged() {
		return
	}
	if errors.Is(r.stop, errEnough) { // what was kept for this is left
		r.stop = nil
	}
	before := maps.Clone(r.report.Endpoints)
	delete(before, signforms.OpListDocuments)
	if e, known := r.Options.Endpoints[signforms.OpListDocuments]; known {
		before[signforms.OpListDocuments] = e
	}
	p := params{Limit: r.most}
	want, _, _ := r.firstPages(ctx, before, p)
	got, whole, err := r.firstPages(ctx, r.report.Endpoints, p)
	for _, a := range r.whole() {
		want = append(want, a.records...)
	}
	if sign := direction(got); len(got) == 0 || !whole && sign*sign != 1 || slices.ContainsFunc(want, lost(got, whole)) {
		r.report.Endpoints = before
		return
	}
	r.listTried, r.listOf, r.listWhole, r.listErr = true, got, whole, err
}

// lost reports whether a list that the SDK read, whole or its beginning, has no record where that one would be.
func lost(got []record, whole bool) func(record) bool {
	found, sign := ids(got), direction(got)
	return func(rec record) bool {
		reached := whole || sign*sign == 1 && rec.created.Compare(got[len(got)-1].created) == -sign
		return reached && !slices.Contains(found, identity(rec))
	}
}

// listChanged reports whether the run found that the list of documents is asked for in another way than was known.
func (r *run) listChanged() bool {
	return !reflect.DeepEqual(r.report.Endpoints[signforms.OpListDocuments], r.Options.Endpoints[signforms.OpListDocuments])
}

// firstPages returns the documents that the SDK lists with few requests, and whether these are all. err is why it failed before.
func (r *run) firstPages(ctx context.Context, endpoints map[signforms.Operation]signforms.Endpoint, p params) (all []record, whole bool, err error) {
	kept := r.kept
	r.kept = max(kept, r.mostGets()-r.gets()-mostOfList)
	r.ask(ctx, question{endpoints: endpoints, do: func(ctx context.Context, c *signforms.Client) (page, error) {
		for d, failed := range c.Documents.All(ctx, p) {
			if err = failed; err != nil {
				return page{}, nil // it is no answer to one request
			}
			all = append(all, ofDocument(d))
		}
		whole = true
		return page{}, nil
	}})
	if r.kept = kept; errors.Is(r.stop, errEnough) {
		if err = nil; len(all) == 0 {
			err = errEnough
		}
		if r.gets() < r.mostGets()-kept {
			r.stop = nil
		}
	}
	return all, whole, err
}

// lacks says how many documents that answers of the run showed the SDK's list of all lacks; "" if none.
func (r *run) lacks() string {
	seen, lacking := map[string]bool{}, map[string]bool{}
	whole := false // a list that is not of archived documents alone, nor by an id, has one of them
	is := lost(r.listOf, r.listWhole)
	for _, a := range r.seen {
		for _, rec := range a.records {
			if documentLists(a) && (a.in["documentType"] == "PDF" || !isTemplate(rec)) {
				seen[identity(rec)] = true
				if is(rec) {
					lacking[identity(rec)] = true
					whole = whole || a.in["archive"] != "true" && a.in["documentId"] == ""
				}
			}
		}
	}
	switch {
	case len(lacking) == 0:
		return ""
	case whole:
		return fmt.Sprintf("whole lists lack %d of the %d documents that this run saw", len(lacking), len(seen))
	}
	return fmt.Sprintf("lists without archive=true leave out archived documents: %d of the %d that this run saw", len(lacking), len(seen))
}

// sayList lists the documents as a program does that uses what was found, and notes why that fails.
func (r *run) sayList(ctx context.Context) {
	if !r.listTried {
		r.listOf, r.listWhole, r.listErr = r.firstPages(ctx, r.report.Endpoints, params{Limit: r.most})
	}
	totals := r.outcomes["totals"]
	switch {
	case r.listErr == nil && !r.listWhole && totals.Outcome == Differs && !r.report.Endpoints[signforms.OpListDocuments].IgnoreTotals:
		r.report.List = "whole lists may end as incomplete (exit code 3), as totals differ; with ignoreTotals for list documents they do not count"
	case errors.Is(r.listErr, errEnough):
		r.report.List = "that the SDK lists all documents with it was not tried"
	case errors.Is(r.listErr, signforms.ErrIncomplete):
		r.report.List = "whole lists end as incomplete (exit code 3)"
		if _, _, err := r.firstPages(ctx, r.with(signforms.OpListDocuments, func(e *signforms.Endpoint) { e.IgnoreTotals = true }), params{Limit: r.most}); err == nil && totals.Outcome == Differs {
			r.report.List += ", but with ignoreTotals for list documents they do not; then nothing shows that documents are missing"
			r.note("totals", Differs, "%s; %s", totals.Seen, r.report.List)
		}
	case r.listErr != nil:
		r.report.List = "a list of all documents fails"
	case r.lacks() != "":
		r.report.List = r.lacks()
	case len(r.listOf) > assumedSize && r.outcomes["pages"].Outcome == CannotTell:
		r.report.List = "nothing shows that whole lists have all documents, as it is not known how pages count"
	case r.most > 0:
		r.report.List = fmt.Sprintf("lists need --limit %d, in Go Limit: pages of %d are refused", r.most, assumedLimit)
	}
	if r.listErr == nil && !r.listWhole {
		r.report.List += fmt.Sprintf("; the first %d documents were listed with it, and no more were asked for", len(r.listOf))
	}
	if r.templates.untyped() {
		r.report.List += "; lists of templates have other documents too"
	}
	r.report.List = strings.TrimPrefix(r.report.List, "; ")
	if errors.Is(r.stop, errEnough) { // of what was left for this
		r.stop = nil
	}
}
