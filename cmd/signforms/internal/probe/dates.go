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

var theDates = []string{"times", "dates alone", "dateFrom included", "dateTo included"}

// dates asks which formats of dates are taken, and what dateFrom and dateTo include.
func (r *run) dates(ctx context.Context) {
	var oldest, newest time.Time
	for _, rec := range r.everything() {
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
	times := r.format(ctx, "times", wireTime, oldest.Add(-2*day), newest.Add(3*day), oldest, newest)
	alone := r.format(ctx, "dates alone", time.DateOnly, newest, newest, oldest, newest) // one day, to its end
	r.sayFormat("times", times, alone)
	r.sayFormat("dates alone", alone, times)
	switch {
	case times == taken && alone == rejected:
		r.report.Profile.DateFormat = signformstest.TimeOnly
	case alone == taken && times == rejected:
		r.report.Profile.DateFormat = signformstest.DateOnly
	}
	switch {
	case times == taken || times == half:
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
	taken           // bounds around documents list them; a dateFrom behind all does not, nor a dateTo before all
	half            // only one of dateFrom and dateTo acts
	unused          // all of these list documents
	rejected        // refused
)

// format asks for the documents between two bounds, for those behind the newest and for those before the oldest. What gives the bounds
// of one kind away is noted at once.
func (r *run) format(ctx context.Context, fact, layout string, from, to, oldest, newest time.Time) format {
	ask := func(set ...string) answer { return r.documents(ctx, params{Limit: 1}, set...) }
	text := func(at time.Time) string { return at.UTC().Format(layout) }
	within := ask("dateFrom", text(from), "dateTo", text(to))
	behind, before := ask("dateFrom", text(newest.Add(3*day))), ask("dateTo", text(oldest.Add(-2*day)))
	if n := len(before.records); n > 0 && before.records[0].created.Before(oldest) { // it acts, and shows what no list without it did
		before.records = nil
		if r.holds("sort orders") {
			r.say("sort orders", CannotTell, "dateTo shows older documents than asc begins with")
		}
	}
	switch first, last := formatOf(within, behind), formatOf(within, before); {
	case first == last:
		return first
	case first == taken && last == unused || first == unused && last == taken:
		r.say(fact, Differs, "%s is ignored", ifThen(last == unused, "dateTo", "dateFrom"))
		return half
	}
	return unclear
}

func formatOf(within, beyond answer) format {
	switch {
	case within.refused() && beyond.refused() && !within.missing():
		return rejected
	case !within.ok() || len(within.records) == 0:
		return unclear
	case beyond.none():
		return taken
	case beyond.ok():
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
		r.say(fact, CannotTell, "they are ignored, whatever they say")
	case is == rejected:
		r.say(fact, CannotTell, "they are refused, whatever they say")
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
// whole second, and is away from midnight. It is from the middle of the list, and one of several of that time if there are such: what
// the service stores may be finer than what it prints.
func (r *run) witness() (rec record, found bool) {
	n, most := len(r.sample), 0
	for i := range n {
		candidate := r.sample[(n/2+i)%n]
		var text string
		at := candidate.created.UTC()
		if !unmarshal(candidate.raw["createdAt"], &text) || !exactTime.MatchString(text) || at.Nanosecond() == 0 {
			continue
		}
		start, same := at.Truncate(day), ofTime(r.sample, candidate)
		if at.Sub(start) > 2*time.Second && start.Add(day).Sub(at) > 2*time.Second && same > most {
			rec, found, most = candidate, true, same
		}
	}
	return rec, found
}

// ofTime returns how many records have the time of rec.
func ofTime(records []record, rec record) (n int) {
	for _, other := range records {
		if other.created.Equal(rec.created) {
			n++
		}
	}
	return n
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
	a := twice(func() answer { return e.r.documents(e.ctx, p) }) // there are documents on both sides
	if !a.ok() {
		return unseen
	}
	further := false // a document behind this one is listed, so the list reaches it
	for _, other := range a.records {
		if other.id == e.rec.id {
			return ifThen(ofTime(a.records, e.rec) >= ofTime(e.r.sample, e.rec), listed, unseen)
		}
		further = further || e.r.sorted && (e.out > 0 && other.created.After(e.rec.created) || e.out < 0 && other.created.Before(e.rec.created))
	}
	if some := ofTime(a.records, e.rec); some > 0 {
		return unseen
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
	case own == hidden && e.at(t.Add(-e.out)) == listed && e.at(t) == hidden:
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
