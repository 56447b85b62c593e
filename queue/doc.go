// Package queue receives webhook deliveries durably. It verifies a delivery, stores its events and
// responds with 200. Later it runs a function for each event, with retries, in the order of receipt
// for each document.
//
// Start with three names. [OpenSQLite] opens a SQLite file, and [OpenPostgres] uses a Postgres
// database that several machines share. [Queue.Handler] is the [net/http.Handler] that receives.
// [Queue.Run] processes the stored events:
//
//	q, err := queue.OpenSQLite("events.db", nil)
//	…
//	http.Handle("POST /webhook", q.Handler(verifier)) // in the receiving process
//	err = q.Run(ctx, webhook.Funcs{…})                // in the working process; both in one is fine
//
// # What is guaranteed
//
// An event whose delivery got the response 200 runs at least once, or is listed as failed. The
// response follows the commit. By then, SQLite has synced its log to the disk; Postgres follows its
// setting synchronous_commit.
//
// Every event has an ordering key: a document, a form response, a template with its signers, or the
// ids of an event of unknown type. Events of one ordering key run one at a time, in the order of
// receipt. The next event runs when the previous event is done or failed. The limits and tests are
// in [guarantees.md].
//
// # Functions and their time
//
// [Queue.Run] calls the same function for an event as [webhook.Handler] does: the function for its
// type, or else Default. The result of the call decides what happens to the event:
//
//   - An event without a function counts as processed.
//   - An event that could not be decoded fails at once, unless Unknown is set.
//   - An error or a panic counts as a failed try, and [Options.Retries] says when the next try
//     follows.
//   - An error that is wrapped by [webhook.Permanent] fails the event at once.
//
// The ctx of a function ends after [Options.Timeout]. If the function does not return, Run waits
// for it for half the Timeout more, at most 30 seconds. Then the function is abandoned, and its try
// counts as failed. Another process starts the ordering key of that event again only when the lease
// has ended. This process also waits until the function has returned.
//
// Lease = Timeout + min(Timeout, 1 min), counted from the claim of the event. For later events of
// an ordering key, the part beyond the Timeout may be shorter by an eighth.
//
// If a worker dies while it processes an event, that counts as a failed try. If the store did not
// record the start of the last try, the event gets one more try before it fails. A repeated event
// does not run again while its key is kept ([Options.KeepKeys]). A failed event gets one more try
// with each repeat.
//
// When the ctx of Run ends, Run starts no more functions, and the running functions have
// [Options.Grace] until their ctx ends too. Run returns when all functions have returned or were
// abandoned. An interrupted try does not count. The event runs again after the next start of Run,
// or after its lease if its function was abandoned. If the store does not respond, Run waits up to
// 10 seconds longer; events whose outcome could not be stored run again.
//
// # Time
//
// All processes use the same time, and setting a wall clock does not change it. On Postgres it is
// the time of the database. On SQLite it is the time since the start of the machine, added to the
// wall clock as it was when the file was first opened after that start. [Options.Exclusive] makes a
// SQLite file follow the clock of one process, or of a bubble of testing/synctest.
//
// If a clock has jumped, or no worker has run for more than 25 hours, the periods for which data is
// kept start again from zero.
//
// # Erasing
//
// [Queue.Erase] erases data, and so does the end of [Options.KeepBodies] and [Options.KeepFailed].
// On SQLite the bytes are overwritten and the log is truncated. On Postgres no query finds the data
// again; the bytes disappear with VACUUM, and with the rotation of the log and of backups. Keys
// stay for [Options.KeepKeys], so a repeat of an erased event is not stored.
//
// # What is not guaranteed
//
//   - Processing exactly once. The exception is work that a function does in the transaction that
//     it gives to [Complete]. Functions should be idempotent; [EntryFromContext] returns a key that
//     identifies an event.
//   - The order in which events happened. Deliveries may overtake each other before they arrive.
//   - Protection from the loss of the disk. Back up the file, or replicate Postgres.
//
// [guarantees.md]: https://github.com/signforms/signforms-go/blob/main/docs/guarantees.md#durable-receiving
package queue

// Where to begin in the code.
//
//   - The interface and the work, in the order in which an event reaches them: queue.go,
//     handler.go, receive.go, run.go, wake.go, work.go, manage.go and sweep.go.
//   - The statements: sql.go; claim.go and settle.go, which both databases share; schema.go,
//     postgres.go and sqlite.go.
//   - The event and its order: entry.go and order.go.
