package probe

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/signforms/signforms-go"
)

const (
	assumedSize   = 10   // of a page without a limit
	assumedLimit  = 100  // the largest
	furthestLimit = 1000 // the largest that is tried
)

type params = signforms.DocumentListParams

// identity is what a record is told apart by: its id, or all it has where there is none.
func identity(rec record) string {
	if rec.id == "" {
		return fmt.Sprintf("%q", rec.raw)
	}
	return rec.id
}

func ids(records []record) (all []string) {
	for _, rec := range records {
		all = append(all, identity(rec))
	}
	return all
}

func shared(a, b []record) (n int) {
	in := ids(b)
	for _, id := range ids(a) {
		if slices.Contains(in, id) {
			n++
		}
	}
	return n
}

// alike reports whether two answers are one part of a list. Of several records few may have moved in between.
func alike(a, b answer) bool {
	n := max(len(a.records), len(b.records))
	return a.ok() && b.ok() && n > 0 && shared(a.records, b.records)*5 >= n*3
}

// apart reports whether an answer is another part of the list than b.
func apart(a, b answer) bool {
	return a.ok() && len(a.records) > 0 && shared(a.records, b.records)*5 <= len(a.records)*2
}

// sizes finds out whether limit is obeyed, and how many documents a page has without one.
func (r *run) sizes(ctx context.Context) {
	one := r.documents(ctx, params{Limit: 1})
	several := len(r.first.records) > 1
	if several && one.ok() && len(one.records) > 1 {
		one = r.rename(ctx, "limit", []string{"pageSize", "perPage", "per_page", "page_size", "size", "take"}, "1", func(a answer) bool { return len(a.records) == 1 }, params{}, one)
		if len(one.records) == 1 {
			r.say("limit one", Differs, "limit is called %s", r.report.Endpoints[signforms.OpListDocuments].Names["limit"])
		}
	} else if several && one.ok() && len(one.records) == 1 {
		r.say("limit one", Holds, "1 document, of at least %d", len(r.first.records))
	}
	if one.refused() {
		r.say("limit one", Differs, "%s", one.short())
	}
	r.limited = several && len(one.records) == 1
	hundred := r.documents(ctx, params{Limit: assumedLimit})
	r.sample, r.size, r.hundred = r.first.records, max(1, len(r.first.records)), len(hundred.records)
	if hundred.ok() && len(hundred.records) >= len(r.sample) {
		r.sample, r.size = hundred.records, assumedLimit
	}
	if one.ok() && hundred.refused() {
		r.most = r.search(ctx, 1, assumedLimit)
	}
	r.pageSize(ctx)
}

// pageSize judges the page without a limit by two answers: the account may have grown, and replicas may have other sizes.
func (r *run) pageSize(ctx context.Context) {
	n := len(r.first.records)
	if n == 0 {
		return
	}
	if n == len(r.sample) && n <= assumedSize {
		r.say("page size", CannotTell, "no more than %d documents were seen", n)
		return
	}
	again := r.documents(ctx, params{Page: 1})
	if len(again.records) < n && shared(again.records, r.first.records) == 0 { // it may be the second page
		again = r.documents(ctx, params{})
	}
	if m := len(again.records); m != n {
		r.say("page size", ifThen(max(n, m) > assumedSize, Differs, CannotTell), "%d documents, and another time %d", n, m)
		return
	}
	r.check("page size", n == assumedSize, "%d documents, of at least %d", n, len(r.sample))
	if n != assumedSize && n < len(r.sample) {
		r.report.Profile.PageSize = n
	}
}

// search finds the largest accepted limit above yes, which is accepted, and below no, which is refused. It keeps the largest page
// as the sample.
func (r *run) search(ctx context.Context, yes, no int) (most int) {
	for no-yes > 1 && r.stop == nil {
		middle := (yes + no) / 2
		a := r.documents(ctx, params{}, "limit", strconv.Itoa(middle))
		switch {
		case a.ok():
			yes = middle
			if r.size = min(yes, assumedLimit); len(a.records) >= len(r.sample) && middle <= assumedLimit {
				r.sample = a.records
			}
		case a.refused():
			no = middle
		default:
			return 0
		}
	}
	r.documents(ctx, params{}, "limit", strconv.Itoa(no)) // what is refused now and then is no bound, as unsteady sees
	return yes
}

// largest finds out what happens to a limit of more than 100.
func (r *run) largest(ctx context.Context) {
	if r.most > 0 {
		r.say("largest limit", Differs, "%d is taken, and %d is refused", r.most, r.most+1)
		r.report.Profile.MaxLimit = r.most
	}
	if r.most > 0 || r.sample == nil {
		return
	}
	more := twice(func() answer { return r.documents(ctx, params{}, "limit", strconv.Itoa(assumedLimit+1)) })
	n := len(more.records)
	if more.refused() {
		r.documents(ctx, params{}, "limit", strconv.Itoa(assumedLimit+1)) // as in search
	}
	switch {
	case more.refused() && !more.invalid():
		r.say("largest limit", Differs, "101: %s", more.short())
	case r.report.Endpoints[signforms.OpListDocuments].Names["limit"] != "" && more.refused():
		r.say("largest limit", CannotTell, "limit itself is not obeyed; by its other name, 101: %s", more.short())
	case more.refused() && (r.hundred == assumedLimit || r.complete && r.hundred == len(r.sample)):
		r.say("largest limit", Holds, "101: %s; 100 gives %d documents", more.short(), r.hundred)
	case more.refused() && r.paged && r.limited && r.hundred > 0 && apart(r.behind, answer{page: page{records: r.sample}}):
		r.say("largest limit", Differs, "100 gives %d documents, and there are more", r.hundred)
	case more.refused():
		r.say("largest limit", CannotTell, "101: %s; 100 gives %d documents, and it is not known whether there are more", more.short(), r.hundred)
	case !more.ok():
	case !r.limited:
		r.say("largest limit", CannotTell, "limit is not known to be obeyed")
	case n > assumedLimit:
		r.beyond(ctx)
	case r.cut && n == r.size || r.limited && n == assumedLimit && r.paged && !r.complete:
		r.say("largest limit", Differs, "101 is taken for %d", n)
		r.report.Profile.CutLimit = true
		if n != assumedLimit {
			r.report.Profile.MaxLimit = n
		}
	default:
		r.say("largest limit", Differs, "101 is taken; with %d documents it cannot be seen what for", n)
	}
}

func (r *run) beyond(ctx context.Context) {
	far := r.documents(ctx, params{}, "limit", strconv.Itoa(furthestLimit))
	most := furthestLimit
	if far.refused() {
		most = r.search(ctx, assumedLimit+1, furthestLimit)
	}
	if r.size = assumedLimit; !far.ok() && !far.refused() || most == 0 {
		r.say("largest limit", Differs, "101 is taken too")
		return
	}
	r.report.Profile.MaxLimit = most
	r.say("largest limit", Differs, "%d is taken too", most)
}

// smallPage is the limit of a page that shows the beginning of n documents and leaves some for another. From 2 up, page and offset
// are told apart.
func smallPage(n int) int { return min(5, max(1, (n+1)/2)) }

// pages asks for pages 1 and 2, and for page 0 if page 1 is not the first. Oldest first, new documents move nothing.
func (r *run) pages(ctx context.Context) {
	p := params{}
	if r.limited {
		p.Limit = smallPage(len(r.sample))
	}
	if r.sorted {
		p.SortOrder = signforms.OldestFirst
	}
	r.documents(ctx, params{Limit: 1, Page: 1_000_000}) // an empty list
	for range 2 {                                       // what disagrees is asked once more
		if r.pagesOnce(ctx, p) {
			return
		}
	}
	r.say("pages", CannotTell, "pages 1 and 2 agree with no way of counting")
}

func (r *run) pagesOnce(ctx context.Context, p params) (told bool) {
	base := r.small
	if r.small = (answer{}); base.Status == 0 || !r.sorted {
		base = r.documents(ctx, p)
	}
	number := func(n string) answer { return r.documents(ctx, p, "page", n) }
	one, two := number("1"), number("2")
	if len(base.records) == 0 || !base.ok() || r.stop != nil {
		r.say("pages", CannotTell, "there are no documents, or they are not listed")
		return true
	}
	switch {
	case alike(one, base) && apart(two, base) && p.Limit == 1:
		r.say("pages", CannotTell, "with one document a page, page may be an offset")
	case alike(one, base) && two.ok() && shared(two.records, base.records) == 0:
		return r.pageZero(ctx, p, one)
	case one.ok() && !alike(one, base) && (apart(one, base) || len(one.records) == 0):
		if slices.ContainsFunc(r.seen, func(a answer) bool { return a.only("page") && a.in["page"] == "1" && alike(a, r.first) }) {
			r.say("pages", CannotTell, "page 1 is the first without sortOrder, and another with it")
			return true
		}
		if zero := number("0"); !alike(zero, base) || alike(number("1"), base) {
			return false
		}
		r.say("pages", Differs, "they count from 0")
		r.tryPages(ctx, p, base, func(e *signforms.Endpoint) { e.PagesFromZero = true })
	case alike(one, base) && alike(two, base):
		if again := number("3"); !alike(again, base) {
			return false
		}
		r.say("pages", Differs, "%s", ifThen(slices.Equal(ids(two.records), ids(base.records)), "page is not obeyed", "page 2 has most documents of page 1, as with an offset"))
		r.rename(ctx, "page", []string{"pageNumber", "pageNo", "page_number", "pageIndex", "currentPage", "p"}, "2", func(a answer) bool { return apart(a, base) }, p, base)
		if name := r.report.Endpoints[signforms.OpListDocuments].Names["page"]; name != "" {
			r.named(ctx, p, base, name)
		}
	default:
		return false
	}
	return true
}

// pageZero looks for a page before page 1, which is that without a page.
func (r *run) pageZero(ctx context.Context, p params, one answer) (told bool) {
	zero := r.documents(ctx, p, "page", "0")
	same := zero.ok() && len(zero.records) > 0 && zero.records[0].id == one.records[0].id
	switch {
	case same || zero.none() || zero.refused() || !zero.ok() && (zero.Status/100 == 2 || zero.Status == http.StatusInternalServerError):
		r.paged = true
		r.say("pages", Holds, "page 1 is that without a page, page 2 is another; page 0: %s", ifThen(same, "it begins like page 1", zero.short()))
	case zero.ok() && r.sorted && shared(zero.records, one.records) == 0 && !slices.MaxFunc(zero.records, byTime).created.After(one.records[0].created):
		r.say("pages", Differs, "they count from 0, and without a page the second is listed")
		r.tryPages(ctx, p, zero, func(e *signforms.Endpoint) { e.PagesFromZero = true })
		r.paged, r.second = false, true // what was asked without a page is not the beginning
	default:
		r.say("pages", CannotTell, "page 0 has other documents than page 1 begins with")
	}
	return true
}

func byTime(a, b record) int { return a.created.Compare(b.created) }

// named notes the name of page, and asks whether pages of that name count from 1.
func (r *run) named(ctx context.Context, p params, base answer, name string) {
	r.say("pages", Differs, "page is called %s", name)
	if r.tryPages(ctx, p, base, func(*signforms.Endpoint) {}); r.paged {
		return
	}
	if r.tryPages(ctx, p, base, func(e *signforms.Endpoint) { e.PagesFromZero = true }); r.paged {
		r.say("pages", Differs, "page is called %s, and counts from 0", name)
		return
	}
	r.report.Endpoints = r.with(signforms.OpListDocuments, func(e *signforms.Endpoint) { delete(e.Names, "page") })
}

// tryPages keeps a change of the endpoint if the SDK then gets the first page and another one.
func (r *run) tryPages(ctx context.Context, p params, base answer, change func(*signforms.Endpoint)) {
	tried := r.with(signforms.OpListDocuments, change)
	p.Page = 1
	one := r.documentsBy(ctx, tried, p)
	p.Page = 2
	two := r.documentsBy(ctx, tried, p)
	if alike(one, base) && (apart(two, base) || two.ok() && len(two.records) == 0) {
		r.paged, r.report.Endpoints = true, tried
	}
}

// rename looks for the service's name of an input that is not obeyed: first with all candidates at once. It keeps the name when the
// SDK's request with it has the effect, and returns the answer to that.
func (r *run) rename(ctx context.Context, input string, names []string, value string, effect func(answer) bool, p params, before answer) answer {
	ask := func(names []string) answer {
		var set []string
		for _, name := range names {
			set = append(set, name, value)
		}
		return r.documents(ctx, p, set...)
	}
	all := ask(names)
	if all.refused() { // one of them, as an unknown parameter
		at := slices.IndexFunc(names, func(name string) bool { return effect(ask([]string{name})) })
		names = names[max(at, 0):min(at+1, len(names))]
	}
	if len(names) == 0 || len(names) > 1 && !effect(all) {
		return before
	}
	for len(names) > 1 {
		half := names[:len(names)/2]
		if names = names[len(half):]; effect(ask(half)) {
			names = half
		}
	}
	tried := r.with(signforms.OpListDocuments, func(e *signforms.Endpoint) { e.Names[input] = names[0] })
	if a := r.documentsBy(ctx, tried, p, input, value); effect(a) {
		r.report.Endpoints = tried
		return a
	}
	return before
}
