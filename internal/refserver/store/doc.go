// Package store keeps the records of the reference service in memory, in transactions.
//
// [Store.Update] runs one transaction at a time. If its function returns an error or panics, all
// its changes are undone and were never visible. [Store.View] runs concurrently with other views,
// but never with an update. So its function should only look up the records that it needs. [Found]
// and [Records] keep the state that the view saw, and are searched, converted and encoded after the
// view.
//
// # How a state change, its audit entry and its deliveries commit together
//
// A command of package signing returns a [signing.Change]: the new record with its audit entries,
// messages and events. [Tx.Apply] is the only way to store a document or form response, and it
// takes the whole Change. It writes the record and appends the audit entries and messages. For each
// event and each enabled webhook that tracks it, it adds one pending [Delivery]. So a state change
// without its deliveries, or a delivery without its state change, cannot exist. Most callers use
// [Store.Act], which reads the document, runs the command and applies its Change in one
// transaction:
//
//	change, err := st.Act(documentID, func(d signing.Document, at time.Time) (signing.Change, error) {
//		return d.Sign("ann@example.com", signing.SignParams{}, at)
//	})
//
// A transaction has one time, which is read under the lock, so that the times of an audit trail
// ascend. A transaction begins by expiring the documents that have expired, each at its own time.
//
// # Saving
//
// With a [Keeper], the records of every transaction are saved under the lock, before anybody sees
// them; see saving.go. A transaction that cannot be saved is undone and returns an [*Unavailable].
// If the outcome of a save is unknown, views show the state before the save, and the store takes no
// change until all records were loaded again.
//
// Views write nothing. Expired documents and dropped log entries follow from the records and the
// time; they are saved with the next change.
//
// # The outbox
//
// The sender gets no events. It reads the due deliveries and reports their outcomes:
//
//	claim       Update: Tx.Claim(n), which takes them out of Due until they are put again, and is not saved
//	deliver     outside any transaction
//	report      Update: Tx.PutDelivery with the attempt appended, Status Delivered, Pending with NextAttemptAt, or Dead
//
// [Tx.NextDeliveryAt] returns when the next delivery is due, and [Store.Enqueued] wakes the sender.
// Disabling or deleting a webhook cancels its pending deliveries in the same transaction.
//
// # Reading without a lock
//
// A stored record is never changed, only replaced. The same holds for the blocks of a list. So a
// copy of the list of blocks, which has some hundred pointers, is a snapshot of the whole list.
// Documents and deliveries of each status are counted often, so their numbers are kept up to date
// with the records.
//
// Records are values and share their slices with the store, so treat them as read-only. Times are
// compared as instants.
package store
