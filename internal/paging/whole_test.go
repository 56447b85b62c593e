package paging_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/paging"
)

// What happens to a list before a request. Its first record is the newest.
func create(n int) func(*list) {
	return func(l *list) {
		for range n {
			l.create()
		}
	}
}

func leave(places ...int) func(*list) {
	return func(l *list) {
		for _, i := range places {
			l.outside = append(l.outside, l.records[i])
			l.records = slices.Delete(l.records, i, i+1)
		}
	}
}

// swap exchanges the eighth and the ninth record.
func swap(l *list) { l.records[7], l.records[8] = l.records[8], l.records[7] }

func comeBack(l *list) {
	l.insert(l.outside[0])
	l.outside = l.outside[1:]
}

type moves = map[int]func(*list)

// always is a move before each of many requests.
func always(move func(*list)) moves {
	m := moves{}
	for i := 2; i < 2000; i++ {
		m[i] = move
	}
	return m
}

// TestWhatIsAskedFor of small services, page/limit, and how their lists end.
func TestWhatIsAskedFor(t *testing.T) {
	ends := map[paging.State]string{paging.Whole: "whole", paging.Restless: "restless", paging.Missing: "missing"}
	for _, c := range []struct {
		name           string
		world          world
		records, limit int
		moves          moves
		want           string
	}{
		{"one page", world{report: "total"}, 9, 10, nil, "1/10 whole"},
		{"none", world{report: "total"}, 0, 10, nil, "1/10 whole"},
		{"none, and nothing told", world{report: "nothing"}, 0, 10, nil, "1/10 whole"},
		{"one full page", world{report: "total"}, 10, 10, nil, "1/10 1/16 whole"},
		{"one full page, of pages", world{report: "totalPages"}, 10, 10, nil, "1/10 1/16 whole"},
		{"last page short", world{report: "total"}, 95, 20, nil, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{"last page full", world{report: "total"}, 96, 20, nil, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{"one full page, and it is another list", world{report: "total", extra: -1}, 24, 23, moves{2: leave(0, 1, 2, 3)}, "1/23 2/21 2/15 whole"},
		{"nothing, capped, long", world{report: "nothing", pageCap: 10}, 1000, 100, nil, "1/100 ... 216 whole"},
		{"two pages", world{report: "total"}, 35, 20, nil, "1/20 2/18 whole"},
		{"totalPages", world{report: "totalPages"}, 95, 20, nil, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{"nothing", world{report: "nothing"}, 95, 20, nil, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 7/18 whole"},
		{"nothing, few", world{report: "nothing"}, 12, 20, nil, "1/20 2/20 whole"},
		{"nothing, sixteen", world{report: "nothing"}, 16, 20, nil, "1/20 2/14 3/14 whole"},
		{"nothing, last page repeated", world{report: "nothing", clamped: true}, 16, 100, nil, "1/100 2/14 3/14 whole"},
		{"nothing, last page with records of its own repeated", world{report: "nothing", clamped: true}, 105, 100, nil, "1/100 2/98 3/98 whole"},
		{"nothing, last page repeated, another enters at its end", world{report: "nothing", clamped: true, oldest: true}, 16, 100, always(func(l *list) { leave(0, 0)(l); create(2)(l) }), "1/100 ... 279 restless 572/0"},
		{"nothing, refused behind", world{report: "nothing", empty: true}, 95, 20, nil, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 7/18 whole"},
		{"total, refused behind", world{report: "total", empty: true}, 96, 20, nil, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{"pages of 3", world{report: "total"}, 33, 3, nil, "1/3 1/16 2/14 3/13 whole"},
		{"pages of 11", world{report: "total"}, 60, 11, nil, "1/11 2/9 2/16 3/15 4/14 5/13 whole"},
		{"capped", world{report: "total", pageCap: 10}, 45, 30, nil, "1/30 2/8 3/7 3/9 4/8 4/10 5/9 5/10 whole"},
		{"capped, hasNextPage", world{report: "hasNextPage", pageCap: 10}, 45, 30, nil, "1/30 2/8 3/7 3/9 4/8 4/10 5/9 5/10 whole"},
		{"capped, nothing", world{report: "nothing", pageCap: 17}, 60, 30, nil, "1/30 2/15 3/14 4/13 4/16 5/16 whole"},
		{"capped, totalPages, one by one", world{report: "totalPages", pageCap: 7}, 50, 1, nil, "1/1 ... 125 whole"},
		{"one time", world{report: "total", ties: 1000}, 60, 20, nil, "1/20 2/14 2/20 3/17 3/20 4/18 whole"},
		{"pairs of one time", world{report: "total", ties: 2}, 60, 20, nil, "1/20 2/17 3/15 3/20 4/19 whole"},
		{"seven of one time, six in the same order by accident", world{report: "hasNextPage", ties: 8}, 33, 16, moves{2: func(l *list) {
			leave(0, 0)(l)
			tied := l.records[7:15]
			copy(tied, append(tied[7:8:8], tied[:7]...))
		}}, "1/16 2/9 1/16 2/9 2/14 3/11 whole"},
		{"eight of one time, seven in the same order", world{report: "hasNextPage", ties: 8}, 33, 17, moves{2: leave(0, 0)}, "1/17 2/9 2/14 2/17 whole"},
		{"no times", world{report: "nothing", untimed: true}, 60, 20, nil, "1/20 2/18 3/17 4/16 5/16 whole"},
		{"total counts more", world{report: "total", extra: 5}, 45, 20, nil, "1/20 2/18 3/17 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 1/20 2/20 3/20 4/20 1/20 2/20 3/20 4/20 missing 45/50"},
		{"total counts less", world{report: "total", extra: -15}, 45, 20, nil, "1/20 2/18 3/17 whole"},
		{"stuck", world{report: "total", stuck: true}, 45, 20, nil, "1/20 2/18 missing 20/45"},
		{"stuck, all there", world{report: "total", stuck: true}, 20, 20, nil, "1/20 2/18 whole"},
		{"stuck, nothing", world{report: "nothing", stuck: true}, 45, 20, nil, "1/20 2/18 missing 20/0"},
		{"stuck, hasNextPage", world{report: "hasNextPage", stuck: true}, 45, 20, nil, "1/20 2/18 missing 20/37"},
		{"one leaves", world{report: "total"}, 95, 20, moves{2: leave(0)}, "1/20 2/18 2/15 3/14 3/20 4/19 5/18 6/17 whole"},
		{"three leave in front", world{report: "total"}, 95, 20, moves{3: leave(0, 0, 0)}, "1/20 2/18 3/17 3/14 3/20 4/19 5/18 6/17 whole"},
		{"three leave, nothing told", world{report: "nothing"}, 95, 20, moves{3: leave(0, 0, 0)}, "1/20 2/18 3/17 3/16 3/14 3/19 4/18 5/17 5/20 6/20 whole"},
		{"twenty-five leave, nothing told", world{report: "nothing"}, 40, 20, moves{2: leave(slices.Repeat([]int{0}, 25)...)}, "1/20 2/18 2/16 2/12 1/20 2/20 whole"},
		{"capped, a page enters", world{report: "nothing", pageCap: 17}, 60, 30, moves{2: create(15)}, "1/30 2/15 3/15 4/14 4/17 5/16 6/16 whole"},
		{"thirty leave", world{report: "hasNextPage"}, 195, 20, moves{5: leave(slices.Repeat([]int{0}, 30)...)}, "1/20 2/18 3/17 4/16 4/20 4/20 4/18 4/16 3/16 3/17 3/20 4/18 5/17 5/20 6/19 8/16 8/18 8/20 9/19 whole"},
		{"five enter", world{report: "total"}, 95, 20, moves{3: create(5)}, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{"thirty enter", world{report: "nothing"}, 95, 20, moves{3: create(30)}, "1/20 2/18 3/17 4/16 4/20 5/19 6/18 6/20 7/19 8/19 whole"},
		{"the end leaves", world{report: "nothing"}, 39, 20, moves{3: leave(38, 37, 36, 35)}, "1/20 2/18 3/17 4/17 whole"},
		{"becomes one page", world{report: "total"}, 25, 20, moves{2: leave(0, 0, 0, 0, 0, 0, 0, 0)}, "1/20 2/18 1/20 whole"},
		{"limits ignored", world{report: "total", fixed: 20}, 50, 25, nil, "1/25 2/18 1/25 2/25 3/25 whole"},
		{"limits ignored, full", world{report: "total", fixed: 20}, 60, 25, nil, "1/25 2/18 1/25 2/25 3/25 4/25 whole"},
		{"larger pages", world{report: "total", fixed: 50}, 120, 20, nil, "1/20 1/20 2/20 3/20 whole"},
		{"larger pages, nothing", world{report: "nothing", fixed: 50}, 120, 20, nil, "1/20 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{"limits ignored, hasNextPage", world{report: "hasNextPage", fixed: 20}, 50, 25, nil, "1/25 2/18 1/25 2/25 3/25 1/25 2/25 3/25 whole"},
		{"limits ignored, counts more", world{report: "total", fixed: 20, extra: 5}, 50, 25, nil, "1/25 2/18 1/25 2/25 3/25 4/25 1/25 2/25 3/25 4/25 missing 50/55"},
		{"limits refused", world{report: "total", refused: true}, 50, 20, nil, "1/20 2/18 1/20 2/20 3/20 whole"},
		{"limits refused, nothing", world{report: "nothing", refused: true}, 50, 20, nil, "1/20 2/18 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{"limits refused, one leaves", world{report: "total", refused: true}, 50, 20, moves{5: leave(0)}, "1/20 2/18 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{"limits refused, one leaves at the end of a pass", world{report: "total", refused: true}, 90, 20, moves{7: leave(0)}, "1/20 2/18 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 whole"},
		{"limits refused, enter in front", world{report: "hasNextPage", refused: true}, 50, 20, always(create(1)), "1/20 ... 148 restless 190/161"},
		{"limits refused, leave", world{report: "totalPages", refused: true}, 90, 20, moves{5: leave(0), 9: leave(3)}, "1/20 2/18 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 whole"},
		{"limits refused, one leaves and another enters", world{report: "total", refused: true}, 50, 20, moves{5: func(l *list) { leave(0)(l); create(1)(l) }}, "1/20 2/18 1/20 2/20 3/20 whole"},
		{"limits refused, one leaves and comes back", world{report: "hasNextPage", refused: true}, 50, 20, moves{5: leave(0), 6: comeBack}, "1/20 2/18 1/20 2/20 3/20 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{"limits refused, a record on two pages of each reading", world{report: "nothing", refused: true}, 20, 8, moves{4: swap, 5: swap, 7: swap, 8: swap}, "1/8 1/16 1/8 2/8 3/8 1/8 2/8 3/8 missing 19/0"},
		{"limits refused, last page repeated", world{report: "nothing", refused: true, clamped: true}, 24, 8, nil, "1/8 1/16 1/8 2/8 3/8 4/8 5/8 6/8 1/8 2/8 3/8 4/8 5/8 6/8 whole"},
		{"limits refused, always another", world{report: "total", refused: true}, 50, 20, always(func(l *list) { leave(1)(l); create(1)(l) }), "1/20 ... 113 restless 124/41"},
		{"limits refused, forty enter", world{report: "total", refused: true}, 100, 20, moves{5: create(20), 6: create(20)}, "1/20 2/18 1/20 2/20 3/20 4/20 5/20 6/20 7/20 8/20 1/20 2/20 3/20 4/20 5/20 6/20 7/20 8/20 whole"},
		{"limits refused, no page behind", world{report: "total", refused: true, empty: true}, 60, 20, nil, "1/20 2/18 1/20 2/20 3/20 4/20 whole"},
	} {
		l := newList(rand.New(rand.NewPCG(1, 1)), c.world, c.records, 0)
		l.moves = c.moves
		state, counts := paging.Reading, ""
		for step, err := range paging.All(t.Context(), c.limit, l.fetch) {
			require.NoError(t, err, c.name)
			state, counts = step.State, fmt.Sprintf(" %d/%d", step.Yielded, step.Reported)
		}
		if n := len(l.asked); n > 30 {
			l.asked = []string{l.asked[0], "...", fmt.Sprint(n)}
		}
		if state == paging.Whole {
			counts = ""
		}
		require.Equal(t, c.want, strings.Join(append(l.asked, ends[state]), " ")+counts, c.name)
	}
}
