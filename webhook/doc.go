// Package webhook receives the events of the Signing and Forms Service: it verifies, decodes and dispatches them.
//
// Start with three names: [NewVerifier] takes the webhook's secret, [NewHandler] makes an [http.Handler] of it and of
// one function for each event of interest, and [Funcs] lists those events.
package webhook
