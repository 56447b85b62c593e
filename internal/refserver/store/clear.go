package store

// Clear deletes every record but the workspace with the id, its keys and the service's own. There it keeps the numbers that must not
// be used again. An unknown workspace is a [*Missing].
func (tx *Tx) Clear(workspaceID string) error {
	own, err := tx.Workspace(workspaceID)
	if err != nil {
		return err
	}
	s := tx.s
	old := s.tables
	for _, w := range old.everything() {
		tx.wrote(w.Kind, w.ID, nil)
	}
	fresh := newTables()
	fresh.service = old.service
	tx.change(func() { s.tables = fresh }, func() { s.tables = old })
	v := tx.Service()
	v.Deliveries, v.Webhooks, v.Audit, v.Messages = old.outbox.lastDelivery, old.outbox.lastWebhook, old.audit.last, old.messages.last
	tx.PutService(v)
	s.tables.arrange()
	tx.PutWorkspace(own)
	for key, id := range old.keys {
		if id == own.ID {
			tx.PutKey(key, id)
		}
	}
	return nil
}

// everything lists the ids of all records but the service's own.
func (ts *tables) everything() (all []Write) {
	add := func(kind Kind, id string) { all = append(all, Write{Kind: kind, ID: id}) }
	addKeys(add, KindWorkspace, ts.workspaces)
	addKeys(add, KindTemplate, ts.templates.byID)
	addKeys(add, KindForm, ts.forms.byID)
	addKeys(add, KindFormLink, ts.forms.links)
	addKeys(add, KindDocument, ts.documents.byID)
	addKeys(add, KindBlob, ts.blobs)
	for key := range ts.keys {
		add(KindKey, keyID(key))
	}
	for key := range ts.limits {
		add(KindLimit, keyID(key))
	}
	for id, r := range ts.forms.responses {
		if id == r.ID { // and not its other one
			add(KindResponse, id)
		}
	}
	ts.outbox.all.each(0, ts.outbox.all.n, true, func(d *Delivery) bool {
		add(KindDelivery, d.ID)
		return true
	})
	for _, w := range ts.outbox.webhooks {
		add(KindWebhook, w.ID)
	}
	for _, batch := range ts.audit.batches {
		add(KindAudit, ts.audit.batchID(batch))
	}
	for _, batch := range ts.messages.batches {
		add(KindMessage, ts.messages.batchID(batch))
	}
	return all
}

func addKeys[V any](add func(Kind, string), kind Kind, m map[string]V) {
	for id := range m {
		add(kind, id)
	}
}
