package store

// prune drops the oldest entries of what is bounded, some at a time. Like expiry it needs no save of its own: it is saved with the
// next change, and repeated if that gets lost.
func (s *Store) prune() {
	s.pruneLog(KindAudit, s.audit.n, s.bounds.Audit, s.audit.drop)
	s.pruneLog(KindMessage, s.messages.n, s.bounds.Messages, s.messages.drop)
	s.pruneLog(KindDelivery, s.outbox.finished(), s.bounds.Deliveries, s.outbox.drop)
}

// slack is the part of a bound by which it may be exceeded, so that dropping costs little for each entry.
const slack = 8

func (s *Store) pruneLog(kind Kind, n, bound int, drop func(n int) (ids []string)) {
	if bound == 0 || n <= bound+bound/slack {
		return
	}
	for _, id := range drop(bound) {
		if s.keeper != nil {
			s.unsaved = append(s.unsaved, Write{Kind: kind, ID: id})
		}
	}
}

// finished returns how many deliveries there is nothing more to do for.
func (ob *outbox) finished() int {
	return ob.number[DeliveryDelivered] + ob.number[DeliveryDead] + ob.number[DeliveryCancelled]
}

// drop drops the oldest deliveries that are finished until at most n of those are left, and returns their ids.
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
