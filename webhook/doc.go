// Package webhook receives the events of the Signing and Forms Service. It verifies deliveries,
// decodes them, skips repeats, and runs a function for each event.
//
// [NewVerifier] takes the secret that the service showed when the webhook was set up. [Funcs] has a
// function for each of the seven event types. [NewHandler] combines both into an [http.Handler]:
//
//	verifier, err := webhook.NewVerifier([]string{secret}, nil)
//	…
//	http.Handle("POST /webhook", webhook.NewHandler(verifier, webhook.Funcs{
//		FormResponse: func(ctx context.Context, ev *webhook.FormResponse) error { … },
//	}, nil))
//
// # Other ways to use it
//
//   - A handler of your own: wrap it in [Verifier.Middleware] and call [EventsFromContext] in it.
//   - Without net/http, as in a function behind an API gateway: pass the header and the body to
//     [Handler.Receive].
//   - Store events first and process them later: [Verifier.Events], [ReplayKeys] and
//     [Funcs.Dispatch].
//   - Tests: package webhooktest makes signed requests.
//   - Metrics: [HandlerOptions.OnEvent] is called for each event, [HandlerOptions.OnError] for each
//     refused delivery.
//
// # When a delivery is refused
//
// [Handler.ServeHTTP] lists the responses. [Diagnose] tries the known errors, such as a secret with
// a newline or a proxy that changes the JSON, and reports the one that explains the signature. The
// command "signforms webhook diagnose" does the same for a delivery in a file.
//
// If the button "Test Webhook" of the service is pressed twice, the service may send the same event
// twice, byte for byte. The second delivery gets the response 200 duplicate, and no function runs.
//
// # What is guaranteed
//
//   - Each delivery has a valid signature and a timestamp within [VerifierOptions.Tolerance] of
//     your clock: five minutes by default. A proxy may change spaces and escapes of a body of at
//     most 64 KiB, but not the order of keys.
//   - A field that cannot be read withholds no event. The field is zero, [Event.FieldErrors] names
//     it, and it is reported once to [HandlerOptions.OnError] and to the log.
//   - Every event that is received and does not run is reported once, to OnError or
//     [HandlerOptions.OnEvent] and to the log.
//   - An event that was processed does not run again as long as the [ReplayStore] remembers it.
//     When several deliveries of one event arrive at the same time, the event runs for one of them.
//   - Errors and log lines contain no secret, no signature and no personal data. The errors and
//     panics of your functions are the exception: their text is logged as it is.
//
// # What is not guaranteed
//
//   - Processing exactly once. If a process dies after a function has done its work and before the
//     event is recorded, the event runs again. Functions should therefore be idempotent.
//   - Telling equal events apart. The service sends no event ids, so two events with the same JSON
//     in different deliveries within a day count as one event.
//   - Order. Deliveries may overtake each other.
//   - Protection from slow senders. Set [http.Server.ReadTimeout], and limit concurrent
//     connections.
//   - Secrecy. Use HTTPS, because the signature does not encrypt the body.
//   - Anything that the service does not document: the form of the timestamp, the service's
//     time-out, and whether and for how long it delivers again.
//
// # Concurrency and memory
//
// A [Verifier], a [Handler] and a [MemoryReplayStore] are safe for concurrent use; their settings
// never change. Functions of [Funcs], OnError, OnEvent, clocks and stores are called concurrently.
//
// Events, their Raw and Verified.Payload may be kept. Note that the Payload that Verify returns is
// the caller's own body, unless Verified.Reserialized is true.
package webhook
