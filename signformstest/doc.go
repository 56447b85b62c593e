// Package signformstest is the Signing and Forms Service in a test: stateful, in memory, in this process, offline.
//
//	srv := signformstest.NewServer(t, nil)
//	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
//	sent, err := srv.Client().Templates.Send(ctx, signforms.TemplateSendParams{…})
//	err = srv.Signer(sent.CreatedDocumentID, "ann@example.com").Sign()
//
// Start with [NewServer] (or [Start] outside a test), [Server.Signer] and [Server.AddWebhook].
//
// A server does what the interface describes: it keeps documents, enforces statuses and the signing order, counts
// reminders, and signs and retries its webhooks. [Server.Advance] moves its clock, so that a test of a delivery that is
// retried for hours takes milliseconds; [Server.Settle] waits until webhooks have arrived, so that no test has to sleep.
// [Server.Requests], [Server.Deliveries], [Server.Messages] and [Server.Audit] tell what happened.
// [Server.Fail] and [Server.FailWebhooks] make things go wrong on purpose.
//
// With a [Network] nothing touches a socket. Client, service and receiver then run inside a [testing/synctest] bubble, where
// hours pass in no time. TestTwoVirtualDays in this package's tests is a complete example:
//
//	synctest.Test(t, func(t *testing.T) {
//		network := signformstest.NewNetwork()
//		defer network.Close()
//		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
//		defer srv.Close()
//		srv.AddWebhook(signformstest.Webhook{
//			URL: network.Serve("app.test", handler), Event: signformstest.TemplateResponse,
//		})
//		…
//		time.Sleep(48 * time.Hour) // what the handler refused was retried
//		err := srv.Settle(t.Context())
//	})
//
// It is not the real service. Where the service's description is silent, the server picks one behaviour and documents it; use
// [Profile] to choose others. PDFs are those that a test gives, or empty pages. No mail is sent: [Server.Messages] tells what
// would have been. Logs hold personal data and signing links; their String methods do not.
//
// To embed the server in a program, set Options.Addr, PublicURL and Storage, which keeps the state over restarts, and add pages
// of your own with Options.Middleware. Use [Server.CreateTemplate] and the other Create methods, which return an error where
// [Server.AddTemplate] fails the test, and subscribe to what happens with [Server.Watch].
//
// All methods of a [Server] may be called from several goroutines.
package signformstest
