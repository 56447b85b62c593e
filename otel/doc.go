// Package otel reports what signforms clients, webhook handlers and queues do as OpenTelemetry spans and metrics.
//
// Start with [New], then pass options through [Telemetry.Client] and [Telemetry.Handler]; for a queue, call
// [Telemetry.QueueSettled] and [Telemetry.QueueReceived] from its hooks. The package uses the OpenTelemetry API only: which spans and metrics are recorded, and where they go, is decided by the providers that the
// program sets up. Without a recording provider a call costs less than 3 µs more.
//
// Nothing that it reports is personal or secret: no query, input, body, address or signing link, and no text of an error.
// Ids of documents and responses are left out unless [Options.SubjectIDs] asks for them. No header is added to requests.
package otel
