// Package webhook receives the events of the Signing and Forms Service. It verifies deliveries, decodes them, skips
// repeats, and runs a function for each event.
//
// [NewVerifier] takes the secret that was shown where the webhook was set up. [Funcs] has a function for each of the
// seven event types. [NewHandler] makes an [http.Handler] of both:
//
//	verifier, err := webhook.NewVerifier([]string{secret}, nil)
//	…
//	http.Handle("POST /webhook", webhook.NewHandler(verifier, webhook.Funcs{
//		FormResponse: func(ctx context.Context, ev *webhook.FormResponse) error { … },
//	}, nil))
//
// # Other ways to use it
//
//   - A handler of your own: put [Verifier.Middleware] before it and call [EventsFromContext].
//   - Without net/http, as in a function behind an API gateway: give header and body to [Handler.Receive].
//   - Store events first and process them later: [Verifier.Events], [ReplayKeys] and [Funcs.Dispatch].
//   - Tests: package webhooktest makes signed requests.
//   - Metrics: [HandlerOptions.OnEvent] is called for each event, [HandlerOptions.OnError] for each refused delivery.
//
// # When a delivery is refused
//
// [Handler.ServeHTTP] lists the answers. [Diagnose] tries the known mistakes and says which one explains the signature,
// such as a secret with a newline or a proxy that changes the JSON. The command "signforms webhook diagnose" does it
// with a file.
//
// The service's "Test Webhook", pressed twice, may send the same event twice, to the last byte. The second delivery is
// answered 200 duplicate and runs nothing.
//
// # What is guaranteed
//
//   - Each delivery has a valid signature and a timestamp within [VerifierOptions.Tolerance] of your clock: five minutes by
//     default. A proxy may change spaces and escapes of a body of at most 64 KiB, but not the order of keys.
//   - No event is withheld for a field. One that cannot be read is zero, in [Event.FieldErrors], and reported once to
//     [HandlerOptions.OnError] and the log.
//   - Every event that is received and not run is reported once, to OnError or [HandlerOptions.OnEvent] and to the log.
//   - An event that was processed does not run again as long as the [ReplayStore] remembers it. When several deliveries
//     of one event arrive at the same time, one of them runs it.
//   - Errors and log lines contain no secret, no signature and no personal data, except for what the errors and panics of
//     functions say.
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
// A [Verifier], a [Handler] and a [MemoryReplayStore] are safe for concurrent use; their settings never change.
// Functions of [Funcs], OnError, OnEvent, clocks and stores are called concurrently.
//
// Events, their Raw and Verified.Payload may be kept. But when the body matched as it came, the Payload that Verify
// returns is the caller's own body.
package webhook
