package store

import (
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// beginFinishing makes a document that this change completes wait for its finished file.
func (tx *Tx) beginFinishing(c signing.Change) {
	for _, e := range c.Events {
		if tx.s.finishes && e.Type.Completes() {
			c.Document.Finishing, c.Document.FinishAt = signing.FileDue, c.Document.CompletedAt
			tx.completed = true
		}
	}
}

// NextToFinish returns the document whose finished file is to be made next, and when that is due.
func (tx *Tx) NextToFinish() (d signing.Document, at time.Time, ok bool) {
	if first := tx.s.documents.finish.first(); first != nil {
		return *first, first.FinishAt, true
	}
	return d, at, false
}

// ToFinish returns up to n documents whose finished files are to be made, in the order in which they are due.
func (tx *Tx) ToFinish(n int) []signing.Document {
	l := tx.s.documents.finish
	return values(l.page(0, l.n, Page{Ascending: true, Limit: n}))
}

// CountFinish changes the number of tries to make the finished file, and when to try next. It does nothing when the file is not due.
func (tx *Tx) CountFinish(documentID string, change func(d signing.Document, at time.Time) signing.Document) (d signing.Document, due bool) {
	old := tx.s.documents.byID[documentID]
	if old == nil || old.Finishing != signing.FileDue {
		return d, false
	}
	d = change(*old, tx.Now)
	tx.putDocument(&d)
	return d, true
}

// Finish stores the result of an attempt to make the finished file. After the last attempt it releases the deliveries that waited
// for the file, with or without its URL. It does nothing when the file was not due.
func (tx *Tx) Finish(documentID string, change func(d signing.Document, at time.Time) signing.Change) {
	d := tx.s.documents.byID[documentID]
	if d == nil || d.Finishing != signing.FileDue {
		return
	}
	c := change(*d, tx.Now)
	tx.Apply(c)
	if c.Document.Finishing == signing.FileDue {
		return
	}
	for _, id := range tx.s.outbox.waiting[documentID] {
		tx.Release(*tx.s.outbox.delivery(id))
	}
}

// EndFinishing gives up every finished file that is still to be made. The deliveries that waited for them are released with the
// URL of the PDF.
func (tx *Tx) EndFinishing() {
	for d, _, ok := tx.NextToFinish(); ok; d, _, ok = tx.NextToFinish() {
		tx.Finish(d.ID, func(d signing.Document, at time.Time) signing.Change { return d.Unfinish(at) })
	}
}

// Release makes a delivery due now. One without a body, which waited for the finished file, gets its body or waits again.
func (tx *Tx) Release(d Delivery) {
	d.Status, d.NextAttemptAt = DeliveryPending, tx.Now
	if d.Body == nil {
		e := d.Events[0]
		e.Document = tx.s.documents.byID[e.Document.ID]
		if e.Document.Finishing == signing.FileDue {
			d.Status = DeliveryWaiting
		} else if w, err := tx.Webhook(d.WebhookID); err == nil {
			e.NoFile = e.Document.Finishing == signing.FileFailed
			d.Events = []signing.Event{e}
			tx.render(&d, w)
		}
	}
	tx.PutDelivery(d)
}
