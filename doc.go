// Package signforms is a client for the Signing and Forms Service: documents sent to people for electronic signature, and
// forms that people fill in.
//
// # Start here
//
//	client, err := signforms.New("https://api.example.com", apiKey, nil)
//	…
//	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
//		TemplateID: templateID,
//		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
//	})
//
// Three names matter: [New] makes a [Client], which has every operation under Documents, Templates and Forms; [Error] tells
// what happened to a call that failed; [DocumentRef] says which document to void or to remind, and records and results make
// it with their Ref methods.
//
// A Client is safe for concurrent use: make one and keep it. Every call takes a context, and every wait ends with it. List
// methods return one [Page]; All methods walk all pages, for use with range.
//
// Webhooks are in package webhook. Package signformstest is the whole service in a test.
//
// # Errors
//
// The error of every call is an [*Error]. Branch on what it matches with errors.Is: [ErrInvalid], [ErrForbidden],
// [ErrNotFound], [ErrRefused], [ErrRateLimited], [ErrUnavailable] and [ErrOutcomeUnknown]. Each matches at least one of these,
// or the error of the call's context. Inputs are checked before anything is sent, and all that is wrong with them is in one
// error. Texts of errors hold no API key of 8 bytes or more, signing link, mail address, query string or body, so they can be
// logged.
//
// A fake that stands in for this package returns what the service would have caused: &Error{StatusCode: 404} matches
// ErrNotFound, &Error{Operation: OpSend, StatusCode: 503} matches ErrOutcomeUnknown, as does one of OpSendReminder, and
// &Error{Local: true, RetryAfter: d} matches ErrRateLimited. Records and results made by hand have a Ref if their ids are set.
//
// # Retries
//
// What is repeated, and after what, depends on what an operation does:
//
//	Class           Operations                                        Repeated after
//	safe            list documents, list respondents, list responses  connection errors, attempt time-outs, 429, 500, 502, 503, 504
//	idempotent      void document                                     connection errors, attempt time-outs, 429, 500, 502, 503, 504
//	not repeatable  send, send reminder                               nothing was written, 429
//
// A send and a reminder write to people and cannot be taken back. They are repeated only when the service provably did not
// accept them: nothing of the request was written (resolving, dialling or the TLS handshake failed, or net/http got a
// connection and wrote nothing), or it answered 429. When one was or may have been written and no answer says what became
// of it, the call returns [ErrOutcomeUnknown]: after any 5xx, because a gateway answers its own time-out while the work goes
// on; after 408, a redirect, a time-out, a lost connection or the end of the context; and after a 2xx that cannot be read or
// reports a failure. The package example OutcomeUnknown shows how to find out.
//
// That nothing was written is known from [net/http/httptrace]. A transport that does not report to it, as scripted ones,
// proves nothing.
//
// A call makes at most [Options.MaxAttempts] attempts, 4 by default, each of at most [Options.AttemptTimeout], 30 s by default.
// Each attempt is one request on the wire: net/http's own repetition is off. Before the n-th repetition the call waits between
// 250 ms and 500 ms·2ⁿ⁻¹, at most 30 s, or as long as Retry-After says, but never less than 250 ms. Where that is more than
// [Options.RetryWaitMax] or than ctx has left, the call returns at once with Error.RetryAfter set. A reminder that was answered
// 429 waits for a slot of the reminder budget instead. A certificate that does not verify and an answer over 32 MiB are not
// tried again. Redirects are never followed.
//
// # Reminders
//
// The service accepts 5 reminders in 15 minutes for each API key. As long as every sender of this API key uses the same
// [LimitStore], it never receives more than 5 reminder requests in any 15 minutes, whatever the number of goroutines, clients
// and retries, provided no request arrives more than one minute after its attempt was given up. Each request takes a slot,
// which frees 15 minutes and one second after its answer was seen, a minute later when there was none or only a gateway's (5xx,
// 408, 3xx), and at once only when nothing was written. By default all clients of a process share one store in memory; module
// github.com/signforms/signforms-go/stores has one for many processes, in Redis.
//
// What that cannot cover: other software that uses the key, or the same key through another base URL; a restart, or a second
// process, without a shared store; a shared store that forgets; a caller's transport that repeats requests by itself; a process
// that is suspended between taking a slot and writing.
//
// # Lists that move
//
// Lists change while they are read. All methods yield each record once. New documents do not shift what follows: from the
// second page of a list that is newest first on, DateTo is the creation of the first document, unless the caller set it. How
// the service reads such a bound is not documented, so All first asks for the first page again with it, and goes on without it
// if the first document is gone. That costs one request for each list of several pages.
//
// When the reported total shrinks, because documents left the filter, All goes back as far as they can have shifted the rest.
// Where the service reports no total, or others enter the list as some leave it (with OldestFirst every new one does), it
// cannot know: collect a filtered list before acting on its documents. Respondents and responses have no date filter, so
// those made meanwhile may or may not be yielded.
//
// # What is missing
//
// The description of the service is incomplete. [Client.Do] sends a request that has no method here: a GET is repeated like a
// list, anything else like a send.
//
// # What is assumed
//
// The service's description leaves some of its interface open. Facts that are not documented are marked so where they stand, and
// [Options.Endpoints] overrides every method, path and place of inputs. Unknown statuses and fields are kept: statuses as they
// came, fields in the Raw bytes of pages and results. A text, number, boolean or time that comes as another kind is converted,
// or left zero where it cannot be; one record in the place of a list is a list of one; any other odd value within a record is
// left empty.
//
// An answer that is not what was asked for is an error and never an empty result. A list may be missing from its answer only
// where the answer proves that it is empty: by a total of 0, or on a page past the last.
package signforms
