// Package webhook receives the events of the Signing and Forms Service: it verifies deliveries, decodes them, skips
// repeats, and runs a function for each event.
//
// Start with three names. [NewVerifier] takes the secret that was shown where the webhook was set up. [Funcs] lists the
// seven events, a function for each. [NewHandler] makes an [http.Handler] of both:
//
//	verifier, err := webhook.NewVerifier([]string{secret}, nil)
//	…
//	http.Handle("POST /webhook", webhook.NewHandler(verifier, webhook.Funcs{
//		FormResponse: func(ctx context.Context, ev *webhook.FormResponse) error { … },
//	}, nil))
//
// To write a handler of one's own, put [Verifier.Middleware] before it and call [EventsFrom]. Where there is no
// net/http, call [Verifier.Verify] and [Parse]. Package webhooktest makes signed requests for tests. When a delivery is
// refused and should not be, [Diagnose] says which of the known mistakes it was, such as a secret with a newline or a
// proxy that prints JSON anew.
//
// # What is guaranteed
//
//   - What a function gets is what was signed, at a time within [VerifierOptions.Tolerance] of the clock, five minutes
//     either way by default. Signatures are compared in constant time, over the bytes received and, when they do not
//     match, over what JavaScript's JSON.stringify would print of them, because that is what the service signs. What was
//     authenticated is what is decoded.
//   - The timestamp has one of three exact forms, or that of [VerifierOptions.ParseTimestamp], so that a signature fits
//     one split of the signed string into timestamp and body, not another. Each header counts only when it is there once,
//     the signature only in lower case.
//   - Genuine events are not lost in silence: what cannot be decoded, what fails and what panics is answered 500 and
//     reported to [HandlerOptions.OnError] and the log. A 500 asks for another delivery; whether the service makes one it
//     does not document, so the report may be all that is left. Only an error marked [Permanent] is reported and
//     acknowledged.
//   - An event that was processed does not run again when it is delivered again, alone or among others, as long as the
//     [ReplayStore] remembers it; of deliveries that come at one time one runs it.
//   - What a stranger sends costs no more memory than what has arrived of it, at most [VerifierOptions.MaxBody] and about
//     a dozen times that while it is checked; and for each secret one hash of it. Where it is JSON in another than
//     JavaScript's form it costs a second hash and the work of printing it, up to a hundred times that of a hash:
//     a tenth of a second for a megabyte at worst. [VerifierOptions.RawOnly] spares it.
//   - Errors and log lines of this package hold no secret, no signature and no personal data, but for what the errors and
//     panics of functions say.
//
// # What is not
//
//   - Processing exactly once. The service gives events no id, so an event is known by the hash of its JSON: two that
//     are the same to the last byte, in different deliveries within a day, are taken for a repeat. A process that dies
//     after a function's work and before its record is made leaves an event that runs again. The store in memory knows
//     nothing of other processes or of what was before a restart. Functions should be idempotent.
//   - Order. Deliveries may overtake each other; the service does not document otherwise.
//   - Time. A sender that sends its body a byte a minute is stopped by [http.Server.ReadTimeout], which is not set by
//     default, and a crowd of them by a limit of connections; neither is this package's.
//   - Secrecy. Use HTTPS: the signature shows who sent a delivery and hides nothing.
//   - What the service does not document: the timestamp's form, its time-out, whether and how long it delivers again. The
//     doc comments say so in each place.
//
// # Concurrency and memory
//
// A [Verifier], a [Handler] and a [MemoryReplayStore] are safe for concurrent use; their settings never change.
// Functions of [Funcs], OnError, OnDuplicate, clocks and stores are called concurrently. Events, their Raw and
// Verified.Payload stay valid as long as they are kept: none of them refers to memory that is used again, with the one
// exception that Verify returns the caller's own body when that matched.
package webhook
