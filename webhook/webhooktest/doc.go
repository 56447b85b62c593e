// Package webhooktest helps to test programs that receive the service's webhooks, as net/http/httptest helps to test
// servers. Three names to start with: [NewRequest] makes a signed request, [Sample] has a payload for each of the seven
// events, and [Payload] prints events of one's own.
//
// It needs no network and no service: give the request to a [webhook.Handler] and a recorder, or send it to a test
// server with an http.Client. [Clock] lets time pass, and [TestReplayStore] checks an implementation of
// [webhook.ReplayStore].
package webhooktest
