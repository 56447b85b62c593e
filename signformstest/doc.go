// Package signformstest is the Signing and Forms Service in a test: stateful, in memory, in this process, offline.
//
//	srv := signformstest.NewServer(t, nil)
//	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
//	sent, err := srv.Client().Templates.Send(ctx, signforms.TemplateSendParams{…})
//	err = srv.Signer(sent.CreatedDocumentID, "ann@example.com").Sign()
//
// Start with [NewServer] (or [Start] outside a test), [Server.Signer] and [Server.AddWebhook].
//
// A server keeps documents, enforces statuses and the signing order, counts reminders, and signs and retries its webhooks.
// [Server.Advance] moves its clock, and [Server.Settle] waits until webhooks have arrived, so no test has to sleep.
//
// With a [Network] nothing touches a socket. Client, service and receiver can then run inside a [testing/synctest] bubble, where
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
// It is not the real service. Where the service's description is silent, the server picks one behaviour and documents it;
// [Profile] has others. PDFs are those that a test gives, or empty pages. No mail is sent: [Server.Messages] has what would have
// been. Log entries contain personal data and what went over the wire; their String methods leave these out. The API keys and
// webhook secrets of a server are made up for tests, so they are plain strings. Links are of the type [signforms.SigningLink],
// which is not printed.
//
// All methods of a [Server] are safe for concurrent use.
package signformstest
