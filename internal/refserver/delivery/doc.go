// Package delivery is the webhook sender of the reference service. It converts events to JSON as
// JavaScript prints it, and signs the bytes that it sends. It retries each delivery on a fixed
// schedule until the endpoint accepts it.
//
// The package shares no code with the SDK's package webhook, so that an error in one package cannot
// hide the same error in the other.
package delivery
