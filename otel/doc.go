// Package otel reports the work of signforms clients, webhook handlers and queues as OpenTelemetry
// spans and metrics.
//
// Start with [New], then pass options through [Telemetry.Client] and [Telemetry.Handler], and
// functions through [Telemetry.Funcs]. For a queue, call [Telemetry.QueueSettled] and
// [Telemetry.QueueReceived] from its hooks. The package uses only the OpenTelemetry API. The
// providers that the program sets up decide which spans and metrics are recorded, and where they
// go.
//
// The names of attributes are those of OpenTelemetry's semantic conventions 1.43.0, which spans and
// metrics name as their schema. Attributes that begin with signforms. are defined by this package.
// An unknown method, event type, outcome or error is reported as "_OTHER". The original method is
// then in http.request.method_original, cut off after 64 bytes.
//
// The package reports no personal data and no secret: no query, input, body, address or signing
// link, and no text of an error. It reports the ids of documents and form responses only if
// [Options.SubjectIDs] is set. It adds no header to requests.
package otel
