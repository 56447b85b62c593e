// Package signforms is a client for the Signing and Forms Service: documents sent to people for
// electronic signature, and forms that people fill in. A [Client] has five services:
//
//	Documents      List, All, Get     PDF documents
//	               Void               a document of either kind
//	               Remind, RemindAll  the pending signers of a document; ReminderBudget is what is left
//	Templates      List, All, Get     templates and their roles
//	               Send               makes a document from a template and mails it
//	Respondents    List, All, Get     documents made from a template
//	               FindSent           the document of a send whose outcome is unknown
//	Forms          Send               mails a form
//	FormResponses  List, All, Get     completed forms
//
// List returns one [Page]. All reads all pages, for use with range. Get returns one record by its
// id. [Client.Do] sends a request for which there is no method.
//
// # Start here
//
//	client, err := signforms.New("https://api.example.com", apiKey, nil)
//	…
//	sent, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
//		TemplateID: templateID,
//		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
//	})
//	…
//	_, err = client.Documents.Remind(ctx, sent.Ref())
//	for r, err := range client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: templateID}) {
//		…
//	}
//
// [New] makes a [Client]. A Client is safe for concurrent use: make one and keep it. Every wait
// ends with the call's context.
//
// Void and Remind take a [DocumentRef]: the Ref of a record, or the result of [PDFDocument] or
// [TemplateDocument] for stored ids. To find the document of an event of package webhook, compare
// SignerIDs. [Options] has a Transport for proxies and tests, time-outs, retries, and the
// [LimitStore] that counts reminders.
//
// Webhooks are in package webhook. Package signformstest is the whole service in a test. The
// promises of all packages, with their limits and tests, are in [guarantees.md].
//
// # Errors
//
// The error of every call is an [*Error]. It matches, with errors.Is, at least one of [ErrInvalid],
// [ErrForbidden], [ErrNotFound], [ErrRefused], [ErrRateLimited], [ErrUnavailable],
// [ErrBadResponse], [ErrIncomplete] and [ErrOutcomeUnknown], or the error of the call's context. A
// call may be repeated after Error.RetryAfter if it matches ErrRateLimited or ErrUnavailable.
// Inputs are checked before anything is sent, and one error lists all invalid inputs. Texts of
// errors can be logged. They contain no API key of 8 bytes or more, no URL, no mail address and no
// query string. From a response they contain only a code and at most 200 bytes.
//
// # Retries
//
// Retries depend on the operation:
//
//	Class           Operations                                        Repeated after
//	safe            list documents, list respondents, list responses  connection errors, attempt time-outs, 429, 500, 502, 503, 504
//	idempotent      void document                                     connection errors, attempt time-outs, 429, 500, 502, 503, 504
//	not repeatable  send, send reminder                               nothing was written, excluded by GOAWAY, 429
//
// A void is also repeated after a 2xx whose outcome is doubtful: see [DocumentsService.Void].
//
// A send or reminder cannot be taken back. It is repeated only on proof that the service did not
// accept it: a 429, a trace by net/http in which nothing was written, or a GOAWAY of HTTP/2 that
// excludes the request. If the request may have been written and no response reports its outcome,
// the call returns [ErrOutcomeUnknown]:
//
//   - after any 5xx, because a gateway may report a time-out of its own while the service still
//     executes the request;
//   - after a 408, a 499, a redirect, a time-out, a lost connection or the end of the context;
//   - after a 2xx that cannot be read or reports a failure, unless it names the document that a
//     send created.
//
// A Transport that does not call the hooks of [net/http/httptrace], such as a mock, gives no proof.
// A Transport that reads the body of a request, such as for a log, gives no proof either. For a
// request without a body there is no proof.
//
// A call makes at most [Options.MaxAttempts] attempts, each of at most [Options.AttemptTimeout],
// with waits of [Options.RetryWaitMin] to [Options.RetryWaitMax] between them. An attempt is one
// request on the wire. The exception is a read, which net/http may repeat after a lost connection:
// its attempt is at most three requests. If a wait would exceed RetryWaitMax or the time ctx has
// left, the call returns at once with the Retry-After of the response in Error.RetryAfter. A
// certificate that does not verify and a response over 32 MiB are not retried. Redirects are never
// followed.
//
// # Reminders
//
// The service accepts 5 reminders in 15 minutes for each API key. The SDK keeps that limit before
// anything is sent, as long as every sender of the key uses the same [LimitStore]. By default all
// clients of a process share one in memory. Module github.com/signforms/signforms-go/stores has
// others, in a file or Redis. If there is no free slot, or the response is a 429, a reminder waits
// for a slot for at most [Options.ReminderMaxWait], by default not at all. Then it fails with
// [ErrRateLimited].
//
// # Whole lists
//
// An All method yields each record once. Either it yields every record that was in the list all the
// time, whatever changed meanwhile, or its last element is an error. If All cannot determine
// whether records are missing, that error matches [ErrIncomplete]. Error.Yielded is then the number
// of yielded records, and Error.Reported the number that the service reports.
//
// To make this possible, pages overlap by a few records, which costs some more requests. If a
// service's totals count something else, set [Endpoint].IgnoreTotals.
//
// # What is assumed
//
// Facts that the service does not document are marked as such. [Options.Endpoints] overrides every
// method and path, and the place of inputs. Unknown statuses are kept unchanged, and unknown fields
// in the Raw bytes of pages and results.
//
// Within a record, a value of an unexpected JSON type is converted if possible, and otherwise left
// empty. But a response that does not match the request is an error and never an empty result.
//
// [guarantees.md]: https://github.com/signforms/signforms-go/blob/main/docs/guarantees.md
package signforms
