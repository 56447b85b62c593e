package paging

import "cmp"

// reports is what the service reports of the whole list: totals, numbers of pages, and whether there are further pages.
//
// Each kind of report stands until a response makes another of its kind: a response without one does not withdraw it. No
// list is whole with fewer records than the standing reports stand for.
//
// A period lasts from one change of the total to the next. If as many different records were read in a period as its
// total says, no record is missing, unless one left and another entered between two totals.
type reports struct {
	total    *int     // of the last response; nil if it counts something else
	more     More     // of the last response
	least    int      // the least number of records that the last response reports
	standing standing // of all responses
	changes  int      // the sum of the sizes of all changes of the total
	period   uint32   // the first is 1
	periods  []uint32 // of each record, the period in which it was read last
	read     int      // the number of records that were read in this period
}

// standing is the least number of records for which the last report of each kind stands.
type standing struct{ total, pages, more int }

func (s standing) least() int { return max(s.total, s.pages, s.more) }

// learn evaluates a response, whose page is the last of read. A full page of this limit has full records. learn returns
// whether the total differs from that of the response before, and by how much.
func (s *reports) learn(p page, a Answer, read *records, full int) (moved bool, change int) {
	n, total := len(p.records), a.Total
	if total != nil && s.total != nil {
		change = *total - *s.total
	}
	s.least = s.learnPages(p, a.Pages, read.largest)
	if total != nil && (*total < max(n, s.least, read.count()-s.changes-max(change, -change)) || // it counts something else
		read.requests == 1 && *total == n && a.More != NoMore) { // perhaps it counts this page
		total = nil
	}
	moved = read.requests > 1 && ((total == nil) != (s.total == nil) || total != nil && change != 0)
	s.countRead(p, read.count(), moved)
	switch {
	case total != nil:
		s.changes += max(change, -change)
		s.least, s.standing.total = *total, *total
	case a.Total != nil && *a.Total >= n && read.requests > 1:
		s.standing.total = 0
	}
	switch a.More {
	case NoMore:
		s.standing.more = 0
	case Promised:
		s.standing.more = (p.Page-1)*full + n + 1
		s.least = max(s.least, s.standing.more)
	}
	s.total, s.more = total, a.More
	return moved, change
}

// learnPages returns the least number of records that a number of pages stands for, or 0 if it contradicts the page. The
// largest page had largest records.
func (s *reports) learnPages(p page, pages *int, largest int) int {
	if pages == nil || p.Page > *pages && len(p.records) > 0 {
		return 0
	}
	s.standing.pages = 0
	if *pages > 1 {
		s.standing.pages = (*pages-1)*min(p.Limit, cmp.Or(largest, p.Limit)) + 1
	}
	return s.standing.pages
}

// countRead counts the records of a page that were not read before in this period. A total that moved begins another.
func (s *reports) countRead(p page, count int, moved bool) {
	s.periods = append(s.periods, make([]uint32, count-len(s.periods))...)
	if moved {
		s.period, s.read = s.period+1, 0
	}
	for _, r := range p.records {
		if s.periods[r] != s.period {
			s.periods[r] = s.period
			s.read++
		}
	}
}

// reportEnd reports whether the last response has a total, or says whether there are further pages.
func (s *reports) reportEnd() bool { return s.total != nil || s.more != MoreUnknown }

// complete reports whether as many records were read as the total says since it last changed.
func (s *reports) complete() bool { return s.total != nil && *s.total > 0 && s.read == *s.total }

// allowEnd reports whether the list may end at a position: the last response does not contradict it.
func (s *reports) allowEnd(end int) bool {
	return s.least <= end && (s.total == nil || s.period > 1 || s.complete())
}

// confirmEnd reports whether the list ends at a position by what the service reports.
func (s *reports) confirmEnd(end int) bool {
	return s.allowEnd(end) && s.reportEnd() && s.standing.least() <= end
}
