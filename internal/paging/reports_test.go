package paging_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/paging"
)

// damaged is a service that leaves records out of its pages and counts them all the same.
type damaged struct {
	*list
	keeps func(r paging.Request, n int) int        // how many of the n records of a page it returns
	edits func(r paging.Request, a *paging.Answer) // what it reports otherwise; nil for nothing
	most  int                                      // the least number of records that its totals have reported
	pages int                                      // and its last number of pages
	more  int                                      // and its promises of a further page
	page  int                                      // records on its largest page so far
}

func (d *damaged) fetch(ctx context.Context, r paging.Request) ([]record, paging.Answer, error) {
	records, a, err := d.list.fetch(ctx, r)
	if err != nil {
		return nil, a, err
	}
	n := d.keeps(r, len(records))
	records, a.IDs, a.Times = records[:n], a.IDs[:n], a.Times[:n]
	if d.edits != nil {
		d.edits(r, &a)
	}
	d.page = max(d.page, n)
	size := min(r.Limit, d.page)
	if a.Total != nil {
		d.most = max(d.most, *a.Total)
	}
	if a.Pages != nil {
		d.pages = 0 // one page may be empty
		if *a.Pages > 1 {
			d.pages = (*a.Pages-1)*size + 1
		}
		d.more = max(d.more, d.pages)
	}
	if a.More == paging.Promised {
		d.more = max(d.more, (r.Page-1)*size+n+1)
	}
	return records, a, nil
}

// read returns how many records All finds, and how it ends.
func (d *damaged) read(t *testing.T, limit int) (found int, state paging.State) {
	t.Helper()
	for step, err := range paging.All(t.Context(), limit, d.fetch) {
		if err != nil { // a page in the middle was refused
			return found, paging.Missing
		}
		require.Less(t, d.requests, 2000, "it does not end")
		found, state = step.Yielded, step.State
	}
	return found, state
}

// TestAll_reportOfAnEarlierPage reads lists of which a page is always empty or short. Only responses other than the last
// report records that it lacks.
func TestAll_reportOfAnEarlierPage(t *testing.T) {
	pages := func(sizes ...int) func(paging.Request, int) int {
		return func(r paging.Request, n int) int {
			if r.Page > len(sizes) {
				return 0
			}
			return min(n, sizes[r.Page-1])
		}
	}
	lastEmpty := func(r paging.Request, n int) int {
		if r.Page*r.Limit >= 250 {
			return 0
		}
		return n
	}
	silent := func(when func(r paging.Request) bool) func(paging.Request, *paging.Answer) {
		return func(r paging.Request, a *paging.Answer) {
			if when(r) {
				a.Total, a.Pages, a.More = nil, nil, paging.MoreUnknown
			}
		}
	}
	afterFirst := silent(func(r paging.Request) bool { return r.Page > 1 })
	requests := 0
	tenAfterFirst := func(r paging.Request, n int) int {
		if r.Page > 1 {
			return min(n, 10)
		}
		return n
	}
	for _, c := range []struct {
		name    string
		service service
		records int
		limit   int
		keeps   func(paging.Request, int) int
		edits   func(paging.Request, *paging.Answer)
		found   int
	}{
		{name: "totalPages, page 2 of 3 empty", service: service{report: "totalPages"}, records: 250, limit: 100, keeps: pages(100, 0, 100), edits: nil, found: 150},
		{name: "totalPages, last page empty", service: service{report: "totalPages"}, records: 250, limit: 100, keeps: lastEmpty, edits: nil, found: 246},
		{name: "totalPages, all pages empty", service: service{report: "totalPages"}, records: 250, limit: 100, keeps: pages(), edits: nil, found: 0},
		{name: "totalPages, pages of 7, 1 and 0", service: service{report: "totalPages", refused: true}, records: 17, limit: 7, keeps: pages(7, 1, 0), edits: nil, found: 8},
		{name: "total, only on page 1, page 2 empty", service: service{report: "total"}, records: 250, limit: 100, keeps: pages(100, 0), edits: afterFirst, found: 100},
		{name: "total, only on page 1, page 2 short", service: service{report: "total"}, records: 250, limit: 100, keeps: pages(100, 30), edits: afterFirst, found: 130},
		{name: "total, only on page 1, page 2 short and without a next", service: service{report: "total"}, records: 150, limit: 100, keeps: tenAfterFirst, edits: func(r paging.Request, a *paging.Answer) {
			if r.Page > 1 {
				a.Total, a.Pages = nil, nil
			}
		}, found: 110},
		{name: "total, page 2 empty and its total 0", service: service{report: "total"}, records: 250, limit: 100, keeps: pages(100, 0), edits: func(r paging.Request, a *paging.Answer) {
			if r.Page > 1 {
				a.Total, a.Pages, a.More = new(0), new(0), paging.NoMore
			}
		}, found: 100},
		{name: "hasNextPage, page 1 again as page 2, which alone reports", service: service{report: "hasNextPage", stuck: true, extra: 243}, records: 7, limit: 100, keeps: pages(7, 7), edits: silent(func(r paging.Request) bool { return r.Page == 1 }), found: 7},
		{name: "totalPages, only in the third reading", service: service{report: "totalPages", refused: true}, records: 17, limit: 7, keeps: pages(7, 1, 0), edits: silent(func(paging.Request) bool {
			requests++
			return requests < 4
		}), found: 8},
		{name: "hasNextPage, only on page 1, page 2 empty", service: service{report: "hasNextPage"}, records: 250, limit: 100, keeps: pages(100, 0), edits: afterFirst, found: 100},
		{name: "hasNextPage, page 2 empty", service: service{report: "hasNextPage"}, records: 150, limit: 100, keeps: pages(100, 0), edits: nil, found: 100},
		{name: "hasNextPage, no page behind the first", service: service{report: "hasNextPage", fixed: 100, refused: true}, records: 150, limit: 100, keeps: pages(100, 0), edits: nil, found: 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &damaged{list: newList(rand.New(rand.NewPCG(1, 1)), c.service, c.records, 0), keeps: c.keeps, edits: c.edits}
			found, state := d.read(t, c.limit)
			require.Equal(t, c.found, found)
			require.NotEqual(t, paging.Whole, state, "%d of %d in %v", found, c.records, d.asked)
		})
	}
}

// TestAll_anyReport reads random lists that do not change and lack records. No list is whole with fewer records than any
// total or the last number of pages reported. If all requests have one limit, this also holds for any number of pages
// and for any report of a further page.
func TestAll_anyReport(t *testing.T) {
	lost, noticed := 0, 0
	for seed := range 20 * uint64(*runs) {
		rnd := rand.New(rand.NewPCG(seed, 12))
		limit := 1 + rnd.IntN(30)
		w := randomService(rnd)
		d := &damaged{list: newList(rnd, w, rnd.IntN(10*limit), 0)}
		d.extra = []int{0, 0, 0, rnd.IntN(20)}[rnd.IntN(4)]
		few, at := rnd.IntN(limit), make([]int, 1+rnd.IntN(3))
		for i := range at {
			at[i] = 1 + rnd.IntN(8)
		}
		last := rnd.IntN(4) == 0
		d.keeps = func(r paging.Request, n int) int {
			if slices.Contains(at, r.Page) || last && r.Page*cmp.Or(w.fixed, min(r.Limit, cmp.Or(w.pageCap, r.Limit))) >= len(d.records) {
				return min(n, few)
			}
			return n
		}
		if rnd.IntN(2) == 0 {
			silent := rnd.IntN(16)
			d.edits = func(r paging.Request, a *paging.Answer) {
				if silent>>(r.Page%4)&1 == 1 {
					a.Total, a.Pages, a.More = nil, nil, paging.MoreUnknown
				}
			}
		}
		found, state := d.read(t, limit)
		if found < len(d.records) {
			lost++
			if state != paging.Whole {
				noticed++
			}
		}
		most := max(d.most, d.pages)
		if w.refused {
			most = max(most, d.more)
		}
		if state == paging.Whole {
			require.GreaterOrEqual(t, found, min(most, len(d.records)), "seed %d: %+v, limit %d, of %d; %v", seed, w, limit, len(d.records), d.asked)
		}
	}
	t.Logf("%d lists lacked records, %d of them ended with an error", lost, noticed)
}
