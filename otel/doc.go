// Package otel reports the work of signforms clients, webhook handlers and queues as OpenTelemetry spans and metrics.
//
// Start with [New], then pass options through [Telemetry.Client] and [Telemetry.Handler]. For a queue, call
// [Telemetry.QueueSettled] and [Telemetry.QueueReceived] from its hooks. The package uses only the OpenTelemetry API. The providers
// that the program sets up decide which spans and metrics are recorded, and where they go. Without a recording provider a call
// takes less than 3 µs longer.
//
// The package reports nothing personal or secret: no query, input, body, address or signing link, and no text of an error. It
// leaves out ids of documents and responses unless [Options.SubjectIDs] is set. It adds no header to requests.
package otel
