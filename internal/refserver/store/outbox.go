package store

import (
	"net/http"
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Webhook is an endpoint that gets events.
type Webhook struct {
	ID        string
	URL       string              `json:",omitzero"`
	Secret    string              `json:",omitzero"` // secret that signs its deliveries; never logged
	Family    signing.EventFamily `json:",omitzero"`
	Sources   []string            `json:",omitzero"` // ids of the documents, templates or forms that it tracks; empty: all
	Bare      bool                `json:",omitzero"` // deliver one JSON object instead of an array with one object
	Disabled  bool                `json:",omitzero"`
	Relay     string              `json:",omitzero"` // the relay to which it belongs; empty: none
	CreatedAt time.Time           `json:",omitzero"`
	Seq       int64               `json:",omitzero"` // number that the store assigns, ascending
}

func (w *Webhook) tracks(e signing.Event) bool {
	return !w.Disabled && w.Family == e.Type.Family() &&
		(len(w.Sources) == 0 || slices.Contains(w.Sources, e.SourceID))
}

// DeliveryStatus is the progress of a [Delivery].
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"   // due at NextAttemptAt
	DeliverySending   DeliveryStatus = "sending"   // being sent, or next to be sent: claimed by a sender
	DeliveryDelivered DeliveryStatus = "delivered" // the receiver responded with a 2xx
	DeliveryDead      DeliveryStatus = "dead"      // 8 attempts failed
	DeliveryCancelled DeliveryStatus = "cancelled" // its webhook was disabled or deleted
)

// Finished reports whether the delivery has ended. A finished delivery is sent again only on
// demand.
func (s DeliveryStatus) Finished() bool {
	return s == DeliveryDelivered || s == DeliveryDead || s == DeliveryCancelled
}

// Delivery is one body for one webhook, with all attempts to deliver it. It is the row of the outbox.
type Delivery struct {
	ID            string          // id that the store assigns, ascending
	WebhookID     string          `json:",omitzero"`
	Events        []signing.Event `json:",omitzero"` // one event, or the samples of a test; stubs after the body was made
	Test          bool            `json:",omitzero"` // made by "Test Webhook"
	Body          []byte          `json:",omitzero"` // the same in each attempt
	Status        DeliveryStatus  `json:",omitzero"`
	Attempts      []Attempt       `json:",omitzero"`
	NextAttemptAt time.Time       `json:",omitzero"` // set while the delivery is pending
	Delayed       bool            `json:",omitzero"` // a fault has delayed the delivery, which happens only once
	CreatedAt     time.Time       `json:",omitzero"`
}

// Attempt is one request of a delivery with its response.
type Attempt struct {
	At           time.Time     `json:"at"`             // by the service's clock
	Took         time.Duration `json:"took"`           // by the wall clock; 0 if the service's clock stands still
	Header       http.Header   `json:"header"`         // header that was sent, with x-timestamp and x-signature
	Body         []byte        `json:"body,omitempty"` // body that was sent: the body of the delivery, unless a fault changed it
	StatusCode   int           `json:"status"`         // 0: no response
	AnswerHeader http.Header   `json:"answerHeader,omitempty"`
	Answer       []byte        `json:"answer,omitempty"`    // the first 4 KiB of the response's body
	Error        string        `json:"error,omitempty"`     // why the response is missing or incomplete; may be empty
	Duplicate    bool          `json:"duplicate,omitempty"` // the previous request again, sent by a fault; does not count as one of the 8 attempts
}

// outbox stores webhooks and deliveries.
type outbox struct {
	webhooks []*Webhook      // in the order they were added
	all      *list[Delivery] // in the order in which they were enqueued, which is the order of their ids
	due      *list[Delivery]
	number   map[DeliveryStatus]int

	lastDelivery, lastWebhook int64 // numbers of the newest delivery and webhook ever added
}

func newOutbox() outbox {
	return outbox{
		all:    &list[Delivery]{key: func(d *Delivery) key { return key{id: d.ID} }},
		number: map[DeliveryStatus]int{},
		due:    &list[Delivery]{key: func(d *Delivery) key { return keyOf(d.NextAttemptAt, d.ID) }},
	}
}

// PutWebhook adds or replaces a webhook. A disabled webhook gets no new deliveries, and its pending
// deliveries are cancelled.
func (tx *Tx) PutWebhook(w Webhook) {
	w.Sources = slices.Clone(w.Sources)
	old := tx.s.outbox.webhooks
	next := slices.Clone(old)
	ob := &tx.s.outbox
	if i := webhookIndex(old, w.ID); i >= 0 {
		w.Seq = old[i].Seq
		next[i] = &w
	} else {
		tx.change(func() { ob.lastWebhook++ }, func() { ob.lastWebhook-- })
		w.Seq = ob.lastWebhook
		next = append(next, &w)
	}
	tx.change(func() { ob.webhooks = next }, func() { ob.webhooks = old })
	tx.wrote(KindWebhook, w.ID, &w)
	if w.Disabled {
		tx.cancelPending(w.ID)
	}
}

// DeleteWebhook removes a webhook and cancels its pending deliveries. Its log stays.
func (tx *Tx) DeleteWebhook(id string) error {
	old := tx.s.outbox.webhooks
	i := webhookIndex(old, id)
	if i < 0 {
		return tx.missing("webhook", id)
	}
	next := slices.Delete(slices.Clone(old), i, i+1)
	tx.change(func() { tx.s.outbox.webhooks = next }, func() { tx.s.outbox.webhooks = old })
	tx.wrote(KindWebhook, id, nil)
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
	return Webhook{}, tx.missing("webhook", id)
}

// Webhooks returns all webhooks in the order they were added.
func (tx *Tx) Webhooks() []Webhook { return values(tx.s.outbox.webhooks) }

// fanOut enqueues the event for every webhook that tracks it.
func (tx *Tx) fanOut(e signing.Event) {
	for _, w := range tx.s.outbox.webhooks {
		if w.tracks(e) {
			tx.Enqueue(tx.delivery(e, w))
		}
	}
}

// delivery returns a new delivery of an event to a webhook.
func (tx *Tx) delivery(e signing.Event, w *Webhook) Delivery {
	d := Delivery{WebhookID: w.ID, Events: []signing.Event{e}, Status: DeliveryPending, NextAttemptAt: e.At, CreatedAt: e.At}
	if tx.s.render != nil {
		d.Body, d.Events = tx.s.render(e, *w), []signing.Event{e.Stub()}
	}
	return d
}

// Enqueue adds a pending delivery, gives it an ID, and returns it. It is for tests of webhooks;
// [Tx.Apply] enqueues the events of changes.
func (tx *Tx) Enqueue(d Delivery) Delivery {
	ob := &tx.s.outbox
	d.Status = DeliveryPending
	tx.change(func() { ob.lastDelivery++ }, func() { ob.lastDelivery-- })
	d.ID = deliveryID(ob.lastDelivery)
	tx.PutDelivery(d)
	return d
}

// PutDelivery replaces a delivery, in order to report an attempt or to make the delivery pending
// again.
func (tx *Tx) PutDelivery(d Delivery) {
	tx.wrote(KindDelivery, d.ID, tx.setDelivery(d))
	tx.enqueued = tx.enqueued || d.Status == DeliveryPending
}

// Claim returns up to limit deliveries that are due by the transaction's time, in the order of
// their times. [Tx.Due] does not return them until they are put again. A claim is neither saved nor
// passed to OnChange. It ends with the process, and then the delivery is made again.
func (tx *Tx) Claim(limit int) []Delivery {
	due := tx.Due(tx.Now, limit)
	for _, d := range due {
		d.Status = DeliverySending
		tx.setDelivery(d)
	}
	return due
}

func (tx *Tx) setDelivery(d Delivery) *Delivery {
	ob := &tx.s.outbox
	old, next := ob.delivery(d.ID), &d
	tx.change(func() { ob.replace(old, next) }, func() { ob.replace(next, old) })
	return next
}

// delivery returns the delivery with the id, or nil.
func (ob *outbox) delivery(id string) *Delivery { return ob.all.at(key{id: id}) }

func (ob *outbox) replace(old, d *Delivery) {
	if old != nil {
		ob.due.remove(ob.due.key(old))
		ob.number[old.Status]--
	}
	if d == nil {
		ob.all.remove(ob.all.key(old))
		return
	}
	ob.all.put(d)
	ob.number[d.Status]++
	if d.Status == DeliveryPending {
		ob.due.put(d)
	}
}

// cancelPending cancels the pending deliveries of the webhook.
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

// Due returns up to limit pending deliveries that are due by now, in the order of their times.
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
	if d := tx.s.outbox.delivery(id); d != nil {
		return *d, nil
	}
	return Delivery{}, tx.missing("delivery", id)
}

// Deliveries returns every delivery, in the order they were enqueued.
func (tx *Tx) Deliveries() Records[Delivery] {
	all := tx.s.outbox.all
	return Records[Delivery]{slices.Clone(all.blocks), all.n}
}

// CountDeliveries returns how many deliveries have the status.
func (tx *Tx) CountDeliveries(s DeliveryStatus) int { return tx.s.outbox.number[s] }
