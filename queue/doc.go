// Package queue receives webhook deliveries durably: it verifies a delivery, stores its events, answers 200, and runs a
// function for each event later, with retries, in the order of receipt per document.
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
// An event that was answered 200 runs at least once, or is listed as failed. The answer follows the
// commit: SQLite has synced its log to the disk by then, Postgres does what its synchronous_commit
// says. Events of one ordering key (a document, a form response, a template with its signers, or
// for unknown types their ids) run one at a time, in the order of receipt; the next one runs when
// the one before it is done or failed. The limits and tests are in [guarantees.md].
//
// # Functions and their time
//
// [Queue.Run] calls an event's function as [webhook.Handler] does: the one for its type, else
// Default. An event without a function counts as processed. One that could not be decoded fails at
// once unless Unknown is set. An error and a panic count as a failed try, which [Options.Retries]
// repeats; an error wrapped by [webhook.Permanent] fails at once.
//
// The ctx of a function ends after [Options.Timeout]. Run then waits for the function for half the
// Timeout more, at most 30 seconds. After that the function is abandoned, and its try counts as
// failed. Another process starts its ordering key again only when the lease has ended, and this
// process only when the function has returned too. The lease lasts from the claim of the event for
// the Timeout and as long again, at most a minute more. For later events of an ordering key it may
// be shorter by an eighth of what it lasts beyond the Timeout.
//
// When a worker dies with an event, that counts as a failed try. If the start of the last try was not stored, the event
// gets one more before it is given up. A repeated event does not run again while its key is kept ([Options.KeepKeys]);
// one that failed gets one more try with each repeat.
//
// When the ctx of Run ends, Run starts nothing more and gives functions [Options.Grace] until their ctx ends too. It
// returns when they have returned or were abandoned. An interrupted event is tried again after the next start, or after
// its lease if its function was abandoned; the interrupted try does not count. If the store does not answer, Run waits
// for it up to 10 seconds longer, and what it could not store runs again.
//
// # Time
//
// All processes go by one time, which setting a wall clock does not change: the database's on Postgres; on SQLite that
// of the machine's start, as it was read when the file was first opened after it. When a clock has jumped, or no worker
// has run for more than 25 hours, the times for which something is kept begin anew.
// [Options.Exclusive] makes a SQLite file follow the clock of one process, or of a bubble of testing/synctest.
//
// # Erasing
//
// [Queue.Erase] erases data, as the end of [Options.KeepBodies] and [Options.KeepFailed] does. On SQLite the bytes are
// overwritten and the log is truncated. On Postgres no query finds the data any more; VACUUM, and the rotation of its
// log and of backups, remove the bytes. Keys stay for [Options.KeepKeys], so a repeat of an erased event is not stored.
//
// # What is not guaranteed
//
//   - Exactly once, except what a function does in the transaction that it gives to [Complete]. Functions should be
//     idempotent; [EntryFromContext] gives them a key to recognise an event by.
//   - The order in which things happened. Deliveries may overtake each other before they arrive.
//   - The disk. Back up the file, or replicate Postgres.
//
// [guarantees.md]: https://github.com/signforms/signforms-go/blob/main/docs/guarantees.md#durable-receiving
package queue

// Where to begin in the code. The interface and the work: queue.go, handler.go, receive.go, run.go, wake.go, work.go,
// manage.go and sweep.go, in the order an event meets them. The statements: sql.go, then claim.go and settle.go, which
// both databases share, schema.go, postgres.go and sqlite.go. The event and its order: entry.go and order.go.
