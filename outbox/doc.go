// Package outbox sends a template once for a key, even if a process or connection dies, and follows
// its document to the end. It settles unknown outcomes, reminds, voids, and reads changes that no
// event reports. It keeps its state in the program's own database, SQLite or Postgres, so that the
// decision to send commits together with the program's own rows.
//
//	db, err := sql.Open("sqlite", "file:app.db?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)")
//	box, err := outbox.Open(ctx, db, client, &outbox.Options{
//		OnChange: func(ctx context.Context, tx *sql.Tx, e outbox.Entry) error {
//			_, err := tx.ExecContext(ctx, "UPDATE offers SET state = ?, status = ? WHERE id = ?", e.State, e.Status, e.Key)
//			return err
//		},
//	})
//	go box.Run(ctx)
//	http.Handle("/webhook", webhook.NewHandler(verifier, box.Funcs(webhook.Funcs{}), nil))
//
//	err = box.Add(ctx, tx, outbox.Message{Key: "offer-17", Send: signforms.TemplateSendParams{…},
//		RemindAfter: []time.Duration{72 * time.Hour}})
//
// [Open] makes the tables. [Box.Add] takes the transaction that writes the program's own rows.
// [Box.Run] sends and follows the messages, in one process or in several. [Options.OnChange] is
// called with each message that has changed. [Box.Get], [Box.List] and [Box.Stats] read the box,
// and [Box.Void] cancels a message or voids its document. A pgx.Tx works with package pgxtx.
//
// # States
//
// A message is pending, then sending, then sent, and ended once the document is signed, paid,
// declined, void, expired or deleted. It fails if the service refuses the template or its inputs. A
// wrong API key, a rate limit or a gateway fails no message: Run then sends one message at a time
// until one succeeds. A message waits while another message of the same template to the same
// receivers is being sent or has an unknown outcome.
//
// # Unknown outcomes
//
// The service has no idempotency keys. If the response to a send was lost, or its process died, the
// send may have created a document. Run waits until the request can no longer arrive, and then
// reads all documents of the template. The result is one of these:
//
//   - The message counts as sent if exactly one document has its receivers and cannot belong to
//     another message.
//   - The message counts as not sent, and is sent again, if two such walks find no document that
//     could be its own. The service must have responded for a minute between the two walks.
//   - Otherwise the message is undecided. Nothing is sent, Entry.Candidates has the documents, and
//     a person calls [Box.MarkSent] or [Box.MarkNotSent].
//
// The decision takes about five minutes. Run logs a line for each message that needs a person.
//
// Not every service shows the receivers' addresses in full. If yours does not, unknown outcomes are
// undecided.
//
// # Events
//
// [Box.Funcs] is for a webhook.Handler, or for Run of package queue. An event is only a hint, after
// which Run reads the document. Every [Options.Reconcile] it lists the documents of each template
// with open messages, because the service sends no event for declined and expired documents, and
// because events may get lost.
//
// # Tests
//
// Run a test in a bubble of testing/synctest, with a signformstest.Network and a database that is
// opened in the bubble. Everything then follows the bubble's clock. [Options.Now] alone is not
// enough: unknown outcomes are settled by monotonic time.
//
// # Restored databases
//
// After a backup was restored, or after a failover to an asynchronous standby, call [Box.LookFirst]
// once before Run.
//
// # What is not guaranteed
//
// If somebody else sends the same template to the same people, their document may be mistaken for
// that of a message. The other limits and the tests are in [guarantees.md].
//
// Forms are not supported: the service does not list the receivers of a form, so an unknown outcome
// could never be settled. Signing links are not stored, so embedded signing needs Respondents.Get.
//
// # Personal data
//
// The PDF and the mail texts are erased when a message was sent. Names, addresses and variables are
// erased [Options.KeepContent] after the message has ended, failed or was cancelled. Its key, ids
// and state stay until [Box.Forget]. Errors and logs contain no address and no link.
//
// [guarantees.md]: https://github.com/signforms/signforms-go/blob/main/docs/guarantees.md#sends-once
package outbox

// Where to begin in the code: outbox.go and change.go are what a program calls. run.go decides what is due. A send is in
// send.go. Unknown outcomes are in watch.go, then walk.go, then settle.go. act.go reads, voids and reminds. schema.go has
// the tables, row.go a message's row, and db.go transactions on both databases.
