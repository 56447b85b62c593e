package probe

import (
	"context"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

const (
	day       = 24 * time.Hour
	wireTime  = "2006-01-02T15:04:05.000Z"
	finerTime = "2006-01-02T15:04:05.000000Z"
	far       = 731 * day // so far outside that an end is there too if it is cut to its day, week, month or year
)

var theDates = []string{"times", "dates alone", "dateFrom included", "dateTo included"}

// dates asks which formats of dates are taken, and what dateFrom and dateTo include.
func (r *run) dates(ctx context.Context) {
	dated := slices.DeleteFunc(r.everything(), func(rec record) bool { return rec.created.IsZero() })
	if len(dated) == 0 {
		r.say("times", CannotTell, "no document has a time that can be read")
		return
	}
	oldest, newest := slices.MinFunc(dated, byTime).created, slices.MaxFunc(dated, byTime).created
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
		if r.otherLayout(ctx, oldest, newest, alone == taken) {
			r.sayFormat("dates alone", alone, taken)
		}
	case times == unused:
		r.otherDateNames(ctx, oldest, newest)
	}
	for _, fact := range theDates[2:] {
		r.say(fact, CannotTell, "times do not act as a filter")
	}
}

// format is what a service does with a text as a date.
type format int

const (
	unclear  format = iota
	taken           // bounds around documents list them; a dateFrom far behind all does not, nor a dateTo far before all
	half            // only one of dateFrom and dateTo acts
	unused          // the list is the same with each of these
	rejected        // refused
)

// format asks for the documents between two bounds, for those far behind the newest and for those far before the oldest. What gives
// the bounds of one kind away is noted at once.
func (r *run) format(ctx context.Context, fact, layout string, from, to, oldest, newest time.Time) format {
	ask := func(set ...string) answer { return r.documents(ctx, params{Limit: r.size}, set...) }
	text := func(at time.Time) string { return at.UTC().Format(layout) }
	within := ask("dateFrom", text(from), "dateTo", text(to))
	behind, before := ask("dateFrom", text(newest.Add(far))), ask("dateTo", text(oldest.Add(-far)))
	if n := len(before.records); n > 0 && before.records[0].created.Before(oldest) { // it acts, and shows what no list without it did
		before.records = nil
		if r.holds("sort orders") {
			r.say("sort orders", CannotTell, "dateTo shows older documents than asc begins with")
		}
	}
	switch first, last := r.formatOf(within, behind), r.formatOf(within, before); {
	case first == unused && last == unused && !r.isWhole(ask("dateFrom", text(newest.Add(far)), "dateTo", text(newest.Add(2*far)))):
		return unclear // each alone may be ignored
	case first == last:
		return first
	case first == taken && last == unused || first == unused && last == taken:
		r.say(fact, Differs, "the list is the same with a %s", ifThen(last == unused, "dateTo far before all documents", "dateFrom far behind all documents"))
		return half
	}
	return unclear
}

func (r *run) formatOf(within, beyond answer) format {
	switch {
	case within.refused() && beyond.refused() && !within.missing():
		return rejected
	case !within.ok() || len(within.records) == 0:
		return unclear
	case beyond.none():
		return taken
	case r.isWhole(beyond):
		return unused
	}
	return unclear
}

// isWhole reports whether a list is one that was given without a filter. Others may hold documents that no filter hides.
func (r *run) isWhole(a answer) bool {
	return slices.ContainsFunc(r.whole(), func(w answer) bool {
		return w.only("limit") && slices.Equal(ids(w.records), ids(a.records)) && reflect.DeepEqual(w.counts, a.counts)
	})
}

// sayFormat notes whether a format is taken. A format that is refused shows something only if another is taken: dates may be refused
// as such.
func (r *run) sayFormat(fact string, is, other format) {
	switch is {
	case taken:
		r.say(fact, Holds, "they filter")
	case unused:
		r.say(fact, Differs, "the list is the same with them, however far outside they are")
	case rejected:
		r.say(fact, ifThen(other == taken, Differs, CannotTell), "they are refused, far and near")
	}
}

// otherLayout looks for a layout that a service takes which refuses RFC 3339.
func (r *run) otherLayout(ctx context.Context, oldest, newest time.Time, date bool) (found bool) {
	layouts := []string{time.RFC3339, signforms.UnixSeconds, signforms.UnixMilliseconds}
	if date {
		layouts = []string{time.DateOnly}
	}
	for _, layout := range layouts {
		if r.filters(ctx, oldest, newest, func(e *signforms.Endpoint) { e.TimeLayout = layout }) {
			r.say("times", Differs, "they are refused; the layout %s is taken", layout)
			return true
		}
	}
	return false
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
	if !ask(params{DateFrom: newest.Add(far)}).none() || !listed(ask(params{DateFrom: oldest.Add(-2 * day)})) ||
		!ask(params{DateTo: oldest.Add(-far)}).none() || !listed(ask(params{DateTo: newest.Add(3 * day)})) {
		return false
	}
	r.report.Endpoints = tried
	return true
}

// exactTime is a createdAt with its zone and milliseconds.
var exactTime = regexp.MustCompile(`T\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:?\d\d)$`)

// witness returns a document whose time tells all readings of a bound apart: it is printed with a zone and milliseconds, is not on a
// whole second, is away from midnight, and is not that of the last change. It is from the middle of the list, and one of several of that
// time if there are such: what the service stores may be finer than what it prints. Else it says what no document has.
func (r *run) witness() (rec record, lacking string) {
	n, most := len(r.sample), 0
	lacking = "in milliseconds and with a zone that would show it"
	for i := range n {
		candidate := r.sample[(n/2+i)%n]
		var text string
		at := candidate.created.UTC()
		if !unmarshal(candidate.raw["createdAt"], &text) || !exactTime.MatchString(text) || at.Nanosecond() == 0 {
			continue
		}
		start, same := at.Truncate(day), ofTime(r.sample, candidate)
		switch {
		case at.Sub(start) <= 2*time.Second || start.Add(day).Sub(at) <= 2*time.Second:
		case candidate.doc.UpdatedAt.Equal(at):
			lacking = "other than its updatedAt, by which the service may filter"
		case same > most:
			rec, most = candidate, same
		}
	}
	return rec, ifThen(most > 0, "", lacking)
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
	rec, lacking := r.witness()
	if lacking != "" {
		for _, fact := range theDates[2:] {
			r.say(fact, CannotTell, "no document has a time %s", lacking)
		}
		return
	}
	from := end{r: r, ctx: ctx, rec: rec, name: "dateFrom", fact: "dateFrom included", order: signforms.OldestFirst, out: time.Millisecond, dayOut: signformstest.EndAtDayStart, dayIn: signformstest.EndAtDayEnd}
	to := end{r: r, ctx: ctx, rec: rec, name: "dateTo", fact: "dateTo included", order: signforms.NewestFirst, out: -time.Millisecond, dayOut: signformstest.EndAtDayEnd, dayIn: signformstest.EndAtDayStart}
	r.report.Profile.DateFrom = from.read()
	r.report.Profile.DateTo = to.read()
}

// end is one end of the dates, and a document that is inside or outside.
type end struct {
	r          *run
	ctx        context.Context
	rec        record
	name, fact string
	order      signforms.SortOrder
	out        time.Duration // moves the end so that it no longer includes the document
	// What the end means if it is cut to the day: towards outside, so that the document is included, or towards inside.
	dayOut, dayIn signformstest.DateEnd
}

// seen is whether the document is listed with an end.
type seen int

const (
	hidden seen = iota
	listed
	unseen // it cannot be told: the list does not reach so far, or the request failed
)

// at returns whether the document is listed with an end at t.
func (e end) at(t time.Time) seen { return e.shows(e.ask(t), e.rec) }

func (e end) ask(t time.Time) answer {
	p := params{Limit: e.r.size}
	if e.r.sorted {
		p.SortOrder = e.order
	}
	text := t.Format(ifThen(t.Equal(t.Truncate(time.Millisecond)), wireTime, finerTime))
	return twice(func() answer { return e.r.documents(e.ctx, p, e.name, text) }) // there are documents on both sides
}

// shows returns whether a list holds a document.
func (e end) shows(a answer, rec record) seen {
	if !a.ok() {
		return unseen
	}
	further := false // a document behind this one is listed, so the list reaches it
	for _, other := range a.records {
		if other.id == rec.id {
			return ifThen(ofTime(a.records, rec) >= ofTime(e.r.sample, rec), listed, unseen)
		}
		further = further || e.r.sorted && (e.out > 0 && other.created.After(rec.created) || e.out < 0 && other.created.Before(rec.created))
	}
	if some := ofTime(a.records, rec); some > 0 {
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
	included, excluded := own == listed && beside == hidden, own == hidden && e.at(t.Add(-e.out)) == listed && e.at(t) == hidden
	switch {
	case (included && e.out > 0 || excluded && e.out < 0) && e.finer(t, own):
		r.say(e.fact, CannotTell, "ends within that millisecond list the document or do not: how the service keeps or rounds times is not known")
	case included:
		r.say(e.fact, Holds, "a document of that millisecond is listed, and not with an end one beside it")
	case own == listed && beside == listed:
		return e.cut()
	case excluded:
		r.say(e.fact, Differs, "its own millisecond is left out")
		return signformstest.EndExcluded
	case own == hidden:
		if e.at(e.edge(e.rec).Add(-e.side()*day)) != listed {
			r.say(e.fact, CannotTell, "an end at that millisecond leaves the document out, and no further one was seen to list it")
			return 0
		}
		r.say(e.fact, Differs, "an end at that millisecond leaves the document out, and one on the day beside it does not")
		return e.toDay(false)
	default:
		r.say(e.fact, CannotTell, "the list does not reach a document that would show it")
	}
	return 0
}

// finer reports whether ends within the millisecond from t on differ, the first of which shows what the one at t does. That before t
// shows nothing: what is finer is not printed.
func (e end) finer(t time.Time, own seen) bool {
	return e.at(t.Add(time.Microsecond)) == own && e.at(t.Add(999*time.Microsecond)) == ifThen(own == listed, hidden, listed)
}

// side is 1 where a later end leaves more out, and -1 where an earlier one does.
func (e end) side() time.Duration { return ifThen[time.Duration](e.out > 0, 1, -1) }

// edge returns the furthest end on the day of a document that would list it if ends meant whole days.
func (e end) edge(rec record) time.Time {
	start := rec.created.UTC().Truncate(day)
	return ifThen(e.out > 0, start.Add(day-time.Millisecond), start)
}

// cut finds how far an end reaches that is wider than it says.
func (e end) cut() signformstest.DateEnd {
	r, t := e.r, e.rec.created.UTC()
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{time.Second, "second"}, {time.Minute, "minute"}} {
		beyond := t.Truncate(unit.d).Add(ifThen(e.out > 0, unit.d, -time.Millisecond))
		if e.at(beyond) == hidden {
			r.say(e.fact, Differs, "an end one millisecond beside it lists the document too, and one beyond its %s does not", unit.name)
			return 0
		}
	}
	if e.at(e.edge(e.rec).Add(e.side()*3*day)) != hidden {
		r.say(e.fact, Differs, "an end three days beside it lists the document too")
		return 0
	}
	r.say(e.fact, Differs, "an end one millisecond beside it lists the document too, and one three days beside it does not")
	return e.toDay(true)
}

// toDay returns the edge of their day to which ends are moved, outwards or inwards, or 0 where no document shows it. Such a document is
// more than half a day away from the other edge, and there is one on the next day, which tells a day from more days.
func (e end) toDay(outwards bool) signformstest.DateEnd {
	startOf := func(rec record) time.Time { return rec.created.UTC().Truncate(day) }
	for _, rec := range e.r.sample {
		next := slices.IndexFunc(e.r.sample, func(other record) bool { // on the day that more days would hide, or list
			return startOf(other).Equal(startOf(rec).Add(e.side() * ifThen(outwards, -day, day)))
		})
		if edge := e.edge(rec); next >= 0 && (edge.Sub(rec.created).Abs() > day/2) == outwards {
			edge = edge.Add(-e.side() * ifThen(outwards, 0, day))
			in, out := e.ask(edge), e.ask(edge.Add(e.out))
			beside := e.shows(ifThen(outwards, in, out), e.r.sample[next])
			if e.shows(in, rec) == listed && e.shows(out, rec) == hidden && beside == ifThen(outwards, hidden, listed) {
				return ifThen(outwards, e.dayOut, e.dayIn)
			}
			return 0
		}
	}
	return 0
}
