package outbox

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
)

// clockTolerance is how far createdAt may be before the service's time at the claim.
const clockTolerance = 2 * time.Minute

// doubt is a message that is sending or undecided, with the content that its document must have.
type doubt struct {
	row
	params signforms.TemplateSendParams
	plain  bool // the address of its first receiver can be compared
}

// doubts reads the messages of a template that are sending or undecided.
func (t *tx) doubts(template string) (all []*doubt) {
	other := &signforms.Respondent{Signers: []signforms.Signer{{Email: "nobody@outbox.invalid"}}}
	t.each(func(rows *sql.Rows) error {
		var text []byte
		r, err := scanRow(rows, &text)
		if err != nil {
			return err
		}
		c, err := decode(text)
		first := signforms.TemplateSendParams{Receivers: c.Receivers[:min(1, len(c.Receivers))]}
		all = append(all, &doubt{r, c.TemplateSendParams, !first.MayMatch(other)})
		return err
	}, "SELECT "+columns+", content FROM signforms_outbox WHERE box = $1 AND template = $2 AND state IN ('sending', 'undecided') ORDER BY id", t.box, template)
	return all
}

// rivals returns the messages in all whose document may be r. A document that was listed before the
// first claim of a message is not its document. walk is 0 for a document that was not listed
// before. rivals gives the same results as TemplateSendParams.MayMatch, but is faster.
func rivals(all []*doubt, r *signforms.Respondent, walk int64) (found []*doubt) {
	if len(all) == 0 {
		return nil
	}
	readable := r.AddressesReadable()
	for _, d := range all {
		if (walk == 0 || walk > d.firstWalk) && (!readable || !d.plain || shows(r, d.receivers[:1])) && d.params.MayMatch(r) {
			found = append(found, d)
		}
	}
	return found
}

// settlement decides the doubts after a walk, in the transaction that stores the decisions.
type settlement struct {
	*walk
	t          *tx
	candidates map[int64][]*known  // candidates by id of the message
	rivals     map[string][]*doubt // messages to which a document may belong, by the id of the document
	newest     int64               // number of the last walk that first listed a document without a message
	wait       time.Duration
}

// settleDoubts decides the doubts that are due. It returns how long the doubts that depend on
// another message have to wait.
func (w *walk) settleDoubts(t *tx) time.Duration {
	s := &settlement{walk: w, t: t, candidates: map[int64][]*known{}, rivals: map[string][]*doubt{}}
	s.walk.doubts = t.doubts(w.template)
	s.match()
	for again := true; again; { // a decision may leave another message with a single candidate
		again = false
		for _, d := range s.doubts {
			if k := s.certain(d); k != nil && s.due(d) && len(s.rivals[k.id]) == 1 {
				s.isSent(d, k)
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

// match finds the candidates of each message, without documents that were assigned to a message
// since the walk began.
func (s *settlement) match() {
	s.t.each(func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		if k := s.known[id]; k != nil && k.message == 0 {
			k.message = -1
		}
		return err
	}, "SELECT document FROM signforms_outbox_documents WHERE box = $1 AND template = $2 AND message <> 0", s.t.box, s.template)
	for _, id := range slices.Sorted(maps.Keys(s.known)) {
		k := s.known[id]
		if !k.listed || k.message != 0 {
			continue
		}
		s.newest = max(s.newest, cmp.Or(k.walk, 1<<62)) // higher than the number of any walk that has ended
		if k.record == nil {
			continue
		}
		for _, d := range rivals(s.doubts, k.record, k.walk) {
			s.candidates[d.id] = append(s.candidates[d.id], k)
			if s.due(d) || d.state == Sending || d.looked == 0 || slices.Contains(d.row.candidates, k.id) {
				s.rivals[k.id] = append(s.rivals[k.id], d)
			}
		}
	}
}

// due reports whether this walk decides a doubt: the doubt must be due, and must be in the same
// state as when the walk began.
func (s *settlement) due(d *doubt) bool {
	w, known := s.watching(d)
	return d.state == Undecided && s.again || known && w.remain == 0
}

func (s *settlement) watching(d *doubt) (w watching, known bool) {
	w, known = s.sending[d.id]
	return w, known && d.state == Sending && d.attempt == w.attempt && d.phase == w.phase
}

// certain returns the only candidate of a doubt, if the candidate has the receivers and is not
// older than the send.
func (s *settlement) certain(d *doubt) *known {
	if len(s.candidates[d.id]) != 1 {
		return nil
	}
	k := s.candidates[d.id][0]
	old := d.serviceAt > 0 && !k.record.CreatedAt.IsZero() && k.record.CreatedAt.UnixMilli() < d.serviceAt-clockTolerance.Milliseconds()
	if old || !shows(k.record, d.receivers) {
		return nil
	}
	return k
}

// isSent records the document of a doubt. The document is then no longer a candidate for other
// doubts.
func (s *settlement) isSent(d *doubt, k *known) {
	if s.t.own(d.id, s.template, k.id) {
		s.t.sent(d.row, k.record, d.claimedAt)
	}
	s.walk.doubts = slices.DeleteFunc(slices.Clone(s.doubts), func(other *doubt) bool { return other == d })
	delete(s.candidates, d.id)
	for id, all := range s.candidates {
		s.candidates[id] = slices.DeleteFunc(all, func(other *known) bool { return other == k })
	}
}

// decide settles a doubt that is due and has no certain document.
func (s *settlement) decide(d *doubt) {
	candidates := []string{}
	for _, k := range s.candidates[d.id] {
		candidates = append(candidates, k.id)
	}
	reason := "several documents may be the result of this send, or the only one may be that of another message"
	if len(candidates) == 0 {
		reason = "the service's list does not contain the addresses of the signers"
	}
	// True if a document of this message would have been recognised: each document belongs to a
	// message or was listed before the first claim, or the addresses are readable.
	proven := s.newest <= d.firstWalk || s.readable && !s.masked
	switch clean := len(candidates) == 0 && proven; {
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

// waits reports whether a candidate may be the document of a message that is not due yet.
func (s *settlement) waits(d *doubt) bool {
	var wait time.Duration
	for _, k := range s.candidates[d.id] {
		for _, other := range s.rivals[k.id] {
			if other.id == d.id || other.state != Sending || other.phase != phaseFirst {
				continue
			}
			if w, known := s.watching(other); known {
				wait = max(wait, w.remain)
			} else { // the message was claimed during the walk
				wait = max(wait, watchMargin+millis(other.timeout))
			}
		}
	}
	if wait == 0 || s.sending[d.id].doubted >= lookedUpFor {
		return false
	}
	s.wait = min(cmp.Or(s.wait, wait), wait)
	return true
}
