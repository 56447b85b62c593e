package probe

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
)

// direction returns 1 for oldest first, -1 for newest first, 2 for neither, and 0 when fewer than three different times or a time that
// cannot be read show nothing.
func direction(records []record) (sign int) {
	times := map[time.Time]bool{}
	for i, rec := range records {
		if times[rec.created] = true; rec.created.IsZero() {
			return 0
		}
		if i == 0 {
			continue
		}
		switch c := rec.created.Compare(records[i-1].created); {
		case c == 0:
		case sign == 0:
			sign = c
		case sign != c:
			return 2
		}
	}
	if len(times) < 3 {
		return 0
	}
	return sign
}

var directions = map[int]string{1: "oldest first", -1: "newest first", 2: "in no order of createdAt"}

// orders asks for both sort orders. The order without one was seen twice.
func (r *run) orders(ctx context.Context) {
	usual, first := direction(r.sample), direction(r.first.records)
	if usual == 0 {
		r.say("default order", CannotTell, "there are not three documents of different, readable times")
		r.say("sort orders", CannotTell, "there are not three documents of different, readable times")
		return
	}
	explained := r.otherwiseSorted()
	if explained != "" {
		r.say("default order", CannotTell, "%s, and so by %s too", directions[usual], explained)
	} else if first == 0 || first == usual {
		r.check("default order", usual == -1, "%s, of the first %d records", directions[usual], len(r.sample))
	}
	r.report.Profile.OldestFirst = usual == 1 && first != -1 && first != 2
	ask := func(o signforms.SortOrder) answer { return r.documents(ctx, params{SortOrder: o, Limit: r.size}) }
	r.up, r.down = ask(signforms.OldestFirst), ask(signforms.NewestFirst)
	up, down := r.up, r.down
	asc, desc := direction(up.records), direction(down.records)
	r.sorted = asc == 1 && desc == -1
	if explained != "" && r.sorted {
		r.say("sort orders", CannotTell, "asc: %s; desc: %s, and so by %s too", directions[asc], directions[desc], explained)
	} else if asc != 0 && desc != 0 && up.ok() && down.ok() {
		r.check("sort orders", r.sorted, "asc: %s; desc: %s, of %d records each", directions[asc], directions[desc], len(up.records))
	} else if up.refused() && down.refused() {
		r.say("sort orders", Differs, "asc: %s; desc: %s", up.short(), down.short())
	}
	if r.sorted {
		r.sortedWhole(ctx)
	} else if r.stop == nil && (up.refused() && down.refused() || up.ok() && down.ok() && asc == desc && asc == usual) {
		r.up, r.down = r.respell(ctx), answer{}
	}
}

// sortedWhole checks that the list is sorted before it is cut into pages. A page that is sorted afterwards shows the newest documents
// in both orders, and so does a service that sorts no more than the newest.
func (r *run) sortedWhole(ctx context.Context) {
	doubt := func(o Outcome, why string) {
		r.sorted = false
		r.say("sort orders", o, "%s", why)
	}
	up, down := r.up.records, r.down.records
	oldest := down[len(down)-1].created
	alone := 0 // in the page of asc and not in that of desc
	for _, rec := range up {
		if slices.Contains(ids(down), rec.id) {
			continue
		}
		if alone++; rec.created.After(oldest) {
			doubt(CannotTell, "asc begins with other documents than the oldest that were seen")
			return
		}
	}
	if alone > 0 {
		return
	}
	if !r.limited {
		doubt(CannotTell, "asc and desc list the same documents, which may be the newest alone")
		return
	}
	r.small = r.documents(ctx, params{SortOrder: signforms.OldestFirst, Limit: smallPage(len(r.sample))})
	for i, rec := range r.small.records {
		if i < len(up) && !rec.created.Equal(up[i].created) {
			newest := shared(r.small.records, down[:min(len(down), len(r.small.records))]) == len(r.small.records)
			doubt(ifThen(newest, Differs, CannotTell), "a small page of asc does not begin with the oldest document")
			return
		}
	}
	if len(up) >= r.size {
		if r.behind = r.documents(ctx, params{Limit: r.size, Page: 2}); !r.behind.none() {
			doubt(ifThen(apart(r.behind, r.up), Differs, CannotTell), "asc and desc list the same documents, and there are others")
		}
	}
}

// otherwiseSorted returns a field that changes on its own and puts the documents into the same order as createdAt, so that these cannot
// be told apart; or "".
func (r *run) otherwiseSorted() string {
	updated, up, down, own := true, true, true, false
	sign := direction(r.sample)
	for i, rec := range r.sample {
		own = own || !rec.doc.UpdatedAt.Equal(rec.created)
		if i > 0 {
			updated = updated && rec.doc.UpdatedAt.Compare(r.sample[i-1].doc.UpdatedAt)*sign >= 0
			c := cmp.Compare(rec.doc.DocumentName, r.sample[i-1].doc.DocumentName)
			up, down = up && c >= 0, down && c <= 0
		}
	}
	switch {
	case sign*sign != 1:
		return ""
	case updated && own && !r.sample[0].doc.UpdatedAt.IsZero():
		return "updatedAt"
	case (up || down) && r.sample[0].doc.DocumentName != r.sample[len(r.sample)-1].doc.DocumentName:
		return "documentName"
	}
	return ""
}

// respell looks for the service's own words for the sort orders.
func (r *run) respell(ctx context.Context) (up answer) {
	for _, words := range []map[string]string{{"asc": "ascending", "desc": "descending"}, {"asc": "ASC", "desc": "DESC"}, {"asc": "1", "desc": "-1"}} {
		if up = r.sortBy(ctx, func(e *signforms.Endpoint) { e.Values["sortOrder"] = words }); r.sorted {
			r.say("sort orders", Differs, "asc is called %s", words["asc"])
			return up
		}
	}
	for _, name := range []string{"sort", "order", "sortDirection"} {
		if up = r.sortBy(ctx, func(e *signforms.Endpoint) { e.Names["sortOrder"] = name }); r.sorted {
			r.say("sort orders", Differs, "sortOrder is called %s", name)
			return up
		}
	}
	return answer{}
}

// sortBy tries an endpoint, and keeps it when both orders come with it.
func (r *run) sortBy(ctx context.Context, change func(*signforms.Endpoint)) answer {
	tried := r.with(signforms.OpListDocuments, change)
	up := r.documentsBy(ctx, tried, params{SortOrder: signforms.OldestFirst, Limit: r.size})
	if direction(up.records) != 1 {
		return up
	}
	if down := r.documentsBy(ctx, tried, params{SortOrder: signforms.NewestFirst, Limit: r.size}); direction(down.records) == -1 {
		r.sorted, r.report.Endpoints = true, tried
	}
	return up
}
