package store

import "slices"

// prune drops the oldest entries of what is bounded, some at a time. Like expiry it needs no save of its own: it is saved with the
// next change, and repeated if that gets lost.
func (s *Store) prune() {
	s.pruneLog(KindAudit, s.audit.n, s.bounds.Audit, s.audit.drop)
	s.pruneLog(KindMessage, s.messages.n, s.bounds.Messages, s.messages.drop)
	s.pruneLog(KindDelivery, s.outbox.finished, s.bounds.Deliveries, s.outbox.drop)
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

// drop drops the oldest deliveries that are finished until at most n of those are left, and returns their ids.
func (ob *outbox) drop(n int) (ids []string) {
	ob.all = slices.DeleteFunc(slices.Clone(ob.all), func(id string) bool {
		if ob.finished <= n || !ob.byID[id].Status.Finished() {
			return false
		}
		ob.finished--
		delete(ob.byID, id)
		ids = append(ids, id)
		return true
	})
	return ids
}
