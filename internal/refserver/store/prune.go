package store

import "github.com/signforms/signforms-go/internal/refserver/signing"

// prune drops the oldest entries of the bounded logs, several at a time. Like expiry it needs no
// save of its own: it is saved with the next change, and repeated if it was not saved.
func (s *Store) prune() {
	if due(s.audit.n, max(s.bounds.Audit, s.audit.kept)) {
		s.dropped(KindAudit, s.audit.drop(s.bounds.Audit, s.needed))
	}
	if due(s.messages.n, s.bounds.Messages) {
		s.dropped(KindMessage, s.messages.drop(s.bounds.Messages, nil))
	}
	if due(s.outbox.finished(), s.bounds.Deliveries) {
		s.dropped(KindDelivery, s.outbox.drop(s.bounds.Deliveries))
	}
}

// slack is the fraction of a limit by which the limit may be exceeded (one eighth), so that
// dropping costs little for each entry.
const slack = 8

func due(n, bound int) bool { return bound > 0 && n > bound+bound/slack }

func (s *Store) dropped(kind Kind, ids []string) {
	for _, id := range ids {
		if s.keeper != nil {
			s.unsaved = append(s.unsaved, Write{Kind: kind, ID: id})
		}
	}
}

// needed reports whether an entry is kept in spite of the limit, because a finished file must still
// be made from it.
func (s *Store) needed(e *signing.AuditEntry) bool {
	d := s.documents.byID[e.RecordID]
	return s.finishes && d != nil && d.Completed() && d.Finished.SHA256 == ""
}

// finished returns the number of finished deliveries.
func (ob *outbox) finished() int {
	return ob.number[DeliveryDelivered] + ob.number[DeliveryDead] + ob.number[DeliveryCancelled]
}

// drop drops the oldest finished deliveries until at most n finished ones are left, and returns
// their ids.
func (ob *outbox) drop(n int) (ids []string) {
	var dropped []*Delivery
	ob.all.each(0, ob.all.n, true, func(d *Delivery) bool {
		if d.Status.Finished() && ob.finished()-len(dropped) > n {
			dropped = append(dropped, d)
		}
		return ob.finished()-len(dropped) > n
	})
	for _, d := range dropped {
		ob.replace(d, nil)
		ids = append(ids, d.ID)
	}
	return ids
}
