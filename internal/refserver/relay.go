package refserver

import (
	"fmt"
	"slices"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// SetRelay makes webhooks, each with another Event, all that the relay with the id has, and returns their ids. A relay
// passes deliveries on, as "signforms listen" does. The relay's webhook of the same Event is changed and enabled, and
// keeps its id and what is pending, but no rotated secret; the relay's others are deleted as by [Server.DeleteWebhook].
// Without webhooks, none is left. The relay's id is saved with them; no other webhook is touched, whatever its URL.
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
