package paging_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/paging"
)

var runs = flag.Int("lists.runs", 60, "how many random lists are read from each kind of service")

// service is a kind of service whose list changes before each request but the first.
type service struct {
	report   string // total, totalPages, hasNextPage, nothing, larger total (than the page has), total on page 1, true hasNextPage
	pageCap  int    // the largest page
	oldest   bool   // the list is oldest first
	ties     int    // consecutive records with equal times; 0 means 1
	shuffled bool   // records with equal times have a different order in each response
	torn     bool   // the total may be older than the records of the same answer
	empty    bool   // a page past the end is refused
	untimed  bool   // records have no time
	fixed    int    // records on a page where limits are ignored
	refused  bool   // limits other than the first are refused
	stuck    bool   // each page is the first
	clamped  bool   // pages past the end are the last page
	extra    int    // records that the total counts beyond those of the list
}

// services are the kinds that sort their list and use the page number.
var services = map[string]service{
	"total":                        {report: "total"},
	"totalPages":                   {report: "totalPages"},
	"hasNextPage":                  {report: "hasNextPage"},
	"nothing":                      {report: "nothing"},
	"total, refused behind":        {report: "total", empty: true},
	"nothing, refused behind":      {report: "nothing", empty: true},
	"total, oldest first":          {report: "total", oldest: true},
	"nothing, last page repeated":  {report: "nothing", clamped: true},
	"nothing, oldest first":        {report: "nothing", oldest: true},
	"total, no times":              {report: "total", untimed: true},
	"total, torn":                  {report: "total", torn: true},
	"totalPages, torn":             {report: "totalPages", torn: true},
	"total, ties":                  {report: "total", ties: 3},
	"total, ties shuffled":         {report: "total", ties: 3, shuffled: true},
	"total, more ties shuffled":    {report: "total", ties: 8, shuffled: true},
	"total, capped, ties shuffled": {report: "total", pageCap: 10, ties: 3, shuffled: true},
	"nothing, capped, more ties":   {report: "nothing", pageCap: 17, ties: 8},
	"nothing, ties shuffled":       {report: "nothing", ties: 3, shuffled: true},
	"totalPages, ties shuffled":    {report: "totalPages", ties: 4, shuffled: true},
	"total, torn, ties shuffled":   {report: "total", torn: true, ties: 3, shuffled: true},
	"total, capped":                {report: "total", pageCap: 10},
	"totalPages, capped":           {report: "totalPages", pageCap: 10},
	"hasNextPage, capped":          {report: "hasNextPage", pageCap: 12},
	"nothing, capped":              {report: "nothing", pageCap: 17},
	"total, torn, capped":          {report: "total", torn: true, pageCap: 10},
	"total, capped, ties":          {report: "total", pageCap: 20, ties: 3},
	"total, one time for all":      {report: "total", ties: 1000},
	"total, limits ignored":        {report: "total", fixed: 20},
	"total, limits refused":        {report: "total", refused: true},
	"nothing, limits refused":      {report: "nothing", refused: true},
	"hasNextPage, one time, torn":  {report: "hasNextPage", ties: 1000, torn: true},
}

type record struct {
	n  int
	at time.Time
}

// list is a list of a service during one run.
type list struct {
	service
	rnd      *rand.Rand
	records  []record
	outside  []record // left, and may come back
	left     map[int]bool
	made     int
	now      time.Time
	changes  float64    // the mean number before a request
	weights  [3]float64 // of creations, departures and returns
	requests int
	asked    []string            // page/limit
	moves    map[int]func(*list) // before a request
}

var errRefused = errors.New("no such page")

func newList(rnd *rand.Rand, w service, records int, changes float64) *list {
	l := &list{service: w, rnd: rnd, left: map[int]bool{}, changes: changes, now: time.Unix(0, 0)}
	for range records {
		l.create()
	}
	for i := range l.weights {
		l.weights[i] = rnd.Float64()
	}
	return l
}

func (l *list) create() {
	if l.made%max(l.ties, 1) == 0 {
		l.now = l.now.Add(time.Duration(1 + l.rnd.Int64N(int64(time.Hour))))
	}
	l.insert(record{l.made, l.now})
	l.made++
}

func (l *list) insert(r record) {
	i, _ := slices.BinarySearchFunc(l.records, r, l.compare)
	l.records = slices.Insert(l.records, i, r)
}

func (l *list) compare(a, b record) int {
	c := cmp.Or(b.at.Compare(a.at), cmp.Compare(b.n, a.n))
	if l.oldest {
		return -c
	}
	return c
}

// move lets things happen.
func (l *list) move() {
	for l.rnd.Float64() < l.changes/(1+l.changes) {
		switch x := l.rnd.Float64() * (l.weights[0] + l.weights[1] + l.weights[2]); {
		case x < l.weights[0]:
			l.create()
		case x < l.weights[0]+l.weights[1] && len(l.records) > 0:
			i := l.rnd.IntN(len(l.records))
			l.left[l.records[i].n] = true
			l.outside = append(l.outside, l.records[i])
			l.records = slices.Delete(l.records, i, i+1)
		case len(l.outside) > 0:
			i := l.rnd.IntN(len(l.outside))
			l.insert(l.outside[i])
			l.outside = slices.Delete(l.outside, i, i+1)
		}
	}
}

func (l *list) fetch(_ context.Context, r paging.Request) ([]record, paging.Answer, error) {
	if l.requests++; l.requests > 1 {
		l.move()
	}
	if move := l.moves[l.requests]; move != nil {
		move(l)
	}
	l.asked = append(l.asked, fmt.Sprintf("%d/%d", r.Page, r.Limit))
	total := len(l.records) + l.extra
	if l.torn && l.requests > 1 {
		l.move()
	}
	records := slices.Clone(l.records)
	if l.shuffled {
		l.rnd.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		slices.SortStableFunc(records, func(a, b record) int { return l.compare(record{at: a.at}, record{at: b.at}) })
	}
	limit := cmp.Or(l.fixed, min(r.Limit, cmp.Or(l.pageCap, r.Limit)))
	if l.asked[0] != fmt.Sprintf("1/%d", r.Limit) && l.refused {
		return nil, paging.Answer{Refusal: paging.Refused}, errRefused
	}
	first := min((r.Page-1)*limit, len(records))
	if l.stuck {
		first = 0
	}
	if l.clamped {
		first = min(first, max(len(records)-1, 0)/limit*limit)
	}
	records = records[first:min(first+limit, len(records))]
	if l.empty && r.Page > 1 && len(records) == 0 {
		why := paging.NoSuchPage
		if l.refused { // it has one word for all that it refuses
			why = paging.Refused
		}
		return nil, paging.Answer{Refusal: why}, errRefused
	}
	return records, l.answer(records, r.Page, (total+limit-1)/limit, total), nil
}

func (l *list) answer(records []record, page, pages, total int) (a paging.Answer) {
	for _, r := range records {
		var id paging.ID
		binary.BigEndian.PutUint64(id[:], uint64(r.n))
		a.IDs = append(a.IDs, id)
		if l.untimed {
			r.at = time.Time{}
		}
		a.Times = append(a.Times, r.at)
	}
	a.Now = l.now
	switch {
	case l.report == "nothing", l.report == "total on page 1" && page > 1:
		return a
	case l.report == "larger total": // counts more than the page
		if total > len(records) {
			a.Total = &total
		}
		return a
	case l.report == "true hasNextPage" && page >= pages:
		return a
	}
	a.More = paging.NoMore
	if page < pages {
		a.More = paging.Promised
	}
	switch l.report {
	case "total", "total on page 1":
		a.Total, a.Pages = &total, &pages
	case "totalPages":
		a.Pages = &pages
	}
	return a
}

// TestAll_changingLists reads random lists that change at random before each request: every record that was in the list all the time
// is found once, or the error at the end reports that records may be missing. At most one list in ten ends with the error, one in
// two where pages cannot overlap, and no list that does not change.
func TestAll_changingLists(t *testing.T) {
	for name, w := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			incomplete, requests, moving := 0, 0, 0
			for seed := range uint64(*runs) {
				rnd := rand.New(rand.NewPCG(seed, 7))
				limit := 1 + rnd.IntN(30)
				if w.pageCap > 0 || w.fixed > 0 {
					limit = 30
				}
				l := newList(rnd, w, rnd.IntN(10*limit), []float64{0, 0.1, 0.3, 1, 3}[rnd.IntN(5)])
				there, found, state := l.made, map[int]bool{}, paging.Reading
				for step, err := range paging.All(t.Context(), limit, l.fetch) {
					require.NoError(t, err, "seed %d", seed)
					for _, i := range step.New {
						require.False(t, found[step.Page[i].n], "seed %d: number %d comes twice", seed, step.Page[i].n)
						found[step.Page[i].n] = true
					}
					state = step.State
				}
				requests += l.requests
				if l.changes > 0 {
					moving++
				}
				if state != paging.Whole {
					require.Positive(t, l.changes, "seed %d: it stood still", seed)
					incomplete++
					continue
				}
				for n := range there {
					require.True(t, l.left[n] || found[n], "seed %d: number %d of %d is lost; limit %d, %.1f changes a request, %d requests",
						seed, n, there, limit, l.changes, l.requests)
				}
			}
			t.Logf("%d runs, %d of %d moving ones incomplete, %.1f requests each",
				*runs, incomplete, moving, float64(requests)/float64(*runs))
			most := moving / 2 // where pages cannot overlap, or hardly have an order
			if w.fixed == 0 && !w.refused && 4*w.ties < cmp.Or(w.pageCap, 30) {
				most = max(1, moving/10)
			}
			require.LessOrEqual(t, incomplete, most)
		})
	}
}
