package store

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Webhook is an endpoint that wants events.
type Webhook struct {
	ID          string
	WorkspaceID string
	URL         string
	Secret      string // signs its deliveries; never logged
	Family      signing.EventFamily
	Sources     []string // documents, templates or forms that it tracks; empty: all of the workspace
	Bare        bool     // one object instead of an array of one
	Disabled    bool
	CreatedAt   time.Time
}

func (w *Webhook) tracks(e signing.Event) bool {
	return !w.Disabled && w.WorkspaceID == e.WorkspaceID && w.Family == e.Type.Family() &&
		(len(w.Sources) == 0 || slices.Contains(w.Sources, e.SourceID))
}

// DeliveryStatus tells where a delivery stands.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"   // due at NextAttemptAt
	DeliverySending   DeliveryStatus = "sending"   // claimed by a sender
	DeliveryDelivered DeliveryStatus = "delivered" // answered with 2xx
	DeliveryDead      DeliveryStatus = "dead"      // out of attempts
	DeliveryCancelled DeliveryStatus = "cancelled" // its webhook was disabled or deleted
)

// Delivery is one body for one webhook, with all attempts to deliver it. It is the row of the outbox.
type Delivery struct {
	ID            string // given by the store, ascending
	WebhookID     string
	Events        []signing.Event // one, or the samples of a test
	Test          bool            // asked for with "Test Webhook"
	Body          []byte          // set by the sender before the first attempt and the same for each retry
	Status        DeliveryStatus
	Attempts      []Attempt
	NextAttemptAt time.Time // while pending
	CreatedAt     time.Time
}

// Attempt is one request of a delivery and what came back.
type Attempt struct {
	At             time.Time
	Took           time.Duration
	RequestHeader  http.Header
	RequestBody    []byte
	StatusCode     int // 0: no answer
	ResponseHeader http.Header
	ResponseBody   []byte // the first part of it
	Error          string // why there was no answer; empty with one
	Duplicate      bool   // the request before it once more, which the schedule knows nothing of
}

// outbox keeps webhooks and deliveries.
type outbox struct {
	webhooks []*Webhook // in the order they were added
	byID     map[string]*Delivery
	all      []string // ids in the order they were enqueued
	due      *list[Delivery]
}

func newOutbox() outbox {
	return outbox{
		byID: map[string]*Delivery{},
		due:  &list[Delivery]{key: func(d *Delivery) key { return keyOf(d.NextAttemptAt, d.ID) }},
	}
}

// PutWebhook adds or replaces a webhook. A disabled one gets no new deliveries, and its pending ones are cancelled.
func (tx *Tx) PutWebhook(w Webhook) {
	w.Sources = slices.Clone(w.Sources)
	old := tx.s.outbox.webhooks
	next := slices.Clone(old)
	if i := webhookIndex(old, w.ID); i >= 0 {
		next[i] = &w
	} else {
		next = append(next, &w)
	}
	tx.change(func() { tx.s.outbox.webhooks = next }, func() { tx.s.outbox.webhooks = old })
	if w.Disabled {
		tx.cancelPending(w.ID)
	}
}

// DeleteWebhook removes a webhook and cancels its pending deliveries. Its log stays.
func (tx *Tx) DeleteWebhook(id string) error {
	old := tx.s.outbox.webhooks
	i := webhookIndex(old, id)
	if i < 0 {
		return &Missing{What: "webhook", ID: id}
	}
	next := slices.Delete(slices.Clone(old), i, i+1)
	tx.change(func() { tx.s.outbox.webhooks = next }, func() { tx.s.outbox.webhooks = old })
	tx.cancelPending(id)
	return nil
}

func webhookIndex(webhooks []*Webhook, id string) int {
	return slices.IndexFunc(webhooks, func(w *Webhook) bool { return w.ID == id })
}

// Webhook returns the webhook with the id, or a [*Missing].
func (tx *Tx) Webhook(id string) (Webhook, error) {
	if i := webhookIndex(tx.s.outbox.webhooks, id); i >= 0 {
		return *tx.s.outbox.webhooks[i], nil
	}
	return Webhook{}, &Missing{What: "webhook", ID: id}
}

// Webhooks returns all webhooks in the order they were added.
func (tx *Tx) Webhooks() []Webhook { return values(tx.s.outbox.webhooks) }

// fanOut enqueues the event for every webhook that tracks it.
func (tx *Tx) fanOut(e signing.Event) {
	for _, w := range tx.s.outbox.webhooks {
		if w.tracks(e) {
			tx.Enqueue(Delivery{WebhookID: w.ID, Events: []signing.Event{e}, NextAttemptAt: e.At, CreatedAt: e.At})
		}
	}
}

// Enqueue adds a pending delivery, gives it an ID, and returns it. Events of changes are enqueued by [Tx.Apply]; this is for
// tests and for sending something again.
func (tx *Tx) Enqueue(d Delivery) Delivery {
	ob := &tx.s.outbox
	d.ID = fmt.Sprintf("dlv_%010d", len(ob.all)+1)
	d.Status = DeliveryPending
	tx.change(func() { ob.all = append(ob.all, d.ID) }, func() { ob.all = ob.all[:len(ob.all)-1] })
	tx.PutDelivery(d)
	return d
}

// PutDelivery replaces a delivery: to claim it, to report an attempt, or to make it pending again.
func (tx *Tx) PutDelivery(d Delivery) {
	ob := &tx.s.outbox
	old, next := ob.byID[d.ID], &d
	tx.change(func() { ob.replace(old, next) }, func() { ob.replace(next, old) })
	tx.enqueued = tx.enqueued || d.Status == DeliveryPending
}

func (ob *outbox) replace(old, d *Delivery) {
	if old != nil {
		ob.due.remove(ob.due.key(old))
		delete(ob.byID, old.ID)
	}
	if d == nil {
		return
	}
	ob.byID[d.ID] = d
	if d.Status == DeliveryPending {
		ob.due.put(d)
	}
}

func (tx *Tx) cancelPending(webhookID string) {
	var pending []Delivery
	due := tx.s.outbox.due
	due.each(0, due.n, true, func(d *Delivery) bool {
		if d.WebhookID == webhookID {
			pending = append(pending, *d)
		}
		return true
	})
	for _, d := range pending {
		d.Status = DeliveryCancelled
		tx.PutDelivery(d)
	}
}

// Due returns up to limit pending deliveries whose time has come by now, in the order of their times.
func (tx *Tx) Due(now time.Time, limit int) []Delivery {
	due := tx.s.outbox.due
	return values(due.page(0, due.rank(keyOf(now.Add(1), "")), Page{Ascending: true, Limit: limit}))
}

// NextDeliveryAt returns when the next pending delivery falls due, if there is one.
func (tx *Tx) NextDeliveryAt() (time.Time, bool) {
	if d := tx.s.outbox.due.first(); d != nil {
		return d.NextAttemptAt, true
	}
	return time.Time{}, false
}

// Delivery returns the delivery with the id, or a [*Missing].
func (tx *Tx) Delivery(id string) (Delivery, error) {
	return lookup(tx.s.outbox.byID, "delivery", id)
}

// Deliveries returns every delivery, in the order they were enqueued.
func (tx *Tx) Deliveries() []Delivery {
	out := make([]Delivery, len(tx.s.outbox.all))
	for i, id := range tx.s.outbox.all {
		out[i] = *tx.s.outbox.byID[id]
	}
	return out
}
