package probe_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
)

// cutting takes the documents of a list that keep does not keep out of it, after it was cut into pages. The counts stay.
func cutting(n int, keep func(f *imitation, q url.Values, i int, id any) bool) func(*imitation) {
	return func(f *imitation) {
		f.n = n
		f.list = func(q url.Values, body map[string]any) {
			var kept = []any{}
			for i, d := range body["documents"].([]any) {
				if keep(f, q, i, d.(fakeDocument)["documentId"]) {
					kept = append(kept, d)
				}
			}
			body["documents"] = kept
		}
	}
}

// hidden leaves out every fourth document between two.
func hidden(n, from, to int) func(*imitation) {
	return cutting(n, func(f *imitation, _ url.Values, _ int, id any) bool {
		for i := from; i < to; i += 4 {
			if f.id(i) == id {
				return false
			}
		}
		return true
	})
}

// zeroFirst counts pages from 0 and takes 1 for a page that is left out.
func zeroFirst(n int) func(*imitation) {
	return func(f *imitation) {
		f.n, f.pages = n, "zero"
		asking(func(q url.Values) {
			if !q.Has("page") {
				q.Set("page", "1")
			}
		})(f)
	}
}

// shortLists are services whose lists have fewer documents than asked for, in some of their pages.
var shortLists = []another{
	{"old ones left out of their pages", hidden(250, 10, 50), []string{"totals", "documents count"}, nil},
	{"old ones left out of their pages, of 1,000", hidden(1000, 14, 500), []string{"totals", "documents count"}, nil},
	{"page 2 of at most 50", cutting(300, func(_ *imitation, q url.Values, i int, _ any) bool { return q.Get("page") != "2" || i < 50 }), nil, []string{"pages"}},
	{"page 2 of at most 99", cutting(300, func(_ *imitation, q url.Values, i int, _ any) bool { return q.Get("page") != "2" || i < 99 }), nil, nil},
	{"half of page 2", cutting(150, func(_ *imitation, q url.Values, i int, _ any) bool {
		return q.Get("page") != "2" || i < (number(q, "limit", 10)+1)/2
	}), nil, nil},
	{"pages from 0, the second without a page", zeroFirst(64), []string{"pages"}, slices.DeleteFunc(slices.Clone(everyFact), func(id string) bool {
		return id != "totals" && id != "documents count" && id != "default order" && id != "page size" && id != "archive"
	})},
	{"pages from 0, the second without a page, of 1,000", zeroFirst(1000), []string{"pages"}, nil},
	{"no more than 20 beside a date", asking(func(q url.Values) {
		if q.Has("dateFrom") && number(q, "limit", 10) > 20 && number(q, "limit", 10) <= 100 {
			q.Set("limit", "20")
		}
	}), []string{"largest limit"}, nil},
	{"no more than 30 beside a page", asking(func(q url.Values) {
		if q.Has("page") && number(q, "limit", 10) > 30 && number(q, "limit", 10) <= 100 {
			q.Set("limit", "30")
		}
	}), nil, nil},
	{"page 2 begins within page 1", func(f *imitation) { f.n, f.pages = 130, "overlap" }, []string{"pages"}, []string{"totals", "documents count"}},
	{"three records of each document", func(f *imitation) { f.n, f.records = 40, 3 }, []string{"id filter", "pages", "page size", "largest limit"}, []string{"totals", "documents count"}},
	{"two records of each document", func(f *imitation) { f.records = 2 }, []string{"id filter", "pages", "page size", "largest limit"}, []string{"totals", "documents count"}},
	{"one date alone is ignored", asking(func(q url.Values) {
		if q.Has("dateFrom") != q.Has("dateTo") {
			q.Del("dateFrom")
			q.Del("dateTo")
		}
	}), theDates[2:], nil},
	{"two documents missing at limit=100", lacking(2), []string{"largest limit"}, []string{"totals", "documents count"}},
	{"pages of tens, whatever limit", func(f *imitation) { f.pages = "tens" }, nil, []string{"pages"}},
}

// lacking leaves out some documents of the largest page.
func lacking(few int) func(*imitation) {
	return cutting(64, func(f *imitation, q url.Values, _ int, id any) bool {
		return q.Get("limit") != "100" || id != f.id(40) && (few < 2 || id != f.id(41)) && (few < 3 || id != f.id(42))
	})
}

// Where the pages hold another number of documents than one list, the last page does not show how many there are.
func TestCountsAreInDoubtWhereListsDisagree(t *testing.T) {
	for few := 1; few < 4; few++ {
		f := &imitation{}
		lacking(few)(f)
		rep, err := probed(t, f, false)
		require.NoError(t, err)
		require.Subset(t, factsWith(rep, probe.CannotTell), []string{"largest limit", "totals", "documents count"}, show(rep))
	}
}

// typed calls documentType type.
func typed(f *imitation) {
	templates(func(fakeDocument) {})(f)
	asking(func(q url.Values) {
		q.Del("documentType")
		if q.Has("type") {
			q.Set("documentType", q.Get("type"))
		}
	})(f)
}

// What makes the SDK's list end early is not printed, nor what hides that documents are missing.
func TestNoLiteralShortensTheList(t *testing.T) {
	ignore := map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {IgnoreTotals: true}}
	zero := map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {PagesFromZero: true}}
	named := map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {Names: map[string]string{"page": "pageNumber"}}}
	none := map[signforms.Operation]signforms.Endpoint{}
	for name, a := range map[string]struct {
		is   func(*imitation)
		want map[signforms.Operation]signforms.Endpoint
	}{
		"page 2 of at most 50": {shortLists[2].is, none},
		"page 2 of at most 99": {shortLists[3].is, none},
		"half of page 2":       {shortLists[4].is, none},
		"one more is counted": {edited(func(_ *imitation, _ url.Values, body map[string]any) {
			p := body["pagination"].(map[string]any)
			p["totalDocuments"] = p["totalDocuments"].(int) + 1
		}), none},
		"the page is counted":              {func(f *imitation) { f.totals = "page" }, ignore},
		"pages from 0":                     {zeroFirst(64), zero},
		"pages from 0, of 1,000":           {zeroFirst(1000), zero},
		"page has another name":            {func(f *imitation) { f.n, f.pages = 250, "named" }, named},
		"page has another name, and skips": {skipping, none},
		"page has another name, and no first": {func(f *imitation) {
			f.pages = "named"
			asking(func(q url.Values) {
				if q.Has("pageNumber") {
					q.Set("pageNumber", strconv.Itoa(number(q, "pageNumber", 0)+2))
				}
			})(f)
		}, none},
		"documentType has another name": {typed, map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {
			Names: map[string]string{"documentType": "type"},
		}}},
		"much has another name": {func(f *imitation) {
			f.n, f.pages, f.limits, f.filters, f.sorts, f.dates = 230, "named", "named", "named", "ascending", "unix"
		}, map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {
			Names:  map[string]string{"documentId": "docId", "limit": "pageSize", "page": "pageNumber"},
			Values: map[string]map[string]string{"sortOrder": {"asc": "ascending", "desc": "descending"}},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &imitation{n: 64}
			a.is(f)
			rep, err := probed(t, f, false)
			require.NoError(t, err)
			require.Equal(t, a.want, rep.Endpoints, show(rep))
			if len(a.want) > 0 {
				listsWhole(t, f, rep.Endpoints)
			}
		})
	}
}

// The report says where the SDK's list of all documents fails with what was found, or what it needs.
func TestReportSaysWhyAListFails(t *testing.T) {
	for name, a := range map[string]struct {
		is   func(*imitation)
		want string
	}{
		"as assumed":     {func(f *imitation) {}, ""},
		"pages from 0":   {func(f *imitation) { f.pages = "zero" }, ""},
		"limit up to 50": {func(f *imitation) { f.limits = "refused" }, "lists need --limit 50"},
		"pages ignored":  {func(f *imitation) { f.pages = "ignored" }, "incomplete (exit code 3)"},
		"one more counted": {edited(func(_ *imitation, _ url.Values, body map[string]any) {
			p := body["pagination"].(map[string]any)
			p["totalDocuments"] = p["totalDocuments"].(int) + 1
		}), "but with ignoreTotals for list documents they do not"},
		"64 of 100": {func(f *imitation) {
			unordered64(f)
			f.totals = "absent"
		}, "whole lists lack 36 of the 100 documents that this run saw"},
		"archived are hidden": {func(f *imitation) { f.archived = "hidden" }, "lists without archive=true leave out archived documents: 13 of the 130 that this run saw"},
		"archived are hidden, and not marked": {func(f *imitation) {
			documents(func(_ int, d fakeDocument) { delete(d, "isArchived") })(f)
			f.archived = "hidden"
		}, "lists without archive=true leave out archived documents: 13 of the 130 that this run saw"},
		"archived are hidden, and come with other filters": {func(f *imitation) {
			f.ask = func(r *http.Request) { f.archived = map[bool]string{false: "hidden"}[r.URL.Query().Has("dateFrom")] }
		}, "of the 130 documents that this run saw"},
		"1,000 documents": {func(f *imitation) { f.n = 1000 }, "the first 400 documents were listed with it, and no more were asked for"},
		"a key banned":    {banning, "the right key was refused too, after a wrong one: 403"},
		"documentType ignored": {func(f *imitation) {
			templates(func(fakeDocument) {})(f)
			asking(func(q url.Values) { q.Del("documentType") })(f)
		}, "lists of templates have other documents too"},
		"429 for an hour": {func(f *imitation) {
			f.gate = func(*http.Request) error {
				if f.count > 15 {
					return fakeError{429, "too many requests", "rate_limited"}
				}
				return nil
			}
		}, "that the SDK lists all documents with it was not tried"},
		"500 more counted": {func(f *imitation) { f.totals = "wrong" }, "may end as incomplete (exit code 3), as totals differ"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &imitation{n: 130}
			a.is(f)
			rep, err := probed(t, f, false)
			require.NoError(t, err)
			require.Contains(t, rep.List, a.want, show(rep))
			require.Equal(t, a.want == "", rep.List == "", rep.List)
		})
	}
}

// skipping calls page pageNumber, counts nothing, and leaves the oldest document out where there is no order.
func skipping(f *imitation) {
	cutting(130, func(f *imitation, q url.Values, _ int, id any) bool { return q.Has("sortOrder") || id != f.id(0) })(f)
	f.pages, f.totals = "named", "absent"
}

// banning refuses each key once a wrong one came.
func banning(f *imitation) {
	banned := false
	f.ask = func(r *http.Request) { banned = banned || r.Header.Get("X-Api-Key") != fakeKey }
	f.gate = func(*http.Request) error {
		if banned {
			return fakeError{403, "no such key", "forbidden"}
		}
		return nil
	}
}
