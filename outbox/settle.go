package outbox

import (
	"database/sql"
	"log/slog"
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
func (t *tx) doubts(template string) (all []*doubt, err error) {
	err = t.each(func(rows *sql.Rows) error {
		var text []byte
		r, err := scanRow(rows, &text)
		if err != nil {
			return err
		}
		c, err := decode(text)
		all = append(all, &doubt{row: r, params: c.params()})
		return err
	}, "SELECT "+columns+", content FROM signforms_outbox WHERE box = $1 AND template = $2 AND state IN ('sending', 'undecided') ORDER BY id", t.box, template)
	return all, err
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
func (w *walk) settleDoubts(t *tx) (time.Duration, error) {
	doubts, err := t.doubts(w.template)
	if err != nil {
		return 0, err
	}
	s := &settlement{walk: w, t: t, doubts: doubts}
	if err := s.match(); err != nil {
		return 0, err
	}
	for again := true; again; { // a decision may leave another message a single candidate
		again = false
		for _, d := range s.doubts {
			if !s.due(d) {
				continue
			}
			if found := s.certain(d); found != nil && !s.contested(d, found) {
				if err := s.isSent(d, found); err != nil {
					return 0, err
				}
				again = true
			}
		}
	}
	for _, d := range s.doubts {
		if err := s.decide(d); err != nil {
			return 0, err
		}
	}
	return s.wait, nil
}

// match finds the candidates of each message, without documents that have got a message since the walk began.
func (s *settlement) match() error {
	s.candidates, s.rivals, s.newest = map[int64][]*unowned{}, map[string][]*doubt{}, 0
	has := map[string]bool{}
	err := s.t.each(func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		has[id] = true
		return err
	}, "SELECT document FROM signforms_outbox_documents WHERE box = $1 AND template = $2 AND message <> 0", s.t.box, s.template)
	if err != nil {
		return err
	}
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
			if d.state == Sending || d.looked == 0 || slices.Contains(d.row.candidates, u.id) {
				s.rivals[u.id] = append(s.rivals[u.id], d)
			}
		}
	}
	return nil
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

// contested reports whether a document may be another message's too.
func (s *settlement) contested(d *doubt, u *unowned) bool {
	return slices.ContainsFunc(s.rivals[u.id], func(other *doubt) bool { return other.id != d.id })
}

func (s *settlement) isSent(d *doubt, u *unowned) error {
	mine, err := s.t.own(d.id, s.template, u.id)
	if err == nil && mine {
		err = s.t.sent(d.row, u.doc, d.claimedAt)
	}
	s.doubts = slices.DeleteFunc(slices.Clone(s.doubts), func(other *doubt) bool { return other == d })
	for id, all := range s.candidates {
		s.candidates[id] = slices.DeleteFunc(all, func(other *unowned) bool { return other == u })
	}
	for id, all := range s.rivals {
		s.rivals[id] = slices.DeleteFunc(all, func(other *doubt) bool { return other == d })
	}
	return err
}

// decide settles a doubt that has no certain document.
func (s *settlement) decide(d *doubt) error {
	candidates := []string{}
	for _, u := range s.candidates[d.id] {
		candidates = append(candidates, u.id)
	}
	switch clean := len(candidates) == 0 && s.proven(d); {
	case !s.due(d):
		return nil
	case d.state == Undecided:
		if d.looked == 1 {
			return nil
		}
		return s.t.undecide(d.row, candidates, true, d.err)
	case s.waits(d):
		return nil
	case clean && d.phase == phaseClean:
		return s.notSent(d)
	case clean:
		return s.t.change(d.id, "phase = $2, watched = 0", phaseClean)
	case d.phase == phaseFirst:
		return s.t.change(d.id, "phase = $2, watched = 0", phaseUnclear)
	}
	s.t.log(slog.LevelError, "it is not certain whether a message was sent: a person decides", slog.String("key", d.key), slog.Any("candidates", candidates))
	reason := "several documents may be this send, or one that others may have too"
	if len(candidates) == 0 {
		reason = "the service's list does not show who signs"
	}
	return s.t.undecide(d.row, candidates, true, reason)
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

// notSent makes a message pending again that two walks have not found.
func (s *settlement) notSent(d *doubt) error {
	if d.notSent+1 >= maxNotSent {
		s.t.log(slog.LevelError, "a message failed: it was found not sent several times", slog.String("key", d.key))
		return s.t.stop(d.row, "the outcome was unknown 5 times, and each time the message was found not to be sent: "+d.err)
	}
	return s.t.wait(d.row, s.t.now, 0, "not_sent = $5", d.notSent+1)
}
