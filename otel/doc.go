// Package otel reports what signforms clients do as OpenTelemetry spans and metrics.
//
// Start with [New], then pass options through [Telemetry.Client]. The package uses the OpenTelemetry API only: which spans and metrics are recorded, and where they go, is decided by the providers that the
// program sets up. Without a recording provider a call costs less than 3 µs more.
//
// Nothing that it reports is personal or secret: no query, input, body, address or signing link, and no text of an error.
// No header is added to requests.
package otel
