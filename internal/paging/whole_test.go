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

// Changes of a list before a request. Its first record is the newest.
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

// TestAll_requests of small services, page/limit, and how their lists end.
func TestAll_requests(t *testing.T) {
	ends := map[paging.State]string{paging.Whole: "whole", paging.Restless: "restless", paging.Missing: "missing"}
	for _, c := range []struct {
		name           string
		service        service
		records, limit int
		moves          moves
		want           string
	}{
		{name: "one page", service: service{report: "total"}, records: 9, limit: 10, moves: nil, want: "1/10 whole"},
		{name: "none", service: service{report: "total"}, records: 0, limit: 10, moves: nil, want: "1/10 whole"},
		{name: "none, and nothing told", service: service{report: "nothing"}, records: 0, limit: 10, moves: nil, want: "1/10 whole"},
		{name: "one full page", service: service{report: "total"}, records: 10, limit: 10, moves: nil, want: "1/10 1/16 whole"},
		{name: "one full page, of pages", service: service{report: "totalPages"}, records: 10, limit: 10, moves: nil, want: "1/10 1/16 whole"},
		{name: "last page short", service: service{report: "total"}, records: 95, limit: 20, moves: nil, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{name: "last page full", service: service{report: "total"}, records: 96, limit: 20, moves: nil, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{name: "one full page, and it is another list", service: service{report: "total", extra: -1}, records: 24, limit: 23, moves: moves{2: leave(0, 1, 2, 3)}, want: "1/23 2/21 2/15 whole"},
		{name: "nothing, capped, long", service: service{report: "nothing", pageCap: 10}, records: 1000, limit: 100, moves: nil, want: "1/100 ... 216 whole"},
		{name: "totalPages, long", service: service{report: "totalPages"}, records: 10000, limit: 20, moves: nil, want: "1/20 ... 733 whole"},
		{name: "two pages", service: service{report: "total"}, records: 35, limit: 20, moves: nil, want: "1/20 2/18 whole"},
		{name: "totalPages", service: service{report: "totalPages"}, records: 95, limit: 20, moves: nil, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{name: "nothing", service: service{report: "nothing"}, records: 95, limit: 20, moves: nil, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 7/18 whole"},
		{name: "nothing, few", service: service{report: "nothing"}, records: 12, limit: 20, moves: nil, want: "1/20 2/20 whole"},
		{name: "nothing, sixteen", service: service{report: "nothing"}, records: 16, limit: 20, moves: nil, want: "1/20 2/14 3/14 whole"},
		{name: "nothing, last page repeated", service: service{report: "nothing", clamped: true}, records: 16, limit: 100, moves: nil, want: "1/100 2/14 3/14 whole"},
		{name: "nothing, last page with records of its own repeated", service: service{report: "nothing", clamped: true}, records: 105, limit: 100, moves: nil, want: "1/100 2/98 3/98 whole"},
		{name: "nothing, last page repeated, another enters at its end", service: service{report: "nothing", clamped: true, oldest: true}, records: 16, limit: 100, moves: always(func(l *list) { leave(0, 0)(l); create(2)(l) }), want: "1/100 ... 279 restless 572/0"},
		{name: "nothing, refused behind", service: service{report: "nothing", empty: true}, records: 95, limit: 20, moves: nil, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 7/18 whole"},
		{name: "total, refused behind", service: service{report: "total", empty: true}, records: 96, limit: 20, moves: nil, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{name: "pages of 3", service: service{report: "total"}, records: 33, limit: 3, moves: nil, want: "1/3 1/16 2/14 3/13 whole"},
		{name: "pages of 11", service: service{report: "total"}, records: 60, limit: 11, moves: nil, want: "1/11 2/9 2/16 3/15 4/14 5/13 whole"},
		{name: "capped", service: service{report: "total", pageCap: 10}, records: 45, limit: 30, moves: nil, want: "1/30 2/8 3/7 3/9 4/8 4/10 5/9 5/10 whole"},
		{name: "capped, hasNextPage", service: service{report: "hasNextPage", pageCap: 10}, records: 45, limit: 30, moves: nil, want: "1/30 2/8 3/7 3/9 4/8 4/10 5/9 5/10 whole"},
		{name: "capped, nothing", service: service{report: "nothing", pageCap: 17}, records: 60, limit: 30, moves: nil, want: "1/30 2/15 3/14 4/13 4/16 5/16 whole"},
		{name: "capped, totalPages, one by one", service: service{report: "totalPages", pageCap: 7}, records: 50, limit: 1, moves: nil, want: "1/1 ... 125 whole"},
		{name: "one time", service: service{report: "total", ties: 1000}, records: 60, limit: 20, moves: nil, want: "1/20 2/14 2/20 3/17 3/20 4/18 whole"},
		{name: "pairs of one time", service: service{report: "total", ties: 2}, records: 60, limit: 20, moves: nil, want: "1/20 2/17 3/15 3/20 4/19 whole"},
		{name: "seven of one time, six in the same order by accident", service: service{report: "hasNextPage", ties: 8}, records: 33, limit: 16, moves: moves{2: func(l *list) {
			leave(0, 0)(l)
			tied := l.records[7:15]
			copy(tied, append(tied[7:8:8], tied[:7]...))
		}}, want: "1/16 2/9 1/16 2/9 2/14 3/11 whole"},
		{name: "eight of one time, seven in the same order", service: service{report: "hasNextPage", ties: 8}, records: 33, limit: 17, moves: moves{2: leave(0, 0)}, want: "1/17 2/9 2/14 2/17 whole"},
		{name: "no times", service: service{report: "nothing", untimed: true}, records: 60, limit: 20, moves: nil, want: "1/20 2/18 3/17 4/16 5/16 whole"},
		{name: "total counts more", service: service{report: "total", extra: 5}, records: 45, limit: 20, moves: nil, want: "1/20 2/18 3/17 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 3/20 1/20 2/20 3/20 4/20 1/20 2/20 3/20 4/20 missing 45/50"},
		{name: "total counts less", service: service{report: "total", extra: -15}, records: 45, limit: 20, moves: nil, want: "1/20 2/18 3/17 whole"},
		{name: "stuck", service: service{report: "total", stuck: true}, records: 45, limit: 20, moves: nil, want: "1/20 2/18 missing 20/45"},
		{name: "stuck, all there", service: service{report: "total", stuck: true}, records: 20, limit: 20, moves: nil, want: "1/20 2/18 whole"},
		{name: "stuck, nothing", service: service{report: "nothing", stuck: true}, records: 45, limit: 20, moves: nil, want: "1/20 2/18 missing 20/0"},
		{name: "stuck, hasNextPage", service: service{report: "hasNextPage", stuck: true}, records: 45, limit: 20, moves: nil, want: "1/20 2/18 missing 20/37"},
		{name: "one leaves", service: service{report: "total"}, records: 95, limit: 20, moves: moves{2: leave(0)}, want: "1/20 2/18 2/15 3/14 3/20 4/19 5/18 6/17 whole"},
		{name: "three leave in front", service: service{report: "total"}, records: 95, limit: 20, moves: moves{3: leave(0, 0, 0)}, want: "1/20 2/18 3/17 3/14 3/20 4/19 5/18 6/17 whole"},
		{name: "three leave, nothing told", service: service{report: "nothing"}, records: 95, limit: 20, moves: moves{3: leave(0, 0, 0)}, want: "1/20 2/18 3/17 3/16 3/14 3/19 4/18 5/17 5/20 6/20 whole"},
		{name: "twenty-five leave, nothing told", service: service{report: "nothing"}, records: 40, limit: 20, moves: moves{2: leave(slices.Repeat([]int{0}, 25)...)}, want: "1/20 2/18 2/16 2/12 1/20 2/20 whole"},
		{name: "capped, a page enters", service: service{report: "nothing", pageCap: 17}, records: 60, limit: 30, moves: moves{2: create(15)}, want: "1/30 2/15 3/15 4/14 4/17 5/16 6/16 whole"},
		{name: "thirty leave", service: service{report: "hasNextPage"}, records: 195, limit: 20, moves: moves{5: leave(slices.Repeat([]int{0}, 30)...)}, want: "1/20 2/18 3/17 4/16 4/20 4/20 4/18 4/16 3/16 3/17 3/20 4/18 5/17 5/20 6/19 8/16 8/18 8/20 9/19 whole"},
		{name: "five enter", service: service{report: "total"}, records: 95, limit: 20, moves: moves{3: create(5)}, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 whole"},
		{name: "thirty enter", service: service{report: "nothing"}, records: 95, limit: 20, moves: moves{3: create(30)}, want: "1/20 2/18 3/17 4/16 4/20 5/19 6/18 6/20 7/19 8/19 whole"},
		{name: "the end leaves", service: service{report: "nothing"}, records: 39, limit: 20, moves: moves{3: leave(38, 37, 36, 35)}, want: "1/20 2/18 3/17 4/17 whole"},
		{name: "becomes one page", service: service{report: "total"}, records: 25, limit: 20, moves: moves{2: leave(0, 0, 0, 0, 0, 0, 0, 0)}, want: "1/20 2/18 1/20 whole"},
		{name: "limits ignored", service: service{report: "total", fixed: 20}, records: 50, limit: 25, moves: nil, want: "1/25 2/18 1/25 2/25 3/25 whole"},
		{name: "limits ignored, full", service: service{report: "total", fixed: 20}, records: 60, limit: 25, moves: nil, want: "1/25 2/18 1/25 2/25 3/25 4/25 whole"},
		{name: "larger pages", service: service{report: "total", fixed: 50}, records: 120, limit: 20, moves: nil, want: "1/20 1/20 2/20 3/20 whole"},
		{name: "larger pages, nothing", service: service{report: "nothing", fixed: 50}, records: 120, limit: 20, moves: nil, want: "1/20 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{name: "limits ignored, hasNextPage", service: service{report: "hasNextPage", fixed: 20}, records: 50, limit: 25, moves: nil, want: "1/25 2/18 1/25 2/25 3/25 1/25 2/25 3/25 whole"},
		{name: "limits ignored, counts more", service: service{report: "total", fixed: 20, extra: 5}, records: 50, limit: 25, moves: nil, want: "1/25 2/18 1/25 2/25 3/25 4/25 1/25 2/25 3/25 4/25 missing 50/55"},
		{name: "limits refused", service: service{report: "total", refused: true}, records: 50, limit: 20, moves: nil, want: "1/20 2/18 1/20 2/20 3/20 whole"},
		{name: "limits refused, nothing", service: service{report: "nothing", refused: true}, records: 50, limit: 20, moves: nil, want: "1/20 2/18 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{name: "limits refused, one leaves", service: service{report: "total", refused: true}, records: 50, limit: 20, moves: moves{5: leave(0)}, want: "1/20 2/18 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{name: "limits refused, one leaves at the end of a pass", service: service{report: "total", refused: true}, records: 90, limit: 20, moves: moves{7: leave(0)}, want: "1/20 2/18 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 whole"},
		{name: "limits refused, enter in front", service: service{report: "hasNextPage", refused: true}, records: 50, limit: 20, moves: always(create(1)), want: "1/20 ... 148 restless 190/161"},
		{name: "limits refused, leave", service: service{report: "totalPages", refused: true}, records: 90, limit: 20, moves: moves{5: leave(0), 9: leave(3)}, want: "1/20 2/18 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 1/20 2/20 3/20 4/20 5/20 whole"},
		{name: "limits refused, one leaves and another enters", service: service{report: "total", refused: true}, records: 50, limit: 20, moves: moves{5: func(l *list) { leave(0)(l); create(1)(l) }}, want: "1/20 2/18 1/20 2/20 3/20 whole"},
		{name: "limits refused, one leaves and comes back", service: service{report: "hasNextPage", refused: true}, records: 50, limit: 20, moves: moves{5: leave(0), 6: comeBack}, want: "1/20 2/18 1/20 2/20 3/20 1/20 2/20 3/20 1/20 2/20 3/20 whole"},
		{name: "limits refused, a record on two pages of each reading", service: service{report: "nothing", refused: true}, records: 20, limit: 8, moves: moves{4: swap, 5: swap, 7: swap, 8: swap}, want: "1/8 1/16 1/8 2/8 3/8 1/8 2/8 3/8 missing 19/0"},
		{name: "limits refused, last page repeated", service: service{report: "nothing", refused: true, clamped: true}, records: 24, limit: 8, moves: nil, want: "1/8 1/16 1/8 2/8 3/8 4/8 5/8 6/8 1/8 2/8 3/8 4/8 5/8 6/8 whole"},
		{name: "limits refused, always another", service: service{report: "total", refused: true}, records: 50, limit: 20, moves: always(func(l *list) { leave(1)(l); create(1)(l) }), want: "1/20 ... 113 restless 124/41"},
		{name: "limits refused, forty enter", service: service{report: "total", refused: true}, records: 100, limit: 20, moves: moves{5: create(20), 6: create(20)}, want: "1/20 2/18 1/20 2/20 3/20 4/20 5/20 6/20 7/20 8/20 1/20 2/20 3/20 4/20 5/20 6/20 7/20 8/20 whole"},
		{name: "limits refused, no page behind", service: service{report: "total", refused: true, empty: true}, records: 60, limit: 20, moves: nil, want: "1/20 2/18 1/20 2/20 3/20 4/20 whole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newList(rand.New(rand.NewPCG(1, 1)), c.service, c.records, 0)
			l.moves = c.moves
			state, counts := paging.Reading, ""
			for step, err := range paging.All(t.Context(), c.limit, l.fetch) {
				require.NoError(t, err)
				state, counts = step.State, fmt.Sprintf(" %d/%d", step.Yielded, step.Reported)
			}
			if n := len(l.asked); n > 30 {
				l.asked = []string{l.asked[0], "...", fmt.Sprint(n)}
			}
			if state == paging.Whole {
				counts = ""
			}
			require.Equal(t, c.want, strings.Join(append(l.asked, ends[state]), " ")+counts)
		})
	}
}
