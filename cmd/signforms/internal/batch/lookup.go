package batch

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// What a look-up finds out about a send whose outcome is unknown.
const (
	lookupFound      = "found"
	lookupNotFound   = "not found"
	lookupCannotTell = "cannot tell"
)

// madeList are the documents made from a template, as the service lists them, seen from one run. The documents that the run is known
// to have made are the witnesses: of what the list shows, and by their order of when a document was made by the service's clock.
type madeList struct {
	known   map[string]*signforms.Respondent // those of the journal by id; nil where the list does not show one
	strange []*signforms.Respondent          // the others
	open    map[string]int                   // how many sends to the same people have an unknown outcome
	asked   [][]string                       // the addresses of those that are looked up
	shown   []witness                        // in the order of their sends
	lost    int                              // documents of the run that the list does not show with their addresses and time
	gaps    bool                             // the service ignores the size asked for, so that a document may stand between two pages
}

// List is the service's list of the documents made from a template.
type List struct {
	TemplateID string
	All        iter.Seq2[*signforms.Respondent, error]
	Page       func(limit int) (*signforms.Page[signforms.Respondent], error) // the first
}

type witness struct {
	send *journal.Entry
	made time.Time // by the service's clock
}

// LookUp prints for each line whose outcome is unknown what the template's list of documents says. It changes nothing.
func (b *Batch) LookUp(list List, s Screen) error {
	b.matchEntries()
	open := slices.DeleteFunc(slices.Clone(b.Items), func(it *Item) bool { return !it.open() || it.toOthers() })
	b.explainGone(s.Stderr)
	if len(open)+len(b.gone) == 0 {
		fmt.Fprintln(s.Stderr, "no line has an unknown outcome")
		return nil
	}
	made, err := b.readMade(list)
	if err != nil {
		return fmt.Errorf("cannot tell: %w", err)
	}
	for _, it := range open {
		made.asked = append(made.asked, it.addresses())
	}
	decide, undecided, names := "", len(b.gone), b.names()
	for _, it := range open {
		it.Record.Item = it.Label
		it.Record.Outcome, it.Record.CreatedDocumentID, it.Record.Message = made.find(it.prior, it.addresses(), time.Now())
		switch it.Record.Outcome {
		case lookupFound:
			decide += fmt.Sprintf(" --resolve %s=done", nameFor(it, names))
		case lookupNotFound:
			decide += fmt.Sprintf(" --resolve %s=again", nameFor(it, names))
		default:
			undecided++
		}
		if err := s.Printer.Print(it.Record); err != nil {
			return err
		}
	}
	if err := s.Printer.End(); err != nil {
		return err
	}
	if decide != "" {
		fmt.Fprintf(s.Stderr, "nothing was changed; to follow this, give the same command with\n %s\n", decide)
	}
	if undecided > 0 {
		return cli.ExitWith(cli.ExitUnknown, fmt.Errorf("%d unknown", undecided))
	}
	return nil
}

func (b *Batch) readMade(list List) (*madeList, error) {
	var all []*signforms.Respondent
	read := 0
	for r, err := range list.All {
		if err != nil {
			return nil, err
		}
		if read++; strings.EqualFold(r.TemplateID, list.TemplateID) { // the service may list those of other templates too
			all = append(all, r)
		}
	}
	m := newMadeList(all, b.journal.Entries())
	if read > 1 {
		page, err := list.Page(1)
		m.gaps = err != nil || len(page.Items) != 1 && len(page.Items) < read
	}
	for _, it := range b.Items {
		if it.prior != nil && it.prior.State == journal.Done && it.prior.ID != "" {
			m.witness(it.prior, it.addresses())
		}
	}
	slices.SortFunc(m.shown, func(a, b witness) int { return a.send.Intended.Compare(b.send.Intended) })
	return m, nil
}

func newMadeList(all []*signforms.Respondent, entries []journal.Entry) *madeList {
	m := &madeList{known: map[string]*signforms.Respondent{}, open: map[string]int{}}
	for _, e := range entries {
		if e.State.Open() {
			m.open[journal.Key(e.Who...)]++
		} else if e.ID != "" {
			m.known[e.ID] = nil
		}
	}
	for _, r := range all {
		if _, ok := m.known[r.RespondentDocumentID]; ok {
			m.known[r.RespondentDocumentID] = r
		} else {
			m.strange = append(m.strange, r)
		}
	}
	return m
}

// witness notes whether the list shows the document of a send to these addresses.
func (m *madeList) witness(send *journal.Entry, to []string) {
	r := m.known[send.ID]
	if r == nil || r.CreatedAt.IsZero() || !slices.Equal(shownTo(r), to) {
		m.lost++
		return
	}
	m.shown = append(m.shown, witness{send, r.CreatedAt})
}

// shownTo returns the addresses that a document shows, as Item.addresses does.
func shownTo(r *signforms.Respondent) (all []string) {
	for _, s := range r.Signers {
		if s.Email != "" {
			all = append(all, address(s.Email))
		}
	}
	slices.Sort(all)
	return all
}

// lookAfter is how long after its last note in the journal a send may still be carried out: a service may do late what it got.
const lookAfter = 15 * time.Minute

// window returns when the document of a send was made, by the service's clock: after from, the time of the run's document before it,
// until the time at which the send was over. Both are zero where nothing shows it: no such document, or times in another order than
// the sends. later reports whether the list shows a document that was sent later.
func (m *madeList) window(e *journal.Entry) (from, until time.Time, later bool) {
	for _, w := range m.shown {
		if !w.send.At.After(e.Intended) {
			from, until = w.made, w.made.Add(e.At.Sub(w.send.Intended)+lookAfter)
		}
		later = later || !w.send.Intended.Before(e.At)
	}
	if !slices.IsSortedFunc(m.shown, func(a, b witness) int { return a.made.Compare(b.made) }) {
		return time.Time{}, time.Time{}, later
	}
	return from, until, later
}

// find says whether the list has the document of a send to these addresses, with its id.
func (m *madeList) find(e *journal.Entry, to []string, now time.Time) (outcome, id, message string) {
	from, until, later := m.window(e)
	found, seen, others := 0, []string(nil), []string(nil)
	for _, r := range m.strange {
		shown, dated := shownTo(r), !r.CreatedAt.IsZero()
		if dated && r.CreatedAt.Before(from) {
			continue
		}
		text := r.RespondentDocumentID + " made " + cmp.Or(cli.Time(r.CreatedAt), "at a time that is not shown")
		if slices.ContainsFunc(shown, func(a string) bool { return !slices.Contains(to, a) }) {
			if !(dated && !until.IsZero() && r.CreatedAt.After(until)) && !m.isAsked(shown) {
				others = append(others, text)
			}
			continue
		}
		if slices.Equal(shown, to) && r.CreatedAt.After(from) && !r.CreatedAt.After(until) {
			found++
		}
		id, message = r.RespondentDocumentID, "made "+cli.Time(r.CreatedAt)+"; one that somebody else sent to them then looks the same"
		seen = append(seen, text)
	}
	switch over := e.At.Add(lookAfter); {
	case found == 1 && len(seen) == 1 && m.open[journal.Key(e.Who...)] == 1:
		return lookupFound, id, message
	case len(seen) > 0:
		return lookupCannotTell, "", fmt.Sprintf("%s may belong to %s to the same people: %s", cli.Count(len(seen), "document", "documents"),
			cli.Count(m.open[journal.Key(e.Who...)], "unknown send", "unknown sends"), Named(seen))
	case m.lost > 0:
		return lookupCannotTell, "", fmt.Sprintf("the list has no such document, but shows only %d of the %d documents that this run is known to have made", len(m.shown), len(m.shown)+m.lost)
	case m.gaps:
		return lookupCannotTell, "", "the list has no such document, but the service ignores or refuses a size of pages, so one may have moved between two of them"
	case !later:
		return lookupCannotTell, "", "the list has no such document, but shows none of this run that was sent later, so it may lag behind"
	case len(others) > 0:
		return lookupCannotTell, "", fmt.Sprintf("%s of no known send may be it under other addresses: %s", cli.Count(len(others), "document", "documents"), Named(others))
	case now.Before(over):
		return lookupCannotTell, "", "the list has no such document yet: the send may still be carried out until " + cli.Time(over)
	}
	return lookupNotFound, "", fmt.Sprintf("the list has no such document, and all %d that this run is known to have made", len(m.shown))
}

// isAsked reports whether a document that shows these addresses may be that of another send that is looked up.
func (m *madeList) isAsked(shown []string) bool {
	return slices.ContainsFunc(m.asked, func(to []string) bool { return slices.Equal(to, shown) })
}
