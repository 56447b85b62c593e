package paging

import (
	"cmp"
	"slices"
	"time"
)

// A walk decides which page is asked for next, and when the list has ended. It has four rules.
//
// Link. A page continues the chain if it begins at position 0 or shares a record with it. Records keep their order, and
// a page is an interval of it without a gap. So a page has every record that stayed between its first and last, and two
// intervals that share a record leave nothing out. By induction the chain has every record that stayed, from the top to
// its end. Records with equal creation times may be reordered between requests. Such a record links two pages in two
// cases only: an older record followed it on an earlier page of the chain, or the page begins with so many records of the
// chain's end in the same order that chance is excluded (minRun, minTies). A record without a time always links.
//
// End. A page is full if it has as many records as were requested, or as many as the largest earlier page. If the
// service does not report totals, a full page has at least 16. A page of the chain that is not full ends the list if two
// conditions hold: the service does not report further records, and as many records were seen as its total says since
// the total last changed. If the service does not report totals, the next page must be empty too. A full page alone never
// ends a list, because its total and its denial of further pages may count this page alone. If page 2 begins as page 1
// did, the service ignores the page number. If the service does not report totals, page 3 must begin so too. The list is
// whole then if page 1 may have been all of it; otherwise records may be missing. A repetition of the last page counts as
// an empty page after it.
//
// Without overlap. Where the service ignores or refuses limits, or has no order, all pages of the first limit are read,
// pass after pass. A page that is not full ends the list in three cases:
//
//   - Each page of its pass continued the chain.
//   - The previous pass read the same records, and no record twice.
//   - As many records were seen as the total says since the total last changed. No record is missing then, unless one
//     left and another entered between two totals.
//
// Reports. Each kind of report stands until a response makes another of its kind: a response without one does not
// withdraw it. No list is whole with fewer records than the standing reports stand for. Two equal passes are whole only
// if neither has fewer records than any of its responses reported. If both have fewer, records are missing. If only one
// has, another pass is read.
type walk struct {
	limit    int // of the first request
	size     int // the largest limit of overlapping pages
	most     int // the records on the largest page so far
	requests int
	seen     map[ID]mark

	last    Request
	lastIDs []ID
	total   *int   // of the last response; nil if it counts something else
	moved   int    // the sum of the sizes of all changes of the total
	period  uint32 // from one change of the total to the next; the first is 1
	found   int    // records seen in this period
	more    More   // of the last response
	told    bool   // the last response has a total, or says whether there are further pages
	least   int    // the least number of records that the last response reports
	stands  reports

	// How fast the list grows.
	since time.Time // of the first response
	late  int       // records seen that were created after it
	first int       // records seen or reported with the first request
	early int       // records seen or reported with the first 20 requests

	pass
	before   []ID // the ids of the pass before
	owed     bool // the pass before reported more records than it has
	covered  int  // the position of the chain's end in the list of the last response, from 0
	overlap  int  // of the next request
	unlinked int  // pages in a row that did not continue the chain
	behind   bool // the last page ends the list if the next page is empty
	ignored  bool // page 2 began as page 1 did, which may have been all; without totals page 3 must begin so too
}

// pass is one way through the list. Only the first overlaps its pages.
type pass struct {
	number   uint16
	count    int       // records in its chain, which has every page of a later pass
	end      []ID      // the page with the end of the chain
	at       time.Time // of its last record
	tied     int       // records of that time in its chain
	idle     int       // pages in a row that added nothing to the chain
	full     int       // records on its first page, in a later pass
	gap      bool      // a page did not continue the chain, in a later pass
	ids      []ID      // on its pages that added something, in a later pass
	promised int       // the most records that one of its responses reported
}

// reports are the least numbers of records for which the last total, the last number of pages and the last promise of a
// further page stand.
type reports struct{ total, pages, more int }

func (r reports) least() int { return max(r.total, r.pages, r.more) }

// mark is what a walk notes of a record.
type mark struct {
	period uint32 // in which it was seen last
	pass   uint16 // in whose chain it is; 0 for none
	closed bool   // the chain has all records of the same time
}

const (
	minSize  = 16 // the least size of a full page where the service does not report totals
	minRun   = 6  // so many records with equal times in the same order link two pages,
	minTies  = 14 // if they and the records of that time in the chain are so many: one in 20,000 shuffled pages has that by chance
	maxApart = 10 // a larger overlap leaves too little of a page
	maxIdle  = 12 // of the first pass
	maxStale = 3  // idle pages end a later pass
)

// unseen returns the indexes of the ids that no earlier page contained, each id once.
func (w *walk) unseen(a Answer) (places []int) {
	if w.since.IsZero() {
		w.since = a.Now
	}
	for i, id := range a.IDs {
		if _, ok := w.seen[id]; !ok {
			w.seen[id] = mark{}
			places = append(places, i)
			if !w.since.IsZero() && a.Times[i].After(w.since) {
				w.late++
			}
		}
	}
	return places
}

// read evaluates a response whose ids are in seen. It returns the next request while the state is Reading.
func (w *walk) read(r Request, a Answer) (Request, State) {
	if a.Refusal != NotRefused {
		if !w.isBehind(r, a.Refusal) {
			w.requests++
			return w.startPass()
		}
		if a = (Answer{Total: w.total}); w.more != MoreUnknown {
			a.More = NoMore
		}
	}
	wasAll := w.ignored || w.stands.least() <= len(w.lastIDs) && (w.told || len(w.lastIDs) < w.last.Limit) // the last page may be the list
	totalMoved := w.learn(r, a)
	same := len(a.IDs) > 0 && slices.Equal(a.IDs, w.lastIDs[:min(len(a.IDs), len(w.lastIDs))])
	again := same && !totalMoved
	clamped := same && r == Request{w.last.Page + 1, w.last.Limit} // perhaps the last page, after the end
	ignores := again && (r.Page == 2 && w.last.Page == 1 || w.ignored)
	whole := ignores && wasAll && w.stands.least() <= len(w.seen)
	w.last, w.lastIDs, w.ignored = r, a.IDs, whole && !w.told && !w.ignored
	switch {
	case w.ignored:
		return Request{r.Page + 1, r.Limit}, Reading
	case whole:
		return r, Whole
	case ignores && !w.counted():
		return r, Missing
	case w.isRestless():
		return r, Restless
	case w.number > 1:
		return w.passOn(r, a)
	case len(a.IDs) > r.Limit:
		return w.startPass()
	}
	return w.chain(r, a, again, clamped)
}

// isRestless reports whether the list changes faster than it can be read. Requests are bounded by 100 more than five
// times the pages of its records. A list that grows by a fifth of a page for each request would never reach that bound.
// The bound of such a list is 100 more than ten times the pages of the records seen or reported in its first 20 requests.
// The growth is measured by its totals, and by records that were created after the first response.
func (w *walk) isRestless() bool {
	if w.requests <= 20 {
		w.early = max(w.early, w.stands.total, len(w.seen))
	}
	if w.requests == 1 {
		w.first = w.early
	}
	over, page := w.requests-100, max(min(w.most, w.limit), 1)
	return over*page > 5*max(min(w.covered, len(w.seen)), len(w.before), w.least) ||
		over*page >= 10*w.early && w.requests*page <= 5*max(w.least-w.first, w.late)
}

// learn stores what the response reports about the whole list, and returns whether the total has changed. The covered
// position moves with the total, as if every record had entered or left before it.
func (w *walk) learn(r Request, a Answer) (moved bool) {
	n, by := len(a.IDs), 0
	if a.Total != nil && w.total != nil {
		by = *a.Total - *w.total
	}
	change := max(by, -by)
	size := r.Limit
	if w.most = max(w.most, n); w.number > 1 {
		size = min(r.Limit, w.most)
	}
	w.least = 0 // below it becomes the number of records that the number of pages implies
	if a.Pages != nil && (r.Page <= *a.Pages || n == 0) {
		w.stands.pages = 0
		if *a.Pages > 1 {
			w.stands.pages = (*a.Pages-1)*min(r.Limit, cmp.Or(w.most, r.Limit)) + 1
		}
		w.least = w.stands.pages
	}
	total := a.Total
	if total != nil && (*total < max(n, w.least, len(w.seen)-w.moved-change) || // it counts something else
		w.requests == 0 && *total == n && a.More != NoMore) { // perhaps it counts this page
		total = nil
	}
	moved = w.requests > 0 && ((total == nil) != (w.total == nil) || total != nil && by != 0)
	w.find(a.IDs, moved)
	if total != nil {
		w.moved += change
		w.covered = min(max(w.covered+by, 0), *total)
		w.least = *total
	}
	switch {
	case total != nil:
		w.stands.total = *total
	case a.Total != nil && *a.Total >= n && w.requests > 0:
		w.stands.total = 0
	}
	switch a.More {
	case NoMore:
		w.stands.more = 0
	case Promised:
		w.stands.more = (r.Page-1)*size + n + 1
		w.least = max(w.least, w.stands.more)
	}
	w.promised = max(w.promised, w.least)
	if w.requests++; w.requests == 1 {
		w.size = max(n, minSize)
		if 0 < n && n < r.Limit && w.least > n {
			w.size = n
		}
	}
	w.total, w.more, w.told = total, a.More, total != nil || a.More != MoreUnknown
	return moved
}

// find counts the records seen since the total changed.
func (w *walk) find(ids []ID, totalMoved bool) {
	if totalMoved {
		w.period, w.found = w.period+1, 0
	}
	for _, id := range ids {
		if m := w.seen[id]; m.period != w.period {
			w.seen[id] = mark{w.period, m.pass, m.closed}
			w.found++
		}
	}
}

// isBehind reports whether a refused page is past the end.
func (w *walk) isBehind(r Request, why Refusal) bool {
	return r.Page > 1 && (why == NoSuchPage || w.behind && !w.told || w.total != nil && (r.Page-1)*r.Limit >= *w.total)
}

// chain evaluates a page that may continue the chain. again reports that it repeats the previous page.
func (w *walk) chain(r Request, a Answer, again, clamped bool) (Request, State) {
	n, start, wasBehind := len(a.IDs), (r.Page-1)*r.Limit, w.behind
	w.behind, w.idle = false, w.idle+1
	switch {
	case wasBehind && w.stands.least() <= w.covered && (n == 0 || again): // the repeated last page counts as empty
		return r, Whole
	case !w.links(r, a):
		w.unlinked++
		w.overlap *= 2
	default:
		w.extend(start, r.Limit, a)
		end := start + n
		if clamped {
			end = min(end, w.covered)
		}
		switch short := w.short(r, n); {
		case w.requests == 1 && n == 0 && w.least == 0:
			return r, Whole
		case short && w.mayEnd(end) && w.told && w.stands.least() <= end:
			return r, Whole
		case short && w.mayEnd(end):
			w.behind = true
			return Request{r.Page + 1, r.Limit}, Reading
		case n < r.Limit && (!short || n > 0 && w.least > start+n): // a full page has that many records
			w.size = max(n, w.most, 1)
		}
	}
	if next, gain := w.next(); w.idle < maxIdle && (gain > 0 || w.unlinked > 0) {
		return next, Reading
	}
	return w.startPass()
}

// links reports whether a page continues the chain.
func (w *walk) links(r Request, a Answer) bool {
	if r.Page == 1 {
		return true
	}
	run := 0
	for i, id := range a.IDs {
		m := w.seen[id]
		switch {
		case m.pass != w.number:
		case m.closed || a.Times[i].IsZero():
			return true
		case run == i:
			run++
		}
	}
	return run >= minRun && run+w.tied >= minTies && run <= len(w.end) && slices.Equal(a.IDs[:run], w.end[len(w.end)-run:])
}

// extend puts a page into the chain.
func (w *walk) extend(start, limit int, a Answer) {
	n, beyond := len(a.IDs), false
	if n > 0 && !w.at.Equal(a.Times[n-1]) && w.seen[a.IDs[n-1]].pass != w.number {
		w.at, w.tied = a.Times[n-1], 0
	}
	for i, id := range a.IDs {
		m := w.seen[id]
		if beyond = m.pass != w.number; beyond {
			m.pass, m.closed = w.number, false
			w.count++
			w.idle = 0
			if !w.at.IsZero() && a.Times[i].Equal(w.at) {
				w.tied++
			}
		}
		m.closed = m.closed || !a.Times[i].Equal(a.Times[n-1])
		w.seen[id] = m
	}
	if beyond {
		w.end = a.IDs
	}
	if beyond || n == limit && start+n > w.covered {
		w.covered = start + n // not for a short page of known records, which may be the last page at a different position
	}
	apart := w.tied + 1 // so that the page begins with a record of a different time
	if apart > maxApart {
		apart = minRun
	}
	w.unlinked, w.overlap = 0, max(w.overlap/2, 2, apart)
}

// short reports whether a page of the chain is not full. The service may put fewer records on a page than were
// requested, but then an earlier page has as many, or the service reports further records.
func (w *walk) short(r Request, n int) bool {
	full := w.most
	switch {
	case r.Page == 1 && w.told:
		full = r.Limit
	case !w.told:
		full = max(full, minSize)
	}
	return n < min(r.Limit, full) || n < r.Limit && w.counted()
}

// counted reports whether as many records were seen as the total says since the total last changed.
func (w *walk) counted() bool { return w.total != nil && *w.total > 0 && w.found == *w.total }

// mayEnd reports whether a page of the chain that ends at the position end may be the last: no report contradicts it.
func (w *walk) mayEnd(end int) bool {
	return w.least <= end && (w.total == nil || w.period > 1 || w.counted())
}

// next returns the page that begins at least overlap records before the end of the chain and ends furthest after it. gain
// is the number of records after it. A page can begin at any multiple of any limit: page 3 of limit 98 begins at 196.
func (w *walk) next() (best Request, gain int) {
	for overlap := w.overlap; ; overlap-- {
		from := max(w.covered-overlap, 0)
		best, gain = Request{}, 0
		for limit := w.size; limit > 0; limit-- {
			if page := from/limit + 1; best.Page == 0 || page*limit-w.covered > gain {
				best, gain = Request{page, limit}, page*limit-w.covered
			}
		}
		if gain > 0 || w.unlinked > 0 || overlap <= 1 {
			return best, gain
		}
	}
}

// startPass begins a pass with the first page.
func (w *walk) startPass() (Request, State) {
	w.before, w.owed, w.pass = w.ids, w.promised > w.count, pass{number: w.number + 1}
	return Request{1, w.limit}, Reading
}

// passOn evaluates a page of a later pass.
func (w *walk) passOn(r Request, a Answer) (Request, State) {
	n, promised := len(a.IDs), a.More == Promised
	if r.Page == 1 {
		w.full = max(n, 1)
	}
	start := (r.Page - 1) * w.full
	w.gap = w.gap || !w.links(r, a)
	w.idle++
	if w.extend(start, w.full, a); w.idle == 0 { // not a page past the end, such as a repeated first or last page
		w.ids = append(w.ids, a.IDs...)
	}
	switch {
	case n < w.full && !promised && (w.counted() || !w.gap && w.told && w.mayEnd(start+n) && w.stands.least() <= start+n):
		return r, Whole
	case w.idle < maxStale && (n >= w.full || promised || w.stands.least() > max(w.count, start+n)):
		return Request{r.Page + 1, r.Limit}, Reading
	case !slices.Equal(w.ids, w.before) || w.owed != (w.promised > w.count):
		return w.startPass()
	case w.owed || w.gap && len(w.ids) > w.count: // or a record was on two pages
		return r, Missing
	}
	return r, Whole
}
