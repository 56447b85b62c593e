package paging

import (
	"slices"
	"time"
)

// A record is the number of a record that was read. The first record has 0, and each that no earlier response contained
// has the next number.
type record int32

// page has the records of one response in their order.
type page struct {
	Request
	records   []record
	createdAt []time.Time // of each record
}

// start returns the position in the list at which the page begins if the service obeys the limit.
func (p page) start() int { return (p.Page - 1) * p.Limit }

func (p page) next() Request { return Request{p.Page + 1, p.Limit} }

// records is what was read. It counts each record once, however often it was read.
type records struct {
	numbers  map[ID]record
	requests int
	largest  int  // the number of records on the largest page
	last     page // the last page that was evaluated
}

// add numbers the records of a response. fresh has the indexes of those that no earlier response contained.
func (s *records) add(r Request, a Answer) (p page, fresh []int) {
	p = page{r, make([]record, len(a.IDs)), a.Times}
	for i, id := range a.IDs {
		n, seen := s.numbers[id]
		if !seen {
			n = record(len(s.numbers))
			s.numbers[id] = n
			fresh = append(fresh, i)
		}
		p.records[i] = n
	}
	s.requests++
	s.largest = max(s.largest, len(p.records))
	return p, fresh
}

func (s *records) count() int { return len(s.numbers) }

// turnTo makes p the last page. It reports whether p has records and the page before began with the same.
func (s *records) turnTo(p page) (repeated bool) {
	n := min(len(p.records), len(s.last.records))
	repeated = len(p.records) > 0 && slices.Equal(p.records, s.last.records[:n])
	s.last = p
	return repeated
}

// chain has the rule "Link". It has every record that stayed in the list, from the top of the list to the chain's end.
//
// The proof is by induction. Records keep their order, and a page is an interval of it without a gap. So a page has every
// record that stayed between its first and its last. The page at position 0 begins the chain. Two intervals that share a
// record leave nothing out between them. So a page that shares a record with the chain may be added to it.
//
// Records with equal creation times may be reordered between requests. Such a record links two pages in two cases only: an
// older record followed it on an earlier page of the chain (its mark is closed), or the page begins with so many records of
// the chain's end in the same order that chance is excluded (minRun, minTies). A record without a time always links.
type chain struct {
	marks    []mark // of all records that were read
	count    int    // the number of records in the chain
	lastPage []record
	lastTime time.Time // of the chain's last record
	ties     int       // the number of records with lastTime in the chain
	end      int       // the position of the chain's end in the list of the last response, from 0
	idle     int       // the number of pages in a row that added nothing
}

type mark uint8

const (
	outside mark = iota // the chain does not have the record
	open                // the chain has it
	closed              // the chain has it, and all records with the same time
)

const (
	minRun  = 6  // so many records with equal times in the same order link two pages,
	minTies = 14 // if they and the records of that time in the chain are so many: one in 20,000 shuffled pages has that by chance
)

// restart empties the chain. The next page begins it.
func (c *chain) restart() {
	clear(c.marks)
	*c = chain{marks: c.marks, end: c.end}
}

// shift moves the chain's end with the list's total, as if every record had entered or left before it.
func (c *chain) shift(change, total int) { c.end = min(max(c.end+change, 0), total) }

// grow makes marks for n records.
func (c *chain) grow(n int) { c.marks = append(c.marks, make([]mark, n-len(c.marks))...) }

// links reports whether a page may be added to the chain.
func (c *chain) links(p page) bool {
	if p.Page == 1 {
		return true
	}
	run := 0 // the records of the chain with which the page begins
	for i, r := range p.records {
		switch m := c.marks[r]; {
		case m == outside:
		case m == closed || p.createdAt[i].IsZero():
			return true
		case run == i:
			run++
		}
	}
	return run >= minRun && run+c.ties >= minTies && run <= len(c.lastPage) && slices.Equal(p.records[:run], c.lastPage[len(c.lastPage)-run:])
}

// skip leaves a page out of the chain.
func (c *chain) skip() { c.idle++ }

// add puts a page that begins at position start into the chain. A full page has full records.
func (c *chain) add(p page, start, full int) {
	n, beyond := len(p.records), false
	c.idle++
	if n > 0 && !c.lastTime.Equal(p.createdAt[n-1]) && c.marks[p.records[n-1]] == outside {
		c.lastTime, c.ties = p.createdAt[n-1], 0
	}
	for i, r := range p.records {
		if beyond = c.marks[r] == outside; beyond {
			c.marks[r], c.idle = open, 0
			c.count++
			if !c.lastTime.IsZero() && p.createdAt[i].Equal(c.lastTime) {
				c.ties++
			}
		}
		if !p.createdAt[i].Equal(p.createdAt[n-1]) {
			c.marks[r] = closed
		}
	}
	if beyond {
		c.lastPage = p.records
	}
	if beyond || n == full && start+n > c.end {
		c.end = start + n // not for a short page of known records, which may be the last page at a different position
	}
}
