package outbox

import (
	"database/sql"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
)

// clockTolerance is how far createdAt may be before the service's time at the claim.
const clockTolerance = 2 * time.Minute

// doubt is a message that is sending or undecided, with what its document must show.
type doubt struct {
	row
	params signforms.TemplateSendParams
}

// doubts reads the messages of a template that are sending or undecided.
func (t *tx) doubts(template string) (all []*doubt) {
	t.each(func(rows *sql.Rows) error {
		var text []byte
		r, err := scanRow(rows, &text)
		if err != nil {
			return err
		}
		c, err := decode(text)
		all = append(all, &doubt{r, c.TemplateSendParams})
		return err
	}, "SELECT "+columns+", content FROM signforms_outbox WHERE box = $1 AND template = $2 AND state IN ('sending', 'undecided') ORDER BY id", t.box, template)
	return all
}

// matcher finds the doubts whose document a document may be. It agrees with TemplateSendParams.MayMatch, but compares
// only doubts with an address of the document, if all addresses could be read.
type matcher struct {
	all       []*doubt
	byAddress map[string][]*doubt // by the first address
	loose     []*doubt            // whose first address cannot be compared as text
}

func newMatcher(all []*doubt) *matcher {
	m := &matcher{all: all, byAddress: map[string][]*doubt{}}
	other := document{record: &signforms.Respondent{Signers: []signforms.Signer{{Email: "nobody@outbox.invalid"}}}}
	for _, d := range all {
		first := d.receivers[0]
		if other.mayBe(signforms.TemplateSendParams{Receivers: []signforms.Receiver{{Email: first}}}) {
			m.loose = append(m.loose, d)
		} else {
			m.byAddress[first] = append(m.byAddress[first], d)
		}
	}
	return m
}

// of returns the doubts whose document d may be. A document that was listed before the first claim of a message is not
// its document. walk is 0 for one that was not listed before.
func (m *matcher) of(d document, walk int64) (found []*doubt) {
	possible := m.all
	if d.record.AddressesReadable() {
		possible = slices.Clone(m.loose)
		for _, s := range d.record.Signers {
			possible = append(possible, m.byAddress[normalAddress(s.Email)]...)
		}
	}
	for _, one := range possible {
		if (walk == 0 || walk > one.firstWalk) && d.mayBe(one.params) && !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return found
}

// settlement decides the doubts of a walk in the transaction that stores the decisions.
type settlement struct {
	*walk
	t          *tx
	doubts     []*doubt
	candidates map[int64][]*unowned // by message
	rivals     map[string][]*doubt  // the messages that may have a document, by its id
	newest     int64                // the last walk that listed a document for the first time that no message has
	wait       time.Duration
}

// settleDoubts decides the doubts that are due, and returns how long those have to wait that wait for another message.
func (w *walk) settleDoubts(t *tx) time.Duration {
	s := &settlement{walk: w, t: t, doubts: t.doubts(w.template), candidates: map[int64][]*unowned{}, rivals: map[string][]*doubt{}}
	s.match()
	for again := true; again; { // a decision may leave another message a single candidate
		again = false
		for _, d := range s.doubts {
			if u := s.certain(d); u != nil && s.due(d) && len(s.rivals[u.id]) == 1 {
				s.isSent(d, u)
				again = true
			}
		}
	}
	for _, d := range s.doubts {
		if s.due(d) {
			s.decide(d)
		}
	}
	return s.wait
}

// match finds the candidates of each message, without documents that have got a message since the walk began.
func (s *settlement) match() {
	has := map[string]bool{}
	s.t.each(func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		has[id] = true
		return err
	}, "SELECT document FROM signforms_outbox_documents WHERE box = $1 AND template = $2 AND message <> 0", s.t.box, s.template)
	m := newMatcher(s.doubts)
	for i := range s.unowned {
		u := &s.unowned[i]
		if has[u.id] {
			continue
		}
		if s.newest = max(s.newest, u.walk); u.walk == 0 {
			s.newest = newWalk
		}
		if u.doc.record == nil {
			continue
		}
		for _, d := range m.of(u.doc, u.walk) {
			s.candidates[d.id] = append(s.candidates[d.id], u)
			if s.due(d) || d.state == Sending || d.looked == 0 || slices.Contains(d.row.candidates, u.id) {
				s.rivals[u.id] = append(s.rivals[u.id], d)
			}
		}
	}
}

// newWalk is a number above that of any walk that has ended.
const newWalk = 1 << 62

// due reports whether this walk decides a doubt.
func (s *settlement) due(d *doubt) bool {
	if d.state == Undecided {
		return s.again
	}
	return s.same(d.row) && s.walk.doubts[d.id].remain == 0
}

// certain returns the only candidate of a doubt, if that shows the receivers and is not older than the send.
func (s *settlement) certain(d *doubt) *unowned {
	if len(s.candidates[d.id]) != 1 {
		return nil
	}
	u := s.candidates[d.id][0]
	old := d.serviceAt > 0 && !u.doc.created.IsZero() && u.doc.created.UnixMilli() < d.serviceAt-clockTolerance.Milliseconds()
	if old || !u.doc.record.AddressesReadable() || !u.doc.shows(d.receivers) {
		return nil
	}
	return u
}

// isSent records the document of a doubt, which is no candidate of others any longer.
func (s *settlement) isSent(d *doubt, u *unowned) {
	if s.t.own(d.id, s.template, u.id) {
		s.t.sent(d.row, u.doc, d.claimedAt)
	}
	is := func(other *doubt) bool { return other == d }
	s.doubts = slices.DeleteFunc(slices.Clone(s.doubts), is)
	for _, other := range s.candidates[d.id] {
		s.rivals[other.id] = slices.DeleteFunc(s.rivals[other.id], is)
	}
	delete(s.candidates, d.id)
	for id, all := range s.candidates {
		s.candidates[id] = slices.DeleteFunc(all, func(other *unowned) bool { return other == u })
	}
}

// decide settles a doubt that is due and has no certain document.
func (s *settlement) decide(d *doubt) {
	candidates := []string{}
	for _, u := range s.candidates[d.id] {
		candidates = append(candidates, u.id)
	}
	reason := "several documents may be this send, or one that others may have too"
	if len(candidates) == 0 {
		reason = "the service's list does not show who signs"
	}
	switch clean := len(candidates) == 0 && s.proven(d); {
	case d.state == Undecided && d.looked == 0:
		s.t.undecide(d.row, candidates, 1, reason)
	case d.state == Undecided || s.waits(d):
	case clean && d.phase != phaseClean:
		s.t.change(d.id, "phase = $2, watched = 0", phaseClean)
	case !clean && d.phase == phaseFirst:
		s.t.change(d.id, "phase = $2, watched = 0", phaseUnclear)
	case !clean:
		s.t.undecide(d.row, candidates, 1, reason)
	case d.notSent+1 >= maxNotSent:
		s.t.stop(d.row, "the outcome was unknown 5 times, and each time the message was found not to be sent: "+d.err)
	default:
		s.t.wait(d.row, 0, "not_sent = $5", d.notSent+1)
	}
}

// proven reports whether the document of a message would have been recognised: every document has a message or was listed
// before the first claim, or addresses are readable.
func (s *settlement) proven(d *doubt) bool {
	return s.newest <= d.firstWalk || s.readable && !s.masked
}

// waits reports whether a candidate may be the document of a message that is not due yet.
func (s *settlement) waits(d *doubt) bool {
	var wait time.Duration
	for _, u := range s.candidates[d.id] {
		for _, other := range s.rivals[u.id] {
			if other.id == d.id || other.state != Sending || other.phase != phaseFirst {
				continue
			}
			remain := watchMargin + millis(other.timeout) // of one that was claimed during the walk
			if seen, known := s.walk.doubts[other.id]; known && s.same(other.row) {
				remain = seen.remain
			}
			wait = max(wait, remain)
		}
	}
	if wait == 0 || s.walk.doubts[d.id].doubted >= lookedUpFor {
		return false
	}
	if s.wait == 0 || wait < s.wait {
		s.wait = wait
	}
	return true
}
