package paging_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/paging"
)

// randomService returns a service that obeys the page, with reports, orders, caps and quirks drawn at random.
func randomService(rnd *rand.Rand) service {
	one := func(n int) bool { return rnd.IntN(n) == 0 }
	w := service{report: []string{"total", "totalPages", "hasNextPage", "nothing", "larger total", "total on page 1", "true hasNextPage"}[rnd.IntN(7)]}
	w.oldest, w.torn, w.empty, w.clamped = one(2), one(4), one(4), one(8)
	if one(3) {
		w.ties, w.shuffled = 1+rnd.IntN(12), one(2)
	}
	switch rnd.IntN(5) {
	case 0:
		w.pageCap = 1 + rnd.IntN(20)
	case 1:
		w.fixed = 1 + rnd.IntN(20)
	case 2:
		w.refused = true
	}
	w.untimed = w.report == "total" && !w.shuffled && one(2) // otherwise only times show the growth, or the order
	return w
}

// TestAll_boundOfRequests reads lists of random services that grow at random speeds. A page is the smaller of the limit
// and the service's cap. If a list grows by less than a fifth of a page for each request, reading it takes at most about 100
// requests and five times the pages of all its records. A faster list takes at most 100 requests and 10 times the pages
// of the records that were reported or seen in its first 20 requests.
func TestAll_boundOfRequests(t *testing.T) {
	incomplete := 0
	for seed := range 2 * uint64(*runs) {
		rnd := rand.New(rand.NewPCG(seed, 13))
		limit := 1 + rnd.IntN(16)
		w := randomService(rnd)
		page := min(limit, cmp.Or(w.fixed, w.pageCap, limit))
		l := newList(rnd, w, rnd.IntN(10*limit), float64(page)*[]float64{0.05, 0.15, 0.3, 0.9, 2}[rnd.IntN(5)])
		l.weights = [3]float64{1, 0.5 * rnd.Float64() * rnd.Float64(), 0.05}
		before, early, seen := len(l.records), 0, map[int]bool{}
		fetch := func(ctx context.Context, r paging.Request) ([]record, paging.Answer, error) {
			records, a, err := l.fetch(ctx, r)
			if l.requests <= 20 {
				for _, r := range records {
					seen[r.n] = true
				}
				if a.Total != nil {
					early = max(early, *a.Total)
				}
				if a.Pages != nil {
					early = max(early, *a.Pages*cmp.Or(w.fixed, min(r.Limit, cmp.Or(w.pageCap, r.Limit))))
				}
			}
			return records, a, err
		}
		state := paging.Reading
		for step, err := range paging.All(t.Context(), limit, fetch) {
			if err != nil {
				break
			}
			require.Less(t, l.requests, 20000, "seed %d does not end: %+v, limit %d, %.2f changes a request", seed, w, limit, l.changes)
			state = step.State
		}
		if state != paging.Whole {
			incomplete++
		}
		slow, fast, most := 101+5*l.made/page, 101+10*max(early, len(seen))/page, 0
		switch growth := float64(len(l.records)-before) / float64(l.requests) / float64(page); {
		case growth < 0.2:
			most = slow
		case growth > 0.3:
			most = fast
		default:
			most = max(slow, fast)
		}
		assert.LessOrEqual(t, l.requests, most, "seed %d: %+v, limit %d, %.2f changes a request, from %d to %d records",
			seed, w, limit, l.changes, before, len(l.records))
	}
	t.Logf("%d of %d incomplete", incomplete, 2**runs)
}
