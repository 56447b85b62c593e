package refserver

import (
	"fmt"
	"slices"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// SetRelay sets the webhooks of the relay with the id, and returns their ids. Each webhook must
// have another Event. A relay passes deliveries on, as "signforms listen" does.
//
//   - An existing webhook of the relay with the same Event is changed and enabled. It keeps its id
//     and its pending deliveries, but no rotated secret.
//   - The other existing webhooks of the relay are deleted as by [Server.DeleteWebhook]. Without
//     webhooks in the call, the relay has none afterwards.
//   - Webhooks that do not belong to the relay are not changed, whatever their URL.
//
// The relay's id is saved with its webhooks.
func (s *Server) SetRelay(id string, webhooks ...Webhook) (ids []string, err error) {
	if id == "" {
		return nil, invalid("id", "is empty")
	}
	if err := checkName("id", id); err != nil {
		return nil, err
	}
	records := make([]store.Webhook, len(webhooks))
	for i, w := range webhooks {
		if records[i], err = s.newWebhook(w); err != nil {
			return nil, err
		}
		records[i].Relay = id
		if slices.ContainsFunc(webhooks[:i], func(other Webhook) bool { return other.Event == w.Event }) {
			return nil, invalid(fmt.Sprintf("webhooks[%d].Event", i), "is that of another one: a relay has one webhook for an event")
		}
	}
	var deleted []string
	err = s.store.Update(func(tx *store.Tx) (err error) {
		ids, deleted, err = setRelay(tx, id, records)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, id := range deleted {
		s.sender.Stop(id)
	}
	return ids, nil
}

// setRelay makes the records the only webhooks of a relay. It replaces an existing webhook of the same
// family, and returns the ids of all webhooks of the relay and of those that were deleted.
func setRelay(tx *store.Tx, id string, records []store.Webhook) (ids, deleted []string, err error) {
	for _, had := range tx.Webhooks() {
		if had.Relay != id {
			continue
		}
		i := slices.IndexFunc(records, func(w store.Webhook) bool { return w.Family == had.Family })
		if i < 0 {
			deleted = append(deleted, had.ID)
			if err := tx.DeleteWebhook(had.ID); err != nil {
				return nil, nil, err
			}
			continue
		}
		records[i].ID, records[i].CreatedAt = had.ID, had.CreatedAt
	}
	for _, w := range records {
		if err := addWebhook(tx, w); err != nil {
			return nil, nil, err
		}
		ids = append(ids, w.ID)
	}
	return ids, deleted, nil
}
