// Package signformstest is the Signing and Forms Service in a test: stateful, in memory, in this process, offline.
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
// [Server.ClientOptions] is for a program that builds its own client. A receiver verifies with [Server].WebhookSecret;
// after [Server.Advance] it needs Options.VirtualTimestamps, and [Server.Now] as its VerifierOptions.Now.
//
// A server enforces statuses and the signing order, counts reminders, and signs and retries its webhooks. It keeps all
// templates, forms and documents, and the newest requests, deliveries and messages. No test has to sleep: Advance moves
// its clock, and WaitDeliveries waits until webhooks have arrived. A wrong use of a method fails the test, or panics outside of
// one. An act that the service refuses returns an error, which matches [signforms.ErrRefused], [signforms.ErrNotFound]
// or [signforms.ErrInvalid] as that of the client would. All methods are safe for concurrent use.
//
// With a [Network] nothing touches a socket. Client, service and receiver can then run inside a [testing/synctest]
// bubble, where hours pass in no time. TestTwoVirtualDays in this package's tests is a complete example:
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
// It is not the real service. Where its description is silent, the server picks one behaviour and documents it;
// [Profile] has others. PDFs are a test's own, or empty pages. No mail is sent: [Server.Messages] has what would have
// been. Records of what happened contain personal data and what went over the wire; their String methods omit these.
package signformstest
