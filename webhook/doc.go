// Package webhook receives the events of the Signing and Forms Service. It verifies deliveries, decodes them, skips
// repeats, and runs a function for each event.
//
// [NewVerifier] takes the secret that was shown where the webhook was set up. [Funcs] has a function for each of the seven
// event types. [NewHandler] makes an [http.Handler] of both:
//
//	verifier, err := webhook.NewVerifier([]string{secret}, nil)
//	…
//	http.Handle("POST /webhook", webhook.NewHandler(verifier, webhook.Funcs{
//		FormResponse: func(ctx context.Context, ev *webhook.FormResponse) error { … },
//	}, nil))
//
// # Other ways to use it
//
//   - A handler of your own: put [Verifier.Middleware] before it and call [EventsFrom].
//   - Without net/http, as in a function behind an API gateway: give header and body to [Handler.Receive].
//   - Store events first and process them later: [Verifier.Events], [ReplayKeys] and [Funcs.Dispatch].
//   - Tests: package webhooktest makes signed requests.
//   - Metrics: [HandlerOptions.OnEvent] is called for each event, [HandlerOptions.OnError] for each refused delivery.
//
// # When a delivery is refused
//
// [Diagnose] tries the known mistakes and says which one explains the signature, such as a secret with a newline or a
// proxy that changes the JSON. The command "signforms webhook diagnose" does it with a file.
//
// The service's "Test Webhook", pressed twice, may send the same event twice, to the last byte. The second delivery is
// answered 200 duplicate and runs nothing.
//
// # Answers
//
// [Handler.ServeHTTP] and [Handler.Receive] answer with a JSON object {"status": …}:
//
//	200 ok                       everything was processed, or no function is set for it; also for []
//	200 duplicate                everything had been processed before
//	400 invalid_payload          genuine, but not a JSON object or array
//	401 unauthorized             not genuine, or not recent; only OnError and the log say which
//	405 method_not_allowed       not POST
//	408 body_incomplete          the body did not arrive whole
//	413 too_large                the body is larger than the Verifier's MaxBody
//	415 unsupported_media_type   not application/json, or with a Content-Encoding other than identity
//	500 failed                   a function failed, an element is not an event, or the Handler is a zero value
//	503 unavailable              an event is being processed elsewhere, the replay store failed or is full, or the request's
//	                             deadline passed; with Retry-After
//
// "Not an event" is an [UnknownEvent] that is not an object, or whose type can be neither read nor inferred, unless
// Funcs.Unknown takes it. An event that no function is set for is acknowledged and
// logged. After a 500 or 503 the service may deliver again, which it does not document. Then only those events run that did
// not succeed.
//
// # What is guaranteed
//
//   - A function gets what was signed, within [VerifierOptions.Tolerance] of the clock: five minutes by default.
//   - A signature fits one timestamp, whatever its form, and one body. Each header must be present exactly once, the
//     signature in lower case.
//   - The body may match as it came or as JavaScript's JSON.stringify prints it, because the service signs that form and a
//     proxy may reformat JSON.
//   - No event is withheld for a field. One that cannot be read is zero, in [Event.FieldErrors], and reported once to
//     [HandlerOptions.OnError] and the log.
//   - Every event that is received and not run is reported once, to OnError or [HandlerOptions.OnEvent] and to the log.
//   - An event that was processed does not run again as long as the [ReplayStore] remembers it. When several deliveries
//     of one event arrive at the same time, one of them runs it.
//   - Errors and log lines contain no secret, no signature and no personal data, except for what the errors and panics of
//     functions say.
//
// # Cost of unauthenticated requests
//
//   - Memory: 2 KiB before any of the body arrives, then a few times what has arrived, of at most
//     [VerifierOptions.MaxBody]. While a body is put into JavaScript's form it takes about a dozen times its size. A
//     Verifier does that for each processor (GOMAXPROCS) with at most eight bodies of up to 64 KiB and one larger one.
//   - Time: one hash of the body for each secret. JSON in another form than JavaScript's costs a second one and the work
//     of printing it, at worst a tenth of a second for a megabyte.
//   - Log lines: five a minute at warn level.
//
// # What is not guaranteed
//
//   - Processing exactly once. If a process dies after a function's work and before that is recorded, the event runs again,
//     so functions should be idempotent. And two events with the same JSON, in different deliveries within a day, count as
//     one, because the service sends no event ids.
//   - Order. Deliveries may overtake each other.
//   - Slow senders. Set [http.Server.ReadTimeout], and limit concurrent connections.
//   - Secrecy. Use HTTPS: the signature hides nothing.
//   - What the service does not document: the timestamp's form, its time-out, whether and how long it delivers again.
//
// # Concurrency and memory
//
// A [Verifier], a [Handler] and a [MemoryReplayStore] are safe for concurrent use; their settings never change. Functions
// of [Funcs], OnError, OnEvent, clocks and stores are called concurrently.
//
// Events, their Raw and Verified.Payload may be kept. But when the body matched as it came, the Payload that Verify returns
// is the caller's own body.
package webhook
