package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// load puts one record that was kept into its place. Records come in any order; arrange ends it.
func (ts *tables) load(w Write) {
	switch v := w.Value.(type) {
	case *Service:
		ts.service = v
	case *Workspace:
		ts.workspaces[v.ID] = v
	case *Key:
		ts.keys[v.APIKey] = v.WorkspaceID
	case *Limit:
		ts.limits[v.APIKey] = v.State
	case *signing.Template:
		ts.templates.replace(nil, v)
		ts.blobs.count(filesOfTemplate(v))
	case *signing.Form:
		ts.forms.replace(nil, v)
	case *FormLink:
		ts.forms.links[w.ID] = v
	case *signing.FormResponse:
		ts.forms.addResponse(v)
	case *signing.Document:
		ts.documents.replace(nil, v)
		ts.blobs.count(filesOfDocument(v))
	case *Webhook:
		ts.outbox.webhooks = append(ts.outbox.webhooks, v)
	case *Delivery:
		ts.outbox.all = append(ts.outbox.all, v.ID)
		ts.outbox.replace(nil, v)
	case []*signing.AuditEntry:
		ts.audit.batches = append(ts.audit.batches, v)
	case []*signing.Message:
		ts.messages.batches = append(ts.messages.batches, v)
	default:
		panic(fmt.Sprintf("store: a %s cannot be a %T", w.Kind, v))
	}
}

// arrange orders what was loaded, and goes on counting where the numbers end.
func (ts *tables) arrange() {
	ob := &ts.outbox
	ob.lastDelivery, ob.lastWebhook = ts.service.Deliveries, ts.service.Webhooks
	ts.audit.last, ts.messages.last = ts.service.Audit, ts.service.Messages
	ts.audit.arrange()
	ts.messages.arrange()
	slices.SortFunc(ob.webhooks, func(a, b *Webhook) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, w := range ob.webhooks {
		ob.lastWebhook = max(ob.lastWebhook, w.Seq)
	}
	slices.Sort(ob.all)
	for _, id := range ob.all {
		ob.lastDelivery = max(ob.lastDelivery, deliveryNumber(id))
	}
}

func deliveryID(n int64) string { return fmt.Sprintf("dlv_%010d", n) }

func deliveryNumber(id string) int64 {
	n, _ := strconv.ParseInt(strings.TrimPrefix(id, "dlv_"), 10, 64) // made by deliveryID
	return n
}

// Clear deletes every record but the blobs' own and what the service itself has to remember, in which it keeps the numbers that must
// not come again.
func (tx *Tx) Clear() {
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
}

// everything lists the ids of all records but the service's own.
func (ts *tables) everything() (all []Write) {
	add := func(kind Kind, id string) { all = append(all, Write{Kind: kind, ID: id}) }
	for id := range ts.workspaces {
		add(KindWorkspace, id)
	}
	for key := range ts.keys {
		add(KindKey, keyID(key))
	}
	for key := range ts.limits {
		add(KindLimit, keyID(key))
	}
	for id := range ts.templates.byID {
		add(KindTemplate, id)
	}
	for id := range ts.forms.byID {
		add(KindForm, id)
	}
	for token := range ts.forms.links {
		add(KindFormLink, token)
	}
	for id, r := range ts.forms.responses {
		if id == r.ID {
			add(KindResponse, id)
		}
	}
	for id := range ts.documents.byID {
		add(KindDocument, id)
	}
	for _, w := range ts.outbox.webhooks {
		add(KindWebhook, w.ID)
	}
	for _, id := range ts.outbox.all {
		add(KindDelivery, id)
	}
	for _, batch := range ts.audit.batches {
		add(KindAudit, ts.audit.batchID(batch))
	}
	for _, batch := range ts.messages.batches {
		add(KindMessage, ts.messages.batchID(batch))
	}
	for hash := range ts.blobs {
		add(KindBlob, hash)
	}
	return all
}
