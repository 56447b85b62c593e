package signforms

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"time"
)

// A walk decides which page of a list is asked for next, and knows at the end whether every record was seen that was there all the
// time. The list may change between any two answers, and what the service reports of it may be wrong. So a walk builds a chain of
// pages without a gap between them. The first page begins it. Another page continues it if
//   - it has a record of the chain: every record between the two is then in one of them, wherever both have moved to;
//   - or it begins where the last page ended, and the total is still the same.
//
// The second way needs no overlap and so no further requests, but a record that leaves while another enters behind it keeps the
// total the same. So it is for long lists that are newest first, where new records enter in front. At the end, the first
// page is read again and must be as it was. In all other lists, and as soon as anything has moved, pages overlap.
//
// A page that does not continue the chain is asked for again from further up. When that does not help, because the service ignores
// the limit or orders equal times at random, only a count is left: as many records as the total says, while it does not change, or
// two passes with the same answers.
type walk struct {
	limit int               // of a page that need not overlap
	size  int               // records that the service puts on such a page
	fixed bool              // it puts as many on every page, or refuses other limits
	alone bool              // it obeys the limit and not the page, whose first one was full
	seen  map[recordID]mark // all records so far

	mark            // for what is seen now
	requests    int // so far
	last        pageAnswer
	total       *int // of the last answer
	reported    int  // the least number of records that the last answer stands for
	found       int  // records seen since the total changed
	overlapping bool // pages overlap
	checking    bool // the first page was asked for again
	pass
	lastSum [32]byte // of the pass before
}

// pass is one way through the list, with its chain.
type pass struct {
	covered  int        // where the chain ends in the list of the last answer, counted from 0
	furthest int        // where its last new record stood
	first    []recordID // its first page
	end      []recordID // its last page
	ended    time.Time  // the time of its last record
	overlap  int        // how many of its records the next page should have
	links    int        // its records
	most     int        // the highest number of records reported
	moved    int        // the sum of all changes of the total, up and down
	failed   int        // attempts in a row to continue it
	idle     int        // pages in a row without a new record
	short    bool       // the last page had fewer records than asked for
	guessed  bool       // the same was said of a first page that the service may have cut to a size of its own
	broken   bool       // it has a gap, or may have one
	cut      bool       // the service promised more at its end
	sum      [32]byte   // hash of its ids
}

// recordID is the id of a record, or its hash.
type recordID [16]byte

// mark says when a record was last seen.
type mark struct {
	period uint16 // between two changes of the total
	number uint8  // of the pass in whose chain it is; 0 for none
}

// pageRequest is what a walk asks for.
type pageRequest struct{ page, limit int }

// pageAnswer is a page as a walk sees it.
type pageAnswer struct {
	pageRequest
	ids   []recordID
	times []time.Time // of their creation, zero where they have none
	total *int        // of records
	pages *int        // that the service counts with this limit
	more  more
}

// walkState is what a walk knows of the list.
type walkState int

const (
	reading  walkState = iota
	whole              // every record that was there all the time was seen
	restless           // the list changes faster than it can be read
	missing            // the service has more records than it lists, or may have
	nameless           // the records have no ids
)

const (
	maxPasses = 20
	maxFailed = 6  // then the chain is broken
	maxIdle   = 10 // then the pass ends; in a broken chain
	maxLost   = 3  // these
	// A page must overlap with two records: next to a single one, another of the same time may have changed its side.
	minOverlap = 2
	// A total that is a multiple of this may be one that the service counts no further than.
	roundTotal = 1000
	// That this many records of one time stand in the same places is no accident.
	maxTied = 4
)

func newWalk(limit int) *walk {
	return &walk{limit: limit, seen: map[recordID]mark{}, mark: mark{1, 1}, pass: pass{overlap: minOverlap}}
}

// unseen returns the places of the ids that no page had before, each id once.
func (w *walk) unseen(ids []recordID) (places []int) {
	for i, id := range ids {
		if _, ok := w.seen[id]; !ok {
			w.seen[id] = mark{}
			places = append(places, i)
		}
	}
	return places
}

// read takes an answer, and returns what to ask for next while it is reading.
func (w *walk) read(a pageAnswer) (pageRequest, walkState) {
	w.learn(a)
	per := w.perPage(a.limit)
	start := (a.page - 1) * per
	a.total = w.believed(a, per)
	if w.checking {
		w.checking = false
		if value(a.total) == value(w.total) && slices.Equal(a.ids, w.first) {
			return pageRequest{}, whole
		}
		w.again()
	}
	unchanged := w.compare(a.total)
	known, tied := w.known(a)
	if !w.overlapping && w.covered > 0 && (!unchanged || known > 0) {
		w.again() // a total that is counted now and then may have hidden moves from the beginning
		return pageRequest{1, w.limit}, reading
	}
	linked := w.broken || start == 0 || tied || !w.overlapping && start == w.covered
	if !linked {
		w.fail()
	}
	fresh := w.note(a, linked, start, per)
	switch {
	case w.requests == 1 && (a.total == nil && a.more == noMore || a.total != nil && len(a.ids) == *a.total):
		return pageRequest{}, whole
	case w.requests > 100+5*len(w.seen)/w.size:
		return pageRequest{}, restless
	case linked:
		w.extend(a, start, per, fresh)
		return w.after(a, fresh)
	case len(a.ids) == 0 && w.short && !w.broken && start >= w.covered: // behind a short page, which was the last
		return w.finish()
	}
	return w.next(), reading
}

// learn finds out what the service makes of the limit.
func (w *walk) learn(a pageAnswer) {
	if w.requests++; w.requests == 1 {
		w.size = cmp.Or(len(a.ids), w.limit, 1)
	}
	w.fixed = w.fixed || len(a.ids) > a.limit
	if len(a.ids) > 0 && a.page > 1 && a.page*a.limit != w.last.page*w.last.limit && slices.Equal(a.ids, w.last.ids) {
		w.fixed, w.broken = true, true // another part of the list cannot be the same
	}
	if n := len(a.ids); a.page > 1 && n == a.limit && n < len(w.first) && slices.Equal(a.ids, w.first[:n]) {
		w.broken = true // the limit is obeyed and the page is not
		w.alone = w.alone || len(w.first) >= w.limit
	}
	w.last = a
}

// perPage is how many records a page of this limit has, unless it is the last.
func (w *walk) perPage(limit int) int {
	if w.fixed || w.size < w.limit && limit > w.size {
		return w.size
	}
	return limit
}

// believed returns the total, or nil where it counts something else: it is lower than other reports, or than what was seen.
func (w *walk) believed(a pageAnswer, per int) *int {
	if a.total == nil {
		return nil
	}
	known, _ := w.known(a)
	moved := w.moved
	if w.total != nil {
		moved += max(*a.total-*w.total, *w.total-*a.total)
	}
	switch {
	case *a.total < len(a.ids), *a.total+moved < w.links+len(a.ids)-known:
		return nil
	case a.pages != nil && *a.total <= (*a.pages-1)*min(per, a.limit):
		return nil
	case w.requests == 1 && *a.total == len(a.ids) && a.more != noMore: // perhaps of this page
		return nil
	}
	return a.total
}

// compare reports whether there is a total and it is the same as before. If it is not, the chain now ends elsewhere: that much
// further down or up, if all that entered or left did so in front.
func (w *walk) compare(total *int) (unchanged bool) {
	if total != nil && w.total != nil {
		by := *total - *w.total
		w.covered, w.furthest = max(w.covered+by, 0), max(w.furthest+by, 0)
		w.moved += max(by, -by)
		unchanged = by == 0
	}
	if !unchanged {
		w.period++
		w.found = 0
	}
	w.total = total
	return unchanged
}

// known counts the records of a page that are in the chain, and reports whether they tie it to the chain. Records of the time at
// which the chain ends do so only in the same places, because the service may order equal times anew for each request.
func (w *walk) known(a pageAnswer) (count int, tied bool) {
	begin := 0 // records at the beginning of the page that are in the chain
	for i, id := range a.ids {
		if w.seen[id].number != w.number {
			continue
		}
		if count++; begin == i {
			begin++
		}
		if at := a.times[i]; at.IsZero() || !at.Equal(w.ended) {
			tied = true
		}
	}
	if !tied && begin == count && maxTied <= begin && begin <= len(w.end) {
		tied = slices.Equal(a.ids[:begin], w.end[len(w.end)-begin:])
	}
	return count, tied
}

// fail counts an attempt that did not continue the chain. The next has a larger overlap.
func (w *walk) fail() {
	w.failed++
	if w.failed > 1 || w.total == nil { // else a change of the total, which covered has followed, may have been the reason
		w.overlap = min(2*w.overlap, max(2*w.size, 16))
	}
	if !w.broken && (w.failed > maxFailed || w.fixed) {
		w.broken, w.covered, w.idle = true, w.furthest, 0
	}
}

// note marks the records of a page, and returns how many are new in the chain.
func (w *walk) note(a pageAnswer, chained bool, start, per int) (fresh int) {
	for _, id := range a.ids {
		m := w.seen[id]
		if m.period != w.period {
			m.period = w.period
			w.found++
		}
		if chained && m.number != w.number {
			m.number = w.number
			fresh++
		}
		w.seen[id] = m
	}
	w.links += fresh
	w.reported = value(a.total)
	if a.total == nil && value(a.pages) > 0 {
		w.most = min(w.most, *a.pages*min(per, a.limit)) // else the list has become shorter
		w.reported = (*a.pages-1)*min(per, a.limit) + 1
	}
	if a.total == nil && chained && !w.broken && len(a.ids) > 0 {
		switch a.more {
		case noMore:
			w.most = min(w.most, start+len(a.ids))
		case morePromised:
			w.reported = max(w.reported, start+len(a.ids)+1)
		}
	}
	w.most = max(w.most, w.reported)
	if chained {
		sum := sha256.New()
		sum.Write(w.sum[:])
		for _, id := range a.ids {
			sum.Write(id[:])
		}
		sum.Sum(w.sum[:0])
	}
	return fresh
}

// extend makes a page the end of the chain.
func (w *walk) extend(a pageAnswer, start, per, fresh int) {
	before, n := w.covered, len(a.ids)
	w.covered = start + per
	w.short = n < per
	if start == 0 && a.limit == w.limit {
		w.first = a.ids
		w.guessed = !w.short && n < a.limit && a.more != morePromised && (a.total == nil || *a.total == n)
		w.short = w.short || w.guessed
	} else if fresh > 0 {
		w.guessed = false
	}
	if w.short && n > 0 && a.total == nil && !w.broken {
		w.covered = start + n
	}
	w.idle++
	if fresh > 0 {
		w.furthest, w.failed, w.idle, w.overlap = w.covered, 0, 0, minOverlap
	} else if w.overlapping && w.covered <= before && !w.broken {
		w.fail()
	}
	if fresh > 0 {
		w.end, w.ended = a.ids, a.times[n-1]
		for i := n - 2; i >= 0 && a.times[i].Equal(w.ended) && !w.ended.IsZero() && w.overlap < maxTied; i-- {
			w.overlap = n - i + 1 // beyond the records of one time
		}
	}
	if w.requests == 1 {
		w.overlapping = a.total == nil || !newestFirst(a.times) || w.affords(*a.total)
	}
}

// after says what comes after a page of the chain.
func (w *walk) after(a pageAnswer, fresh int) (pageRequest, walkState) {
	ends := w.short || w.broken || !w.overlapping || w.moved == 0 && w.counted() // else the page behind the end must be seen
	if a.total != nil && *a.total%roundTotal == 0 && !w.short && !w.broken {
		ends = false
	}
	stuck := w.idle > maxIdle || w.broken && w.idle > maxLost
	switch {
	case stuck, w.broken && w.idle > 0 && a.total == nil && a.more == moreUnknown:
		w.broken, w.cut = true, a.more == morePromised
		return w.finish()
	case a.total != nil && w.covered < *a.total, a.more == morePromised && (a.total == nil || fresh > 0):
		return w.next(), reading
	case (w.broken || !w.overlapping) && a.total != nil && w.links < *a.total && fresh > 0: // pages of several sizes
		return w.next(), reading
	case len(a.ids) == 0, ends && (a.total != nil || a.more == noMore):
		return w.finish()
	case w.short && !w.broken: // the last, if the next is empty
		return pageRequest{a.page + 1, a.limit}, reading
	}
	return w.next(), reading
}

// counted reports whether as many records were seen since the total changed as it says.
func (w *walk) counted() bool { return w.total != nil && w.found == *w.total }

// finish ends a pass.
func (w *walk) finish() (pageRequest, walkState) {
	same, promised := w.sum == w.lastSum, w.last.more == morePromised
	switch {
	case !w.broken && !w.overlapping && w.links == *w.total:
		w.checking = true
		return pageRequest{1, w.limit}, reading
	case !w.broken && w.overlapping && w.links+w.moved >= w.most && w.guessed && w.total == nil:
		w.checking = true // or the second page was empty because the list had become shorter
		return pageRequest{1, w.limit}, reading
	case !w.broken && w.overlapping && w.links+w.moved >= w.most, w.broken && w.counted() && !promised:
		return pageRequest{}, whole
	case same && w.links >= w.most && !w.cut && !w.alone && !promised:
		return pageRequest{}, whole
	case same:
		return pageRequest{}, missing
	case w.number == maxPasses:
		return pageRequest{}, restless
	}
	w.again()
	return pageRequest{1, w.limit}, reading
}

// again begins another pass, in which pages overlap.
func (w *walk) again() {
	w.number++
	w.overlapping, w.lastSum = true, w.sum
	w.pass = pass{overlap: minOverlap}
}

// behind reports whether a page would begin where the list ends, if its total is right.
func (w *walk) behind(r pageRequest) bool {
	return w.total != nil && (r.page-1)*w.perPage(r.limit) >= *w.total
}

// withoutLimit returns what to ask for when the service refuses a limit.
func (w *walk) withoutLimit() pageRequest {
	w.fixed, w.broken, w.covered = true, true, w.furthest
	return w.next()
}

// next returns the page that continues the chain.
func (w *walk) next() pageRequest {
	if w.broken || w.fixed || !w.overlapping {
		return pageRequest{w.covered/w.size + 1, w.limit}
	}
	r, gain := w.across(w.covered, w.overlap)
	if gain <= 0 && w.failed == 0 {
		r, _ = w.across(w.covered, 1)
	}
	return r
}

// across returns the page that begins at least overlap records before a position and ends furthest behind it. A page can begin at
// any multiple of any limit: page 3 of limit 98 begins at 196.
func (w *walk) across(position, overlap int) (best pageRequest, gain int) {
	most := w.size
	if w.size == w.limit {
		most = max(w.size, 10) // with smaller limits there is not always such a page
	}
	from := max(position-overlap, 0)
	for limit := most; limit > 0; limit-- {
		if page := from/limit + 1; best.page == 0 || page*limit-position > gain {
			best, gain = pageRequest{page, limit}, page*limit-position
		}
	}
	return best, gain
}

// affords reports whether overlapping pages cost at most one request more than others, as reading the first page again would.
func (w *walk) affords(total int) bool {
	pages := 1
	for covered := w.covered; covered <= total; pages++ {
		_, gain := w.across(covered, w.overlap)
		if covered += gain; gain <= 0 || (pages+1)*w.size-covered > 2*w.size {
			return false
		}
	}
	return pages <= (total+w.size-1)/w.size+1
}

// newestFirst reports whether times show that order.
func newestFirst(times []time.Time) bool {
	n := len(times)
	sorted := slices.IsSortedFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return sorted && n > 0 && times[0].After(times[n-1])
}
