// Package store keeps the records of the reference service in memory, in transactions.
//
// [Store.Update] runs one transaction at a time. When its function returns an error or panics, all it did is undone and
// was never visible. [Store.View] runs beside other views, never beside an update, so its function only looks up what
// it needs: [Found] and [Records] hold what the view saw, and are searched, converted and encoded after it.
//
// # How a state change, its audit entry and its deliveries commit together
//
// A command of package signing returns a [signing.Change]: the new record with its audit entries, messages and events.
// [Tx.Apply] is the only way to store a document or form response, and takes all of the Change: it writes the record,
// appends the audit entries and messages, and adds one pending [Delivery] for each event and each enabled webhook that
// tracks it. So a state change without its deliveries, or a delivery without its state change, cannot exist. Most
// callers use [Store.Act], which reads, runs the command and applies in one transaction:
//
//	change, err := st.Act(documentID, func(d signing.Document, at time.Time) (signing.Change, error) {
//		return d.Sign("ann@example.com", signing.SignParams{}, at)
//	})
//
// A transaction has one time, read under the lock, so that audit trails run forward. It begins by expiring the
// documents whose time has come, each at its own time.
//
// # Saving
//
// With a [Keeper] every transaction's records are saved before anybody sees them, still under the lock; see saving.go.
// A transaction that cannot be saved is undone, with an [*Unavailable]. After a save that may have been carried out,
// views show the state before it, and nothing changes until everything was loaded again. Views write nothing: expired
// documents and dropped log entries follow from the records and the time, and are saved with the next change.
//
// # The outbox
//
// The sender gets no events. It reads what is due and reports the outcome:
//
//	claim       Update: Tx.Claim(n), which takes them out of Due until they are put again, and is not saved
//	deliver     outside any transaction
//	report      Update: Tx.PutDelivery with the attempt appended, Status Delivered, Pending with NextAttemptAt, or Dead
//
// [Tx.NextDeliveryAt] tells a clock what falls due next, and [Store.Enqueued] wakes the sender.
// Disabling or deleting a webhook cancels its pending deliveries in the same transaction.
//
// # What readers take
//
// A stored record is never changed: it is replaced. The same goes for the blocks of a list, so that a copy of the list
// of blocks, some hundred pointers, is the whole list as it was. What is counted often (documents of a status,
// deliveries of a status) is a number that changes with the records.
//
// Records are values and share their slices with the store: treat them as read-only. Times are compared as instants.
package store
