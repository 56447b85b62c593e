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
// [ErrNotFound], [ErrRefused], [ErrRateLimited], [ErrUnavailable], [ErrIncomplete] and [ErrOutcomeUnknown]. Each matches at least one of these,
// or the error of the call's context. Inputs are checked before anything is sent, and all that is wrong with them is in one
// error. Texts of errors hold no API key of 8 bytes or more, URL, mail address or query string, and of an answer only a code
// and at most 200 bytes. So they can be logged. These are found as they are and in the escapes of JSON, HTML and URLs, up to three
// layers deep, the key in hexadecimal and base64 too; other encodings, and a link without // or a path, are not.
//
// A fake that stands in for this package returns what the service would have caused: &Error{StatusCode: 404} matches
// ErrNotFound, &Error{Operation: OpSend, StatusCode: 503} matches ErrOutcomeUnknown, as does one of OpSendReminder, and
// &Error{Local: true, RetryAfter: d} matches ErrRateLimited, and &Error{Reported: n} matches ErrIncomplete. Records and results made by hand have a Ref if their ids are set.
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
// connection and wrote nothing), or it answered 429.
//
// If the request may have been written and no answer settles its outcome, the call returns [ErrOutcomeUnknown]. That is so
//   - after any 5xx, because a gateway may report a time-out of its own while the service goes on working;
//   - after a 408, a 499, a redirect, a time-out, a lost connection or the end of the context;
//   - after a 2xx that cannot be read or reports a failure, unless it names the document that a send created.
//
// The package example OutcomeUnknown shows how to find out what happened.
//
// The SDK uses [net/http/httptrace] to prove that nothing was written. A transport that does not call its hooks, such as a mock,
// gives no proof. Nor does one that reads the body of a request, such as for a log, and then returns another error than that of
// the failed connection, or uses a proxy.
//
// A call makes at most [Options.MaxAttempts] attempts, 4 by default, each of at most [Options.AttemptTimeout], 30 s by default.
// Each attempt is one request on the wire: net/http's own repetition is off. The wait before the n-th repetition is random
// between 250 ms and 500 ms·2ⁿ⁻¹, and at most 30 s. A Retry-After is obeyed instead, but the wait is never less than 250 ms.
// If the wait would exceed [Options.RetryWaitMax] or the time that ctx has left, the call returns at once. Error.RetryAfter is
// then the answer's Retry-After, or 0 if it had none. A reminder that was answered 429 waits for a slot of the reminder budget
// instead. A certificate that does not verify and an answer over 32 MiB are not tried again. Redirects are never followed.
//
// # Reminders
//
// The service accepts 5 reminders in 15 minutes for each API key. As long as every sender of this API key uses the same
// [LimitStore], it never receives more than 5 reminder requests in any 15 minutes, whatever the number of goroutines, clients
// and retries, provided no request arrives more than one minute after its attempt was given up.
//
// Each request takes a slot. The slot frees
//   - 15 minutes and 1 second after the service's answer was seen;
//   - 16 minutes and 1 second after the attempt ended, if there was no answer, or one that a gateway may have given (5xx, 408, 499, 3xx);
//   - at once, if nothing was written.
//
// By default all clients of a process share one store in memory. Module github.com/signforms/signforms-go/stores has one for
// several processes, in Redis.
//
// Each method of a store has 3 seconds, and runs in a goroutine of its own. Take, Settle and Block have a context that does not
// end with the call's: a slot that comes too late for its call is given back. The SDK waits at most 0.1 s longer than the 3
// seconds, or than the call's context. A method that stays on keeps its goroutine, and one that panics has failed. When 64 of a store stay on, it is asked no
// more until one returns, and reminders fail with ErrUnavailable. A store whose clock can be moved, as in tests, may have a
// method Changed() <-chan struct{}. It returns a channel that is closed when the clock is moved; then calls that wait for a
// slot ask again.
//
// What that cannot cover: other software that uses the key, or the same key through another base URL; a restart, or a second
// process, without a shared store; a shared store that loses writes; a caller's transport that repeats requests by itself; a process
// that is suspended between taking a slot and writing.
//
// # Whole lists
//
// Lists change while they are read, and what a service reports of their length may be wrong. An All method yields each record
// once and ends in one of two ways: it has yielded every record that was there all the time, or its last element is an error. If
// it cannot tell whether records are missing, that error matches [ErrIncomplete], and Error.Yielded and Error.Reported say how
// many came and how many the service reports. Records that are created, removed, or enter or leave the filter meanwhile may or
// may not be yielded.
//
// For that, pages overlap by a few records: page 2 has a smaller limit than page 1, for example. Then a record that
// moves from one page to another is in one of them. A list of n pages of 100 costs at most n+3 requests up to n = 10, and about
// n/6 more for longer lists. Where totals are reported and the list is newest first, it costs n+1 requests: pages of a
// long list follow each other while the total stays the same, and page 1 is read again at the end. If anything has
// moved, All reads again what may have shifted. A list of one page costs one request if the
// service says that there is no other (totalPages or hasNextPage), otherwise up to three.
//
// Totals are compared with what was yielded. If a service's totals count something else, [Endpoint].IgnoreTotals switches that off.
// A list whose service ignores the limit and reports no total is read twice. Behind a total that is a multiple of 1,000, All looks
// once more, because some services count no further.
//
// All cannot notice that, between two counts of the service, one record leaves the pages read so far and another enters the rest, in a
// list that is read without overlap: newest first, with totals, and longer than about ten pages of 100 or four of 10. Nor
// can it notice what a DateTo of the caller leaves out, or records that the service neither lists nor counts.
//
// # What is missing
//
// The description of the service is incomplete. [Client.Do] sends a request that has no method here: a GET is repeated like a
// list, anything else like a send.
//
// # What is assumed
//
// The service's description leaves some of its interface open. Facts that are not documented are marked where they stand, and
// [Options.Endpoints] overrides every method and path, and the place, names, literals, times and page numbers of inputs. Unknown
// statuses are kept as they came. Unknown fields are in the Raw bytes of pages and results.
//
// Within a record, values of an unexpected JSON type do not fail a call. A text, number, boolean or time is converted if
// possible, and otherwise zero. Any other unexpected value is left empty. A single record where a list is expected is read as
// a list of one.
//
// An answer that is not what was asked for is an error and never an empty result. A list may be missing from its answer only
// where the answer proves that it is empty: by a total of 0, or on a page past the last.
package signforms
