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
// which is not printed, because [Options].Finish gets them in programs.
//
// To embed the server in a program, set Options.Addr, PublicURL and Storage, which keeps the state over restarts, and add pages
// of your own with Options.Middleware. A workspace is a server of its own: Options.Behind puts several at one address.
//
// # What you can tell a server
//
// A method that changes something and returns no error fails the test, or panics without one. These return the error:
// [Server.TryAddTemplate], [Server.TryAddForm], [Server.TryAddDocument], [Server.TryAddWebhook], [Server.TryTestWebhook],
// [Server.TryAdvance], [Server.TryFail], [Server.TryFailWebhooks].
//
//   - Set up: [Server.AddTemplate], [Server.AddForm], [Server.AddDocument], [Server.AddWebhook], [Server.AddAPIKey].
//   - Edit: [Server.ChangeTemplate].
//   - Act as a signer: [Server.Signer], which views, signs and declines.
//   - Act as a respondent: [Server.SubmitForm].
//   - Act on a document: [Server.SendDraft], [Server.Void], [Server.Pay], [Server.Expire], [Server.Delete], [Server.Archive],
//     [Server.FinishAgain].
//   - Act on a webhook: [Server.TestWebhook], [Server.Resend], [Server.ResendFailed],
//     [Server.DisableWebhook], [Server.EnableWebhook], [Server.DeleteWebhook], [Server.RotateWebhookSecret],
//     and [Server.SetRelay] for programs that pass deliveries on.
//   - Move the clock: [Server.Advance], [Server.Now], [Server.Settle], [Server.Unanswering].
//   - Make things go wrong: [Server.Fail], [Server.FailWebhooks], [Server.Faults], [Server.RemoveFault], [Server.ClearFaults].
//   - Ask what happened: [Server.Requests] or, a page of those that match, [Server.FindRequests], [Server.Deliveries] or
//     [Server.FindDeliveries], [Server.Delivery], [Server.Messages] or [Server.FindMessages], [Server.Audit], [Server.Watch].
//   - Ask what there is: [Server.Counts], [Server.FindDocuments], [Server.FindDocument], [Server.Templates], [Server.FindTemplate],
//     [Server.Forms], [Server.FindForm], [Server.Responses], [Server.FindResponse], [Server.Webhooks], [Server.SigningLink],
//     [Server.FormLink], [Server.TemplatePDF], [Server.DocumentPDF], [Server.FinishedPDF].
//   - Call it: [Server.Client], [Server.ClientOptions], [Server.HTTPClient], [Server.ServeHTTP].
//   - Keep or end it: [Server.CheckStorage], [CheckRecords], [Server.Reset], [Server.Shutdown], [Server.Close].
//   - Print it: [Server.Format] and [Server.LogValue] show its URL and no more.
//
// Texts have bounds: see [MaxName]. [Options] and [Profile] are its settings from the start. All methods of a [Server] are safe for
// concurrent use.
package signformstest
