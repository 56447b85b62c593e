package probe

import (
	"context"
	"regexp"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

const (
	day      = 24 * time.Hour
	wireTime = "2006-01-02T15:04:05.000Z"
)

// dates asks which formats of dates are taken, and what dateFrom and dateTo include.
func (r *run) dates(ctx context.Context) {
	var oldest, newest time.Time
	for _, rec := range r.sample {
		if oldest.IsZero() || rec.created.Before(oldest) {
			oldest = rec.created
		}
		if rec.created.After(newest) {
			newest = rec.created
		}
	}
	if oldest.IsZero() {
		r.say("times", CannotTell, "no document has a time that can be read")
		return
	}
	from := func(layout string) (before, behind answer) {
		text := func(at time.Time) string { return at.UTC().Format(layout) }
		return r.documents(ctx, params{Limit: 1}, "dateFrom", text(oldest.Add(-2*day))), r.documents(ctx, params{Limit: 1}, "dateFrom", text(newest.Add(3*day)))
	}
	times, alone := formatOf(from(wireTime)), formatOf(from(time.DateOnly))
	r.sayFormat("times", times, alone)
	r.sayFormat("dates alone", alone, times)
	switch {
	case times == taken && alone == rejected:
		r.report.Profile.DateFormat = signformstest.TimeOnly
	case alone == taken && times == rejected:
		r.report.Profile.DateFormat = signformstest.DateOnly
	}
	switch {
	case times == taken:
		r.ends(ctx)
		return
	case times == rejected:
		r.otherLayout(ctx, oldest, newest, alone == taken)
	case times == unused:
		r.otherDateNames(ctx, oldest, newest)
	}
	for _, fact := range []string{"dateFrom included", "dateTo included"} {
		r.say(fact, CannotTell, "times do not act as a filter")
	}
}

// format is what a service does with a text as a date.
type format int

const (
	unclear  format = iota
	taken           // a bound before all documents lists them, one behind them does not
	unused          // both list them
	rejected        // refused
)

func formatOf(before, behind answer) format {
	switch {
	case before.refused() && behind.refused() && !before.missing():
		return rejected
	case !before.ok() || len(before.records) == 0:
		return unclear
	case behind.none():
		return taken
	case behind.ok():
		return unused
	}
	return unclear
}

// sayFormat notes whether a format is taken. A format that is refused or ignored shows something only if another is not: dates may
// be refused or ignored as such.
func (r *run) sayFormat(fact string, is, other format) {
	switch {
	case is == taken:
		r.say(fact, Holds, "they filter")
	case is == rejected && other == taken:
		r.say(fact, Differs, "they are refused")
	case is == unused && other == taken:
		r.say(fact, Differs, "they are ignored")
	case is == unused:
		r.say(fact, CannotTell, "dateFrom is ignored, whatever it says")
	case is == rejected:
		r.say(fact, CannotTell, "dateFrom is refused, whatever it says")
	}
}

// otherLayout looks for a layout that a service takes which refuses RFC 3339.
func (r *run) otherLayout(ctx context.Context, oldest, newest time.Time, date bool) {
	layouts := []string{time.RFC3339, signforms.UnixSeconds, signforms.UnixMilliseconds}
	if date {
		layouts = []string{time.DateOnly}
	}
	for _, layout := range layouts {
		if r.filters(ctx, oldest, newest, func(e *signforms.Endpoint) { e.TimeLayout = layout }) {
			r.say("times", Differs, "they are refused; the layout %s is taken", layout)
			return
		}
	}
}

// otherDateNames looks for the names of dateFrom and dateTo where these are ignored.
func (r *run) otherDateNames(ctx context.Context, oldest, newest time.Time) {
	for _, names := range [][2]string{{"from", "to"}, {"startDate", "endDate"}, {"fromDate", "toDate"}, {"createdFrom", "createdTo"}} {
		if r.filters(ctx, oldest, newest, func(e *signforms.Endpoint) { e.Names["dateFrom"], e.Names["dateTo"] = names[0], names[1] }) {
			r.say("times", Differs, "dateFrom and dateTo are called %s and %s", names[0], names[1])
			return
		}
	}
}

// filters tries an endpoint for dates, and keeps it when both of the SDK's own bounds act.
func (r *run) filters(ctx context.Context, oldest, newest time.Time, change func(*signforms.Endpoint)) bool {
	tried := r.with(signforms.OpListDocuments, change)
	ask := func(p params) answer {
		p.Limit = 1
		return r.documentsBy(ctx, tried, p)
	}
	listed := func(a answer) bool { return a.ok() && len(a.records) > 0 }
	if !ask(params{DateFrom: newest.Add(3 * day)}).none() || !listed(ask(params{DateFrom: oldest.Add(-2 * day)})) ||
		!ask(params{DateTo: oldest.Add(-2 * day)}).none() || !listed(ask(params{DateTo: newest.Add(3 * day)})) {
		return false
	}
	r.report.Endpoints = tried
	return true
}

// exactTime is a createdAt with its zone and milliseconds.
var exactTime = regexp.MustCompile(`T\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:?\d\d)$`)

// witness returns a document whose time tells all readings of a bound apart: it is printed with a zone and milliseconds, is not on a
// whole second, and is away from midnight. It is from the middle of the list.
func (r *run) witness() (record, bool) {
	n := len(r.sample)
	for i := range n {
		rec := r.sample[(n/2+i)%n]
		var text string
		at := rec.created.UTC()
		if !unmarshal(rec.raw["createdAt"], &text) || !exactTime.MatchString(text) || at.Nanosecond() == 0 {
			continue
		}
		if start := at.Truncate(day); at.Sub(start) > 2*time.Second && start.Add(day).Sub(at) > 2*time.Second {
			return rec, true
		}
	}
	return record{}, false
}

func (r *run) ends(ctx context.Context) {
	rec, found := r.witness()
	if !found {
		for _, fact := range []string{"dateFrom included", "dateTo included"} {
			r.say(fact, CannotTell, "no document has a time that would show it, with milliseconds and a zone")
		}
		return
	}
	at := rec.created.UTC()
	from := end{r: r, ctx: ctx, rec: rec, fact: "dateFrom included", order: signforms.OldestFirst, out: time.Millisecond, dayOut: signformstest.EndAtDayStart, dayIn: signformstest.EndAtDayEnd,
		last: at.Truncate(day).Add(day - time.Millisecond), param: func(p *params, t time.Time) { p.DateFrom = t }}
	to := end{r: r, ctx: ctx, rec: rec, fact: "dateTo included", order: signforms.NewestFirst, out: -time.Millisecond, dayOut: signformstest.EndAtDayEnd, dayIn: signformstest.EndAtDayStart,
		last: at.Truncate(day), param: func(p *params, t time.Time) { p.DateTo = t }}
	r.report.Profile.DateFrom = from.read()
	r.report.Profile.DateTo = to.read()
}

// end is one end of the dates, and a document that is inside or outside.
type end struct {
	r     *run
	ctx   context.Context
	rec   record
	fact  string
	order signforms.SortOrder
	out   time.Duration // moves the end so that it no longer includes the document
	last  time.Time     // the furthest end of the document's day in that direction
	// What the end means if it is cut to the day: towards outside, so that the document is included, or towards inside.
	dayOut, dayIn signformstest.DateEnd
	param         func(*params, time.Time)
}

// seen is whether the document is listed with an end.
type seen int

const (
	hidden seen = iota
	listed
	unseen // it cannot be told: the list does not reach so far, or the request failed
)

func (e end) at(t time.Time) seen {
	p := params{Limit: e.r.size}
	if e.r.sorted {
		p.SortOrder = e.order
	}
	e.param(&p, t)
	a := e.r.documents(e.ctx, p)
	if !a.ok() {
		return unseen
	}
	further := false // a document behind this one is listed, so the list reaches it
	for _, other := range a.records {
		if other.id == e.rec.id {
			return listed
		}
		further = further || e.r.sorted && (e.out > 0 && other.created.After(e.rec.created) || e.out < 0 && other.created.Before(e.rec.created))
	}
	if further || len(a.records) < len(e.r.sample) || e.r.complete {
		return hidden
	}
	return unseen
}

// read asks with an end at the document's own time, and beside it. Each reading of an end is told by a pair of ends, one of which
// lists the document and one does not.
func (e end) read() signformstest.DateEnd {
	r, t := e.r, e.rec.created.UTC()
	own, beside := e.at(t), e.at(t.Add(e.out))
	switch {
	case own == listed && beside == hidden:
		r.say(e.fact, Holds, "a document of that millisecond is listed, and not with an end beside it")
	case own == listed && beside == listed:
		return e.cut()
	case own == hidden && e.at(t.Add(-e.out)) == listed:
		r.say(e.fact, Differs, "its own millisecond is left out")
		return signformstest.EndExcluded
	case own == hidden:
		inner := e.last.Add(-time.Duration(sign(e.out)) * day) // the same edge of the day before, or after
		if e.at(inner) != listed {
			r.say(e.fact, CannotTell, "a document of that time is left out, and one of the day beside it too")
			return 0
		}
		r.say(e.fact, Differs, "its own millisecond is left out, and more beside it")
		if e.at(inner.Add(e.out)) == hidden {
			return e.dayIn
		}
	default:
		r.say(e.fact, CannotTell, "the list does not reach a document that would show it")
	}
	return 0
}

func sign(d time.Duration) int {
	if d < 0 {
		return -1
	}
	return 1
}

// cut finds how far an end reaches that is wider than it says.
func (e end) cut() signformstest.DateEnd {
	r, t := e.r, e.rec.created.UTC()
	next := func(unit time.Duration) time.Time { // the first end beyond the unit
		if e.out > 0 {
			return t.Truncate(unit).Add(unit)
		}
		return t.Truncate(unit).Add(-time.Millisecond)
	}
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{time.Second, "second"}, {time.Minute, "minute"}} {
		if e.at(next(unit.d)) == hidden {
			r.say(e.fact, Differs, "it reaches beyond its own millisecond, within the %s", unit.name)
			return 0
		}
	}
	if e.at(next(day).Add(time.Duration(sign(e.out))*2*day)) != hidden {
		r.say(e.fact, CannotTell, "no end leaves the document out")
		return 0
	}
	r.say(e.fact, Differs, "a document beyond it is listed")
	if e.at(e.last) == listed && e.at(next(day)) == hidden {
		r.say(e.fact, Differs, "it is widened to the day")
		return e.dayOut
	}
	return 0
}
