package paging

import "time"

// A walk decides which page is requested next, and when the list has ended. Each of its parts has a rule of its own: chain
// the rule "Link", reports what the service reports, pass the rule "Without overlap", growth the bound of requests. No part
// changes another. The walk has the rule "End", for pages that continued the chain:
//
//   - A full page does not end the list, because its total and its denial of further pages may count this page alone.
//     A page is full if it has as many records as were requested, or as many as the largest earlier page. If the service
//     does not report totals, a full page has at least 16.
//   - A page that is not full ends the list if the service does not report further records, and if as many records were
//     read as its total says since the total last changed. If the service does not report totals, the next page must be
//     empty too. A repetition of the last page counts as an empty page after it.
//   - If page 2 begins as page 1 did, the service ignores the page number. If the service does not report totals, page 3
//     must begin so too. The list is whole if page 1 may have been all of it. Otherwise records may be missing.
type walk struct {
	limit      int // of the first request
	read       records
	reports    reports
	growth     growth
	chain      chain
	overlap    overlap
	pass       pass
	previous   reading // of the pass before; without records if that was the first
	confirming bool    // the last page ends the list if the next page is empty
	ignored    bool    // page 2 began as page 1 did, which may have been all; without totals page 3 must begin so too
}

const (
	maxIdle  = 12 // idle pages end the first pass
	maxStale = 3  // and a later pass
)

func newWalk(limit int) *walk {
	return &walk{limit: limit, read: records{numbers: map[ID]record{}}, reports: reports{period: 1}, overlap: overlap{width: 2}}
}

// evaluate evaluates a response. It returns the next request while the state is Reading.
func (w *walk) evaluate(p page, a Answer) (Request, State) {
	if a.Refusal != NotRefused {
		if !w.isPastEnd(p.Request, a.Refusal) {
			return w.startPass()
		}
		if a = (Answer{Total: w.reports.total}); w.reports.more != MoreUnknown {
			a.More = NoMore
		}
	}
	before := w.read.last
	mayBeAll := w.ignored || w.reports.standing.least() <= len(before.records) && (w.reports.reportEnd() || len(before.records) < before.Limit)
	moved := w.learn(p, a)
	same := w.read.turnTo(p)
	repeated := same && !moved
	if repeated && (p.Page == 2 && before.Page == 1 || w.ignored) {
		switch whole := mayBeAll && w.reports.standing.least() <= w.read.count(); {
		case whole && !w.reports.reportEnd() && !w.ignored:
			w.ignored = true
			return p.next(), Reading
		case whole:
			return p.Request, Whole
		case !w.reports.complete():
			return p.Request, Missing
		}
	}
	w.ignored = false
	switch {
	case w.isRestless():
		return p.Request, Restless
	case w.pass.later:
		return w.readPage(p, a.More == Promised)
	case len(p.records) > p.Limit:
		return w.startPass()
	}
	return w.readOverlapping(p, repeated, same && p.Request == before.next())
}

// learn passes what a response reports to the parts, and returns whether the total differs from the last.
func (w *walk) learn(p page, a Answer) (moved bool) {
	full := p.Limit
	if w.pass.later {
		full = min(p.Limit, w.read.largest)
	}
	moved, change := w.reports.learn(p, a, &w.read, full)
	w.chain.grow(w.read.count())
	if w.reports.total != nil {
		w.chain.shift(change, *w.reports.total)
	}
	w.pass.promised = max(w.pass.promised, w.reports.least)
	return moved
}

// isRestless reports whether the list changes faster than it can be read.
func (w *walk) isRestless() bool {
	known := max(min(w.chain.end, w.read.count()), len(w.previous.records), w.reports.least)
	return w.growth.exceeds(&w.read, &w.reports, max(min(w.read.largest, w.limit), 1), known)
}

// isPastEnd reports whether a refused page is past the end.
func (w *walk) isPastEnd(r Request, why Refusal) bool {
	total := w.reports.total
	return r.Page > 1 && (why == NoSuchPage || w.confirming && !w.reports.reportEnd() || total != nil && (r.Page-1)*r.Limit >= *total)
}

// readOverlapping evaluates a page of the first pass. repeated: the page begins as the page before did, and the total has not
// moved. clamped: the page begins as the page before did, and may be past the end.
func (w *walk) readOverlapping(p page, repeated, clamped bool) (Request, State) {
	n, confirming := len(p.records), w.confirming
	w.confirming = false
	if w.read.requests == 1 {
		w.overlap.begin(n, p.Limit, w.reports.least)
	}
	switch {
	case confirming && w.reports.standing.least() <= w.chain.end && (n == 0 || repeated):
		return p.Request, Whole
	case !w.chain.links(p):
		w.chain.skip()
		w.overlap.failed()
	default:
		w.chain.add(p, p.start(), p.Limit)
		w.overlap.linked(w.chain.ties)
		end := p.start() + n
		if clamped {
			end = min(end, w.chain.end)
		}
		switch short := w.isShort(p); {
		case w.read.requests == 1 && n == 0 && w.reports.least == 0, short && w.reports.confirmEnd(end):
			return p.Request, Whole
		case short && w.reports.allowEnd(end):
			w.confirming = true
			return p.next(), Reading
		case n < p.Limit && (!short || n > 0 && w.reports.least > p.start()+n): // a full page has that many records
			w.overlap.limitTo(w.read.largest)
		}
	}
	if next, gain := w.overlap.next(w.chain.end); w.chain.idle < maxIdle && (gain > 0 || w.overlap.unlinked > 0) {
		return next, Reading
	}
	return w.startPass()
}

// isShort reports whether a page of the chain is not full. The service may put fewer records on a page than were
// requested, but then an earlier page has as many, or the service reports further records.
func (w *walk) isShort(p page) bool {
	n, full := len(p.records), w.read.largest
	switch {
	case !w.reports.reportEnd():
		full = max(full, minSize)
	case p.Page == 1:
		full = p.Limit
	}
	return n < min(p.Limit, full) || n < p.Limit && w.reports.complete()
}

// startPass begins a pass without overlap.
func (w *walk) startPass() (Request, State) {
	w.previous, w.pass = reading{w.pass.records, w.pass.promised > w.chain.count}, pass{later: true}
	w.chain.restart()
	return Request{1, w.limit}, Reading
}

// readPage evaluates a page of a pass without overlap. promised is true if the response reports further pages.
func (w *walk) readPage(p page, promised bool) (Request, State) {
	n := len(p.records)
	if p.Page == 1 {
		w.pass.begin(n)
	}
	full := w.pass.full
	start := (p.Page - 1) * full
	linked := w.chain.links(p)
	w.chain.add(p, start, full)
	w.pass.add(p, linked, w.chain.idle == 0)
	found := reading{w.pass.records, w.pass.promised > w.chain.count}
	switch {
	case n < full && !promised && (w.reports.complete() || !w.pass.gap && w.reports.confirmEnd(start+n)):
		return p.Request, Whole
	case w.chain.idle < maxStale && (n >= full || promised || w.reports.standing.least() > max(w.chain.count, start+n)):
		return p.next(), Reading
	case !found.equals(w.previous):
		return w.startPass()
	case found.lacking || w.pass.gap && len(found.records) > w.chain.count: // or a record was on two pages
		return p.Request, Missing
	}
	return p.Request, Whole
}

// growth is the bound of requests for a list that changes faster than it can be read.
//
// Requests are bounded by 100 more than five times the pages of the list's records. A list that grows by a fifth of a page
// for each request would never reach that bound. The bound of such a list is 100 more than ten times the pages of the
// records that were read or reported in its first 20 requests. The growth is measured by totals, and by records that were
// created after the first response.
type growth struct {
	since time.Time // of the first response
	after int       // the number of records that were created after it
	first int       // the number of records that were read or reported with the first request
	early int       // the same with the first 20 requests
}

// note counts the records of a response that no earlier response contained. fresh has their indexes.
func (g *growth) note(a Answer, fresh []int) {
	if g.since.IsZero() {
		g.since = a.Now
	}
	for _, i := range fresh {
		if !g.since.IsZero() && a.Times[i].After(g.since) {
			g.after++
		}
	}
}

// exceeds reports whether the last request reached a bound. A page has size records, and the list has known records for
// certain.
func (g *growth) exceeds(read *records, r *reports, size, known int) bool {
	n := read.requests
	if n <= 20 {
		g.early = max(g.early, r.standing.total, r.standing.pages, read.count())
	}
	if n == 1 {
		g.first = g.early
	}
	return (n-100)*size > 5*known || (n-100)*size >= 10*g.early && n*size <= 5*max(r.least-g.first, g.after)
}
