package probe

import (
	"context"
	"slices"
)

// archived asks for archived documents, and for others where it seems that only this filter lists them.
func (r *run) archived(ctx context.Context) {
	r.archives = r.documents(ctx, params{Archived: new(true), Limit: r.size})
	if yes := r.archives; len(yes.records) > 0 && shared(yes.records, r.sample) == 0 {
		r.documents(ctx, params{Archived: new(false), Limit: r.size})
	}
}

// archive judges whether lists without the archive filter hold the archived documents that they reach.
func (r *run) archive() {
	known, filtered, in, out := map[string]record{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	strict := true // the filter lists the documents of its kind alone
	for _, a := range r.seen {
		for _, rec := range a.records {
			if !a.only(slices.Concat(shaping, filtering)...) {
				break
			}
			yes := a.in["archive"] == "true"
			id := identity(rec)
			if filtered[id] = filtered[id] || yes; rec.doc.IsArchived {
				known[id] = rec
			}
			strict = strict && (a.in["archive"] == "" || yes == rec.doc.IsArchived)
		}
	}
	listed := 0
	for _, a := range r.seen {
		for id, rec := range known {
			switch {
			case !a.only(append(shaping, "dateFrom", "dateTo")...):
			case slices.Contains(ids(a.records), id):
				if in[id] = true; filtered[id] {
					listed++
				}
			case r.reaches(a, rec):
				out[id] = true
			}
		}
	}
	switch {
	case len(in) > 0 && len(out) > 0:
		r.note("archive", CannotTell, "archived documents that are listed: %d; missing in lists that reach them: %d", len(in), len(out))
	case listed > 0:
		r.note("archive", Holds, "archived documents that are listed, wherever a list reaches them: %d", len(in))
	case len(in) > 0:
		r.note("archive", CannotTell, "the list has archived documents, and archive=true does not")
	case len(out) > 0:
		r.note("archive", Differs, "archived documents that are listed with archive=true, and in no list without it that was read: %d", len(out))
		r.report.Profile.HideArchived = strict
	case len(r.whole()) > 0:
		r.note("archive", CannotTell, "no archived document was seen in the part of the list that was read")
	}
}

// reaches reports whether a list without the archive filter would hold a document: it is between the first and the last of a sorted
// list, or before the first of the first page, or the list is that of all.
func (r *run) reaches(a answer, rec record) bool {
	sign, n := direction(a.records), len(a.records)
	if a.only("limit", "sortOrder") && r.complete && n >= len(r.sample) {
		return true
	}
	if sign*sign != 1 {
		return false
	}
	first, last := rec.created.Compare(a.records[0].created)*sign, rec.created.Compare(a.records[n-1].created)*sign
	return last < 0 && (first > 0 || a.only("limit", "sortOrder"))
}
