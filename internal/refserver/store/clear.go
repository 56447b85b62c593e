package store

// Clear deletes every record except keys and the record of the service itself. There it stores the
// numbers that must not be used again.
func (tx *Tx) Clear() {
	s := tx.s
	old := s.tables
	for _, w := range old.everything() {
		tx.wrote(w.Kind, w.ID, nil)
	}
	fresh := newTables()
	fresh.service, fresh.keys = old.service, old.keys
	tx.change(func() { s.tables = fresh }, func() { s.tables = old })
	v := tx.Service()
	v.Deliveries, v.Webhooks, v.Audit, v.Messages = old.outbox.lastDelivery, old.outbox.lastWebhook, old.audit.last, old.messages.last
	tx.PutService(v)
	s.tables.arrange()
}

// everything lists the ids of all records that Clear deletes.
func (ts *tables) everything() (all []Write) {
	add := func(kind Kind, id string) { all = append(all, Write{Kind: kind, ID: id}) }
	addKeys(add, KindTemplate, ts.templates.byID)
	addKeys(add, KindForm, ts.forms.byID)
	addKeys(add, KindFormLink, ts.forms.links)
	addKeys(add, KindDocument, ts.documents.byID)
	addKeys(add, KindBlob, ts.blobs)
	for key := range ts.limits {
		add(KindLimit, keyID(key))
	}
	for id, r := range ts.forms.responses {
		if id == r.ID { // not under its other id
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
