package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// load adds one saved record. Records are loaded in any order; arrange sorts them afterwards.
func (ts *tables) load(w Write) {
	ts.blobs.count(FilesOf(w.Value))
	switch v := w.Value.(type) {
	case *Service:
		ts.service = v
	case *Key:
		ts.keys[v.APIKey] = v
	case *Limit:
		ts.limits[v.APIKey] = v.State
	case *signing.Template:
		ts.templates.replace(nil, v)
	case *signing.Form:
		ts.forms.replace(nil, v)
	case *FormLink:
		ts.forms.links[w.ID] = v
	case *signing.FormResponse:
		ts.forms.addResponse(v)
	case *signing.Document:
		ts.loaded = append(ts.loaded, v)
	case *Webhook:
		ts.outbox.webhooks = append(ts.outbox.webhooks, v)
	case *Delivery:
		ts.outbox.replace(nil, v)
	case []*signing.AuditEntry:
		ts.audit.batches = append(ts.audit.batches, v)
	case []*signing.Message:
		ts.messages.batches = append(ts.messages.batches, v)
	default:
		panic(fmt.Sprintf("store: a %s cannot be a %T", w.Kind, v))
	}
}

// arrange sorts the loaded records, and sets the counters to the last numbers.
func (ts *tables) arrange() {
	slices.SortFunc(ts.loaded, func(a, b *signing.Document) int { return newestKey(a).compare(newestKey(b)) })
	for _, d := range ts.loaded { // in order, each document goes to the end of its lists
		ts.documents.replace(nil, d)
	}
	ts.loaded = nil
	ob := &ts.outbox
	ob.lastDelivery, ob.lastWebhook = ts.service.Deliveries, ts.service.Webhooks
	ts.audit.last, ts.messages.last = ts.service.Audit, ts.service.Messages
	ts.audit.arrange()
	ts.messages.arrange()
	slices.SortFunc(ob.webhooks, func(a, b *Webhook) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, w := range ob.webhooks {
		ob.lastWebhook = max(ob.lastWebhook, w.Seq)
	}
	if newest := ob.all.last(); newest != nil {
		ob.lastDelivery = max(ob.lastDelivery, deliveryNumber(newest.ID))
	}
}

func deliveryID(n int64) string { return fmt.Sprintf("dlv_%010d", n) }

func deliveryNumber(id string) int64 {
	n, _ := strconv.ParseInt(strings.TrimPrefix(id, "dlv_"), 10, 64) // made by deliveryID
	return n
}
