package probe

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// This file holds what is said of every answer against each answer of the run, whatever it was asked for.

// rule is what a fact says of each answer.
type rule struct {
	facts []string
	// of names the observations. Where it is set, the answers alone tell the fact; else they only put in doubt what a step has told.
	of string
	// refutes is set where what is against the fact shows that it differs; else it only leaves the fact open.
	refutes bool
	look    func(*tally, answer)
	then    func(*run, *tally) // may be nil; notes what the Profile needs
}

// tally is what the answers of a run show about a rule. Each observation counts once, by its name.
type tally struct {
	*run
	agree, against map[string]bool
	at             answer // the one that is looked at
	witness, doubt string // the first observation that is against the fact, or leaves it open
}

// see notes an observation. What is against the fact is described by what.
func (t *tally) see(name string, agrees bool, what string) {
	if agrees {
		t.agree[name] = true
		return
	}
	if t.against[name] = true; t.witness == "" {
		t.witness = what + ", in the answer to " + t.at.request()
	}
}

// request describes what was asked, without ids and times.
func (a answer) request() string {
	text := []string{string(a.Operation)}
	for _, name := range slices.Sorted(maps.Keys(a.in)) {
		if name != "documentType" || a.in[name] != "PDF" {
			text = append(text, Describe(name)+"="+DescribeInput(a.in[name]))
		}
	}
	return strings.Join(text, " ")
}

// only reports whether an answer is to a list of documents, of type PDF, with no inputs but these.
func (a answer) only(names ...string) bool {
	for name := range a.in {
		if name != "documentType" && !slices.Contains(names, name) {
			return false
		}
	}
	return a.Operation == signforms.OpListDocuments && a.ok() && a.in["documentType"] == "PDF"
}

var (
	shaping   = []string{"limit", "page", "sortOrder"}
	filtering = []string{"status", "dateFrom", "dateTo", "archive", "documentId"}
)

// documentLists reports whether an answer lists documents or templates.
func documentLists(a answer) bool { return a.Operation == signforms.OpListDocuments && a.ok() }

// whole returns the lists of documents without a filter, in the order of the run.
func (r *run) whole() (lists []answer) {
	for _, a := range r.seen {
		if a.only(shaping...) && len(a.records) > 0 {
			lists = append(lists, a)
		}
	}
	return lists
}

// everything returns each document that a list held in this run, once, as it was first seen; with the id of an answer, before that.
func (r *run) everything(until ...string) (all []record) {
	known := map[string]bool{}
	for _, a := range r.seen {
		if slices.Contains(until, a.id) {
			break
		}
		if !a.only(slices.Concat(shaping, filtering)...) {
			continue
		}
		for _, rec := range a.records {
			if rec.raw != nil && rec.id != "" && !known[rec.id] {
				known[rec.id] = true
				all = append(all, rec)
			}
		}
	}
	return all
}

// ofEach looks at the records of one type of document.
func ofEach(kind string, look func(t *tally, rec record)) func(*tally, answer) {
	return func(t *tally, a answer) {
		for _, rec := range a.records {
			typed := rec.doc != nil && (kind == "PDF_TEMPLATE") == isTemplate(rec) // else documentType is ignored
			if documentLists(a) && a.in["documentType"] == kind && typed && rec.raw != nil && rec.id != "" {
				look(t, rec)
			}
		}
	}
}

// judge holds each rule against all answers.
func (r *run) judge() {
	for _, u := range rules {
		t := &tally{run: r, agree: map[string]bool{}, against: map[string]bool{}}
		for _, t.at = range r.seen {
			u.look(t, t.at)
		}
		for _, fact := range u.facts {
			r.apply(fact, u, t)
		}
		if u.then != nil {
			u.then(r, t)
		}
	}
	r.archive()
}

func (r *run) apply(fact string, u rule, t *tally) {
	maps.DeleteFunc(t.agree, func(name string, _ bool) bool { return t.against[name] })
	n := len(t.agree) + len(t.against)
	is, told := r.outcomes[fact]
	switch {
	case u.refutes && is.Outcome != Differs && t.witness != "":
		r.note(fact, Differs, "%s", t.witness)
	case told && (is.Outcome != Holds || t.witness == ""), !told && u.of == "":
	case t.witness != "" && u.of != "":
		r.note(fact, Differs, "not in %d of %d %s: %s", len(t.against), n, u.of, t.witness)
	case t.witness != "":
		r.note(fact, CannotTell, "one answer contradicts it: %s", t.witness)
		r.doubted = append(r.doubted, fact)
	case t.doubt != "":
		r.note(fact, CannotTell, "%s", t.doubt)
	case n > 0:
		r.note(fact, Holds, "in %d of %d %s, with the right key", n, n, u.of)
	}
}

// rules are the facts that say something of every answer.
var rules = []rule{
	{facts: []string{"redirects"}, of: "lists", look: func(t *tally, a answer) {
		if a.ok() || a.Status/100 == 3 || a.Status != 0 && t.stop == nil {
			t.see(a.id, a.Status/100 != 3, a.short())
		}
	}},
	{facts: []string{"pagination"}, of: "lists", look: lookPagination, then: func(r *run, t *tally) {
		r.report.Profile.NoPagination = len(t.against) > 0 && len(t.agree) == 0 && t.doubt == ""
	}},
	{facts: []string{"empty list"}, of: "lists", look: lookEmpty, then: func(r *run, t *tally) {
		forms := map[signformstest.NoneForm]bool{}
		for name := range t.against {
			forms[ifThen(strings.HasPrefix(name, "null "), signformstest.NoneIsNull, signformstest.NoneIsMissing)] = true
		}
		for form := range forms {
			if len(forms) == 1 && len(t.agree) == 0 && t.doubt == "" {
				r.report.Profile.None = form
			}
		}
	}},
	{facts: []string{"id filter"}, look: func(t *tally, a answer) {
		if once := slices.Compact(slices.Sorted(slices.Values(ids(a.records)))); a.only(shaping...) {
			t.see(a.id, len(once) == len(a.records), fmt.Sprintf("%d records are only %d documents", len(a.records), len(once)))
		}
	}, then: (*run).doubled},
	{facts: []string{"limit one"}, refutes: true, look: func(t *tally, a answer) {
		if documentLists(a) && a.in["limit"] == "1" {
			t.see(a.id, len(a.records) < 2, fmt.Sprintf("%d documents", len(a.records)))
		}
	}},
	{facts: []string{"limit one"}, look: func(t *tally, a answer) {
		if a.only("limit", "sortOrder") && a.in["limit"] == "1" {
			t.see(a.id, len(a.records) > 0, "no documents")
		}
	}},
	{facts: []string{"largest limit"}, look: lookLargest, then: func(r *run, _ *tally) {
		if refused, taken := r.unsteady(); taken > 0 {
			r.note("largest limit", CannotTell, "limit=%d was refused, and %d was taken", refused, taken)
			r.report.Profile.MaxLimit, r.report.Profile.CutLimit = 0, false
		}
	}},
	{facts: []string{"times"}, look: func(t *tally, a answer) {
		if (len(a.in["dateFrom"]) == len(wireTime) || len(a.in["dateTo"]) == len(wireTime)) && a.refused() && !a.missing() {
			t.see(a.id, false, a.short())
		}
	}},
	{facts: []string{"totals"}, look: lookTotals},
	{facts: []string{"pages"}, look: lookPages},
	{facts: []string{"default order"}, look: func(t *tally, a answer) {
		sorted("", 1)(t, a)
		newest := slices.IndexFunc(t.sample, func(rec record) bool { return a.in["status"] == "" || a.in["status"] == statusOf(rec) })
		if a.only("limit", "status") && len(a.records) > 0 && newest >= 0 {
			t.see(a.id, !a.records[0].created.Before(t.sample[newest].created), "it does not begin with the newest")
		}
	}},
	{facts: []string{"sort orders"}, look: func(t *tally, a answer) {
		sorted("asc", -1)(t, a)
		sorted("desc", 1)(t, a)
	}},
	{facts: theDates, look: lookDates},
	{facts: []string{"status in progress"}, refutes: true, look: ofEach("PDF", func(t *tally, rec record) {
		t.see(rec.id, !oddStatus(statusOf(rec)), "a document has a status that is not known")
	})},
	{facts: []string{"id filter"}, look: func(t *tally, a answer) {
		id := a.in["documentId"]
		if id != "" && (a.ok() || a.missing()) && slices.Contains(ids(t.everything()), id) {
			t.see(id, len(a.records) == 1 && strings.EqualFold(a.records[0].id, id), fmt.Sprintf("%d records by the id of one that is listed", len(a.records)))
		}
	}},
	{facts: []string{"document fields"}, of: "documents", look: ofEach("PDF", func(t *tally, rec record) { t.fields(rec, documentFields) })},
	{facts: []string{"template fields"}, of: "templates", look: ofEach("PDF_TEMPLATE", func(t *tally, rec record) { t.fields(rec, templateFields) })},
	{facts: []string{"spellings"}, of: "documents", look: ofEach("PDF", lookSpellings), then: func(r *run, t *tally) {
		r.report.Profile.Aliases = len(t.against) > 0 && len(t.agree) == 0 && t.doubt == ""
	}},
	{facts: []string{"signer statuses"}, of: "signers", look: lookSigners},
	{facts: []string{"created format"}, of: "documents and templates", look: func(t *tally, a answer) {
		look := func(t *tally, rec record) {
			var at string
			raw, there := rec.raw["createdAt"]
			t.see(rec.id, unmarshal(raw, &at) && createdForm.MatchString(at), ifThen(there, "another form", "it is missing"))
		}
		ofEach("PDF", look)(t, a)
		ofEach("PDF_TEMPLATE", look)(t, a)
	}},
}

// doubled takes back what was said of numbers of documents if a list has a document twice: what was counted are records.
func (r *run) doubled(t *tally) {
	for _, fact := range []string{"page size", "largest limit", "documents count", "totals"} {
		if t.witness != "" {
			r.note(fact, CannotTell, "%s", t.witness)
		}
	}
	if p := &r.report.Profile; t.witness != "" {
		p.PageSize, p.MaxLimit, p.CutLimit, p.CountPage = 0, 0, false, false
	}
}

// inLists returns the ids of the documents of this run, but for those that only a list of the archived ones held.
func (r *run) inLists() (all []string) {
	known := map[string]bool{}
	for _, a := range r.seen {
		if a.only(slices.Concat(shaping, filtering)...) && a.in["archive"] == "" {
			for _, id := range ids(a.records) {
				known[id] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// lookLargest looks for lists that end before 100 documents and before those that were known. How a date bounds the
// list is not known here, so that the bounded side does not count.
func lookLargest(t *tally, a answer) {
	n, sign := len(a.records), direction(a.records)
	if !a.only("limit", "sortOrder", "dateFrom", "dateTo", "archive") || a.in["limit"] != fmt.Sprint(assumedLimit) {
		return
	}
	if a.only("limit", "sortOrder") {
		all := len(t.inLists())
		if c := a.counts.DocumentsCount; c != nil {
			all = max(all, *c)
		}
		t.see(a.id, n >= min(assumedLimit, all), fmt.Sprintf("%d documents of %d that were seen or counted", n, all))
	}
	if sign*sign != 1 || a.in[ifThen(sign > 0, "dateTo", "dateFrom")] != "" {
		return
	}
	further := 0
	for _, rec := range t.everything(a.id) {
		if rec.created.Compare(a.records[n-1].created) == sign && (a.in["archive"] == "true") == rec.doc.IsArchived {
			further++
		}
	}
	t.see(a.id, n >= assumedLimit || further == 0, fmt.Sprintf("%d documents, and %d known ones are further on", n, further))
}

// unsteady returns a limit that was refused without other inputs, and one as large that was taken; or 0.
func (r *run) unsteady() (refused, taken int) {
	for _, a := range r.seen {
		var limit int
		fmt.Sscan(a.in["limit"], &limit)
		switch alone := a.Operation == signforms.OpListDocuments && len(a.in) == 2; {
		case alone && a.ok():
			taken = max(taken, limit)
		case alone && a.refused() && limit > 0:
			refused = min(cmp.Or(refused, limit), limit)
		}
	}
	if refused == 0 || taken < refused {
		return 0, 0
	}
	return refused, taken
}

// lookTotals compares the pages that a list counts with the documents that it counts.
func lookTotals(t *tally, a answer) {
	p, limit := a.counts.Pagination, 0
	fmt.Sscan(a.in["limit"], &limit)
	if a.only(shaping...) && t.limited && limit > 0 && limit < t.size && p != nil && p.TotalDocuments != nil && p.TotalPages != nil {
		t.see(a.id, *p.TotalPages == (*p.TotalDocuments+limit-1)/limit, fmt.Sprintf("%d pages for %d documents", *p.TotalPages, *p.TotalDocuments))
	}
}

func lookPagination(t *tally, a answer) {
	if !documentLists(a) {
		return
	}
	p := a.counts.Pagination
	_, there := object(a.raw)["pagination"]
	if read := p != nil && (p.TotalPages != nil || p.TotalDocuments != nil || p.CurrentPage != nil); !read && there {
		t.doubt = "it has none of the fields that the SDK reads"
	} else {
		t.see(a.id, read, "it is missing")
	}
}

// lookPages looks for pages of one size and order that have documents in common. New documents move the others, which is not told apart.
func lookPages(t *tally, a answer) {
	for _, b := range t.whole() {
		same := a.in["limit"] == b.in["limit"] && a.in["sortOrder"] == b.in["sortOrder"]
		if same && a.only(shaping...) && a.in["page"] == "2" && len(a.records) > 0 && (b.in["page"] == "" || b.in["page"] == "1") {
			n := shared(a.records, b.records)
			t.see(a.id, n == 0, fmt.Sprintf("%d records of page 2 are on page 1 too", n))
		}
	}
}

// lookEmpty looks at lists without records. A 404, or a success without a body or with null that the SDK cannot read, may mean that
// there are none, or that the inputs are refused.
func lookEmpty(t *tally, a answer) {
	_, there := object(a.Body)["documents"]
	blank := a.Status/100 == 2 && !a.ok() && (there || len(bytes.TrimSpace(a.Body)) == 0)
	filtered := a.in["page"] != "" || a.in["dateFrom"] != "" || a.in["dateTo"] != "" || a.in["archive"] != ""
	if t.first.ok() && a.Operation == signforms.OpListDocuments && (blank || filtered && a.missing()) {
		t.doubt = "no list, where there may be no records: " + a.short() + ", in the answer to " + a.request()
	}
	if !documentLists(a) || len(a.records) > 0 || a.Status != http.StatusOK {
		return
	}
	raw := object(a.raw)["documents"]
	switch text := strings.Join(strings.Fields(string(raw)), ""); {
	case !there:
		t.see("missing "+a.id, false, "its key is missing")
	case text == "null":
		t.see("null "+a.id, false, "null")
	case text == "[]":
		t.see(a.id, true, "")
	default:
		t.doubt = "what is there is no array"
	}
}

// sorted looks at neighbours of a list: none may stand to the next as bad says, which is 1 for a later time after an earlier one.
func sorted(order string, bad int) func(*tally, answer) {
	return func(t *tally, a answer) {
		if !a.only(slices.Concat(shaping, filtering)...) || a.in["sortOrder"] != order {
			return
		}
		for i := 1; i < len(a.records); i++ {
			one, two := a.records[i-1], a.records[i]
			if !one.created.IsZero() && !two.created.IsZero() {
				t.see(a.id+two.id, two.created.Compare(one.created) != bad, fmt.Sprintf("documents %d and %d are the other way round", i, i+1))
			}
		}
	}
}

// lookDates looks for documents that are days outside of a range. An end may be widened to the day of another zone.
func lookDates(t *tally, a answer) {
	if !a.only(slices.Concat(shaping, filtering)...) {
		return
	}
	for name, sign := range map[string]time.Duration{"dateFrom": -1, "dateTo": 1} {
		end, err := time.Parse(time.RFC3339, a.in[name])
		if err != nil {
			end, err = time.Parse(time.DateOnly, a.in[name])
		}
		for _, rec := range a.records {
			if err == nil && !rec.created.IsZero() {
				t.see(a.id+rec.id+name, rec.created.Sub(end)*sign < 3*day, "a document is outside of the range")
			}
		}
	}
}
