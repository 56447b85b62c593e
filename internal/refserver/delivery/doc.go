// Package delivery is the webhook sender of the reference service: it turns events into JSON as JavaScript prints it,
// signs the bytes it sends, and tries each delivery again on a fixed schedule until the endpoint accepts it.
//
// It shares no code with the SDK's webhook package, so that a mistake in one cannot hide the same mistake in the other.
package delivery
