// Package queue receives webhook deliveries durably: it verifies a delivery, stores its events, answers 200, and runs a
// function for each event later, with retries, in the order of receipt per document.
//
// Start with three names. [Open] opens a SQLite file, and [OpenPostgres] uses a Postgres database that several machines
// share. [Queue.Handler] is the [net/http.Handler] that receives. [Queue.Run] processes the stored events:
//
//	q, err := queue.Open("events.db", nil)
//	…
//	http.Handle("POST /webhook", q.Handler(verifier)) // in the receiving process
//	err = q.Run(ctx, webhook.Funcs{…})                // in the working process; both in one is fine
//
// # What is guaranteed
//
//   - An event that was answered 200 runs at least once, or is listed as failed. The answer follows the commit: SQLite
//     has synced its log to the disk by then, Postgres does what its synchronous_commit says.
//   - A delivery is stored whole or not at all.
//   - Events of one line (a document, a form response, or a template with its signers) run one at a time, in the order of
//     receipt. The next one runs when the one before it is done or failed. A function that outlives its lease is the one
//     exception: see [Options.Timeout].
//   - An event that comes again does not run again while its key is kept ([Options.KeepKeys]). One that failed gets one
//     more try each time it is delivered again.
//   - A kill at any point loses nothing that was answered 200. When a worker dies with an event, that counts as a failed
//     try, so that an event that kills its process fails like any other. It is never given up so before a try whose start
//     was stored: an event may get one try more for that.
//
// # What is not
//
//   - Exactly once. A process that dies between a function's work and the record of it leaves an event that runs again.
//     Functions should be idempotent; [EntryFrom] gives them a key to recognise an event by. After a power cut, SQLite may
//     have forgotten the outcomes of the last tenth of a second of work, and these events run again.
//   - The order in which things happened. Deliveries may overtake each other before they arrive.
//   - The disk. Back up the file, or use a Postgres that is replicated.
package queue
