// Package webhooktest helps to test programs that receive the service's webhooks. [NewRequest]
// makes a signed request, [Sample] returns a payload for each of the seven event types, and
// [Payload] prints your own events.
//
// No network is needed: pass the request to a [webhook.Handler] with a recorder, or send it to a
// test server. [Clock] is a clock that the test sets.
package webhooktest
