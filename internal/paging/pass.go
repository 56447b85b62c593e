package paging

import "slices"

// pass is one reading of the list, from its first page on. The first pass has pages that overlap. If that fails, because
// the service ignores or refuses limits or has no order, passes without overlap follow. They read all pages of the first
// limit. Such a pass is whole in three cases:
//
//   - Each of its pages continued the chain, and its last page ends the list as in the rule "End".
//   - The pass before read the same records, and no record twice.
//   - As many records were read as the total says since the total last changed.
//
// Two equal passes are whole only if neither has fewer records than any of its responses reported. If both have fewer,
// records are missing. If only one has, another pass is read.
type pass struct {
	later    bool // it is not the first
	promised int  // the most records that one of its responses reported

	// Of a pass without overlap.
	full    int      // the number of records on its first page
	gap     bool     // a page did not continue the chain
	records []record // of its pages that added something
}

// reading is what a pass without overlap read.
type reading struct {
	records []record
	lacking bool // it reported more records than it has
}

func (r reading) equals(other reading) bool {
	return r.lacking == other.lacking && slices.Equal(r.records, other.records)
}

// begin notes the number of records on the first page.
func (s *pass) begin(n int) { s.full = max(n, 1) }

// add notes a page: whether it continued the chain, and whether it added something. A page that did not, such as a
// repeated first or last page, may be past the end.
func (s *pass) add(p page, linked, added bool) {
	if s.gap = s.gap || !linked; added {
		s.records = append(s.records, p.records...)
	}
}

// overlap chooses the requests of the first pass, whose pages overlap by a few records.
type overlap struct {
	size     int // the largest limit of a request
	width    int // the number of records that the next page should share with the chain
	unlinked int // the number of pages in a row that did not continue the chain
}

const (
	minSize  = 16 // the least size of a full page where the service does not report totals
	maxWidth = 10 // a larger overlap for records with equal times leaves too little of a page
)

// begin takes the first page, of n records, for the largest that the service returns if it has more.
func (o *overlap) begin(n, limit, least int) {
	if o.size = max(n, minSize); 0 < n && n < limit && least > n {
		o.size = n
	}
}

// limitTo makes n records the largest page that is requested.
func (o *overlap) limitTo(n int) { o.size = max(n, 1) }

// linked notes a page that continued the chain, whose last records, ties of them, have equal times.
func (o *overlap) linked(ties int) {
	apart := ties + 1 // so that the next page begins with a record of a different time
	if apart > maxWidth {
		apart = minRun
	}
	o.unlinked, o.width = 0, max(o.width/2, 2, apart)
}

// failed notes a page that did not continue the chain.
func (o *overlap) failed() { o.unlinked, o.width = o.unlinked+1, o.width*2 }

// next returns the page that begins at least width records before the end of the chain and ends furthest after it. gain is
// the number of records after it. A page can begin at any multiple of any limit: page 3 of limit 98 begins at 196.
func (o *overlap) next(end int) (best Request, gain int) {
	for width := o.width; ; width-- {
		from := max(end-width, 0)
		best, gain = Request{}, 0
		for limit := o.size; limit > 0; limit-- {
			if page := from/limit + 1; best.Page == 0 || page*limit-end > gain {
				best, gain = Request{page, limit}, page*limit-end
			}
		}
		if gain > 0 || o.unlinked > 0 || width <= 1 {
			return best, gain
		}
	}
}
