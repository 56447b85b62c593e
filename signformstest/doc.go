// Package signformstest is the Signing and Forms Service in a test: stateful, in memory, in this
// process, offline.
//
//	srv := signformstest.NewServer(t, nil)
//	srv.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilyTemplateResponse})
//	offer := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
//	sent, err := srv.Client().Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: offer, Receivers: …})
//	err = srv.Signer(sent.DocumentID, "ann@example.com").Sign() // or Decline("too expensive")
//	err = srv.WaitDeliveries(ctx) // the webhook has got its events
//	srv.FailWebhooks(signformstest.WebhookFault{Drop: true, Times: 1})  // the next delivery gets lost, and is repeated
//	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, AfterWork: true, Reset: true, Times: 1}) // a lost answer
//	srv.Advance(72 * time.Hour)                                         // three days later
//	srv.Requests(); srv.Deliveries(); srv.Messages()                    // what happened
//
// [Server.ClientOptions] is for a program that builds its own client. A receiver verifies
// deliveries with [Server].WebhookSecret. If the test calls [Server.Advance], set
// Options.VirtualTimestamps, and [Server.Now] as VerifierOptions.Now of the receiver.
//
// A server enforces statuses and the signing order, counts reminders, and signs and retries its
// webhooks. It keeps all templates, forms and documents, and the newest requests, deliveries and
// messages. No test has to sleep: Advance moves its clock, and WaitDeliveries waits until webhooks
// have arrived. A wrong use of a method fails the test; outside of a test it panics. An act that
// the service refuses returns an error that matches [signforms.ErrRefused], [signforms.ErrNotFound]
// or [signforms.ErrInvalid], as the error of the client would. All methods are safe for concurrent
// use.
//
// With a [Network], no socket is used. The client, the service and the receiver can then run inside
// a [testing/synctest] bubble, where hours pass at once. TestTwoVirtualDays in this package's tests
// is a complete example:
//
//	synctest.Test(t, func(t *testing.T) {
//		network := signformstest.NewNetwork()
//		defer network.Close()
//		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
//		defer srv.Close()
//		srv.AddWebhook(signformstest.Webhook{
//			URL: network.Serve("app.test", handler), Event: signformstest.FamilyTemplateResponse,
//		})
//		…
//		time.Sleep(48 * time.Hour) // what the handler refused was retried
//		err := srv.WaitDeliveries(t.Context())
//	})
//
// The server is not the real service. If the description of the service leaves a behaviour open,
// the server has one documented behaviour, and [Profile] selects others. PDFs come from the test,
// or are empty pages. No mail is sent: [Server.Messages] returns the messages that the service
// would have sent. The records of requests, deliveries and messages contain personal data and the
// bytes on the wire; their String methods omit both.
package signformstest
