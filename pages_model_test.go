package signforms_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/clienttest"
)

// A movingService is a service in memory whose one list changes before each request but the first. It is a RoundTripper, and
// what happens follows from rnd alone.
type movingService struct {
	reading
	rnd      *rand.Rand
	listed   []listed // in the order of the list, but for ties
	outside  []listed // left the filter, and may come back
	left     map[int]bool
	made     int
	now      time.Time
	events   float64    // mean number of events before a request
	weights  [4]float64 // of creations, removals, leaving and entering
	requests int
}

type listed struct {
	n  int
	at time.Time
}

// reading is how a service reads what the interface leaves open, and what it reports.
type reading struct {
	list     string // documents, respondents or responses
	report   string // total, documentsCount, totalPages, hasNextPage or nothing
	dateTo   string // included, excluded, day, 400, 422, ignored or sixty days
	future   bool   // the caller sets a dateTo that lies in the future
	pageCap  int    // the largest page
	oldest   bool   // the list is oldest first
	ties     int    // how many records in a row have one time; 0 means 1
	shuffled bool   // records of one time come in another order on each request
	torn     bool   // the total may be older than the records of the same answer
}

// newMovingService returns a service with this many records.
func newMovingService(rnd *rand.Rand, r reading, records int, events float64) *movingService {
	s := &movingService{reading: r, rnd: rnd, left: map[int]bool{}, events: events, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for range records {
		s.create()
	}
	for i := range s.weights {
		s.weights[i] = rnd.Float64()
	}
	return s
}

func (s *movingService) create() {
	if s.made%max(s.ties, 1) == 0 {
		s.now = s.now.Add(time.Hour/2 + time.Duration(s.rnd.Int64N(int64(9*time.Hour))).Truncate(time.Millisecond))
	}
	s.insert(listed{s.made, s.now})
	s.made++
}

func (s *movingService) insert(r listed) {
	i, _ := slices.BinarySearchFunc(s.listed, r, s.compare)
	s.listed = slices.Insert(s.listed, i, r)
}

func (s *movingService) compare(a, b listed) int {
	c := cmp.Or(b.at.Compare(a.at), cmp.Compare(b.n, a.n))
	if s.oldest {
		return -c
	}
	return c
}

// move lets things happen.
func (s *movingService) move() {
	for s.rnd.Float64() < s.events/(1+s.events) {
		x := s.rnd.Float64() * (s.weights[0] + s.weights[1] + s.weights[2] + s.weights[3])
		i := 0
		for ; i < 3 && x > s.weights[i]; i++ {
			x -= s.weights[i]
		}
		switch {
		case i == 0:
			s.create()
		case i == 3 && len(s.outside) > 0:
			j := s.rnd.IntN(len(s.outside))
			s.insert(s.outside[j])
			s.outside = slices.Delete(s.outside, j, j+1)
		case (i == 1 || i == 2) && len(s.listed) > 0:
			j := s.rnd.IntN(len(s.listed))
			s.left[s.listed[j].n] = true
			if i == 2 {
				s.outside = append(s.outside, s.listed[j])
			}
			s.listed = slices.Delete(s.listed, j, j+1)
		}
	}
}

func (s *movingService) RoundTrip(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	if s.requests++; s.requests > 1 {
		s.move()
	}
	matching, refused := s.until(q)
	if refused != 0 {
		return clienttest.Reply(req, refused, `{"message":"dateTo must be a date"}`), nil
	}
	total := len(matching)
	if s.torn && s.requests > 1 {
		s.move()
		matching, _ = s.until(q)
	}
	page, _ := strconv.Atoi(q.Get("page"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	if s.pageCap > 0 {
		limit = min(limit, s.pageCap)
	}
	start := min((page-1)*limit, len(matching))
	return clienttest.Reply(req, 200, s.answer(matching[start:min(start+limit, len(matching))], page, limit, total)), nil
}

// until returns what the service lists for the dateTo of a query, or the status with which it refuses it.
func (s *movingService) until(q url.Values) (matching []listed, refused int) {
	matching = s.listed
	if s.shuffled {
		matching = slices.Clone(matching)
		s.rnd.Shuffle(len(matching), func(i, j int) { matching[i], matching[j] = matching[j], matching[i] })
		slices.SortStableFunc(matching, func(a, b listed) int { return s.compare(listed{at: a.at}, listed{at: b.at}) })
	}
	text := q.Get("dateTo")
	if text == "" || s.list != "documents" || s.dateTo == "ignored" {
		return matching, 0
	}
	to, err := time.Parse(time.RFC3339Nano, text)
	if status, _ := strconv.Atoi(s.dateTo); status != 0 || err != nil {
		return nil, cmp.Or(status, 400)
	}
	return slices.DeleteFunc(slices.Clone(matching), func(r listed) bool {
		switch s.dateTo {
		case "excluded":
			return !r.at.Before(to)
		case "day":
			return r.at.After(to.Truncate(24 * time.Hour))
		case "sixty days":
			return r.at.After(to) || r.at.Before(to.AddDate(0, 0, -60))
		}
		return r.at.After(to)
	}), 0
}

func (s *movingService) answer(records []listed, page, limit, total int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"message":"ok",%q:[`, s.list)
	for i, r := range records {
		if i > 0 {
			b.WriteByte(',')
		}
		at := r.at.Format("2006-01-02T15:04:05.000Z")
		switch s.list {
		case "documents":
			fmt.Fprintf(&b, `{"documentId":%q,"createdAt":%q}`, docID(r.n), at)
		case "respondents":
			fmt.Fprintf(&b, `{"respondentDocumentId":%q,"createdAt":%q}`, objectID(r.n), at)
		case "responses":
			fmt.Fprintf(&b, `{"responseId":%q,"submittedAt":%q}`, objectID(r.n), at)
		}
	}
	b.WriteByte(']')
	pages := (total + limit - 1) / limit
	switch s.report {
	case "total":
		name := map[string]string{"documents": "totalDocuments", "responses": "totalResponses"}[s.list]
		fmt.Fprintf(&b, `,"pagination":{"currentPage":%d,"totalPages":%d,%q:%d}`, page, pages, name, total)
	case "documentsCount":
		fmt.Fprintf(&b, `,"documentsCount":%d`, total)
	case "totalPages":
		fmt.Fprintf(&b, `,"pagination":{"currentPage":%d,"totalPages":%d}`, page, pages)
	case "hasNextPage":
		fmt.Fprintf(&b, `,"pagination":{"hasNextPage":%t}`, page < pages)
	}
	b.WriteByte('}')
	return b.String()
}

func objectID(n int) string { return fmt.Sprintf("%024x", n) }

// id is the id of record n of the list.
func (s *movingService) id(n int) string {
	if s.list == "documents" {
		return docID(n)
	}
	return objectID(n)
}
