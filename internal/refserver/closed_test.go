package refserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// tireless is a Storage that saves whatever its context says, as a careless one does.
type tireless struct {
	*memory
	saves int
}

func (s *tireless) Save(_ context.Context, records []refserver.Record) error {
	s.saves++
	return s.memory.Save(context.Background(), records)
}

// TestClose_changesNothingAfterwards calls everything that changes a server's state after Close.
func TestClose_changesNothingAfterwards(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint(durable), func(t *testing.T) {
			network := refserver.NewNetwork()
			storage := &tireless{memory: &memory{}}
			opts := &refserver.Options{Network: network}
			if durable {
				opts.Storage = storage
			}
			srv := servicetest.Start(t, opts)
			hook := srv.AddWebhook(refserver.Webhook{URL: network.Serve("app.test", http.NotFoundHandler()), Event: refserver.SignatureCompleted})
			template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
			form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
			draft := srv.AddDocument(refserver.Document{Name: "Draft", Signers: ann, Draft: true})
			signed := srv.AddDocument(refserver.Document{Name: "Signed", Signers: ann})
			require.NoError(t, srv.Signer(signed, "ann@example.com").Sign())
			require.NoError(t, srv.Settle(t.Context()))
			doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
			delivery := srv.Deliveries()[0].ID
			remove := srv.Fail(refserver.Fault{Operation: refserver.ListDocuments, Status: 500})
			removeWebhooks := srv.FailWebhooks(refserver.WebhookFault{Drop: true})
			faults := srv.Faults()
			watcher := srv.Watch()
			srv.Close()
			now, saves, messages, audit := srv.Now(), storage.saves, srv.Messages(), srv.Audit(doc)
			signer := srv.Signer(doc, "ann@example.com")
			for _, row := range []struct {
				name   string
				change func() error
			}{
				{name: "AddTemplate", change: func() error {
					return second(srv.Server.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}}))
				}},
				{name: "ChangeTemplate", change: func() error {
					return srv.ChangeTemplate(template, time.Time{}, refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
				}},
				{name: "AddForm", change: func() error {
					return second(srv.Server.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}}))
				}},
				{name: "AddDocument", change: func() error { return second(srv.Server.AddDocument(refserver.Document{Name: "Lease", Signers: ann})) }},
				{name: "AddWebhook", change: func() error {
					return second(srv.Server.AddWebhook(refserver.Webhook{URL: "http://app.test", Event: refserver.FormResponse}))
				}},
				{name: "AddAPIKey", change: func() error { return second(srv.AddAPIKey()) }},
				{name: "Fail", change: func() error { return second(srv.Server.Fail(refserver.Fault{Status: 500})) }},
				{name: "FailWebhooks", change: func() error { return second(srv.Server.FailWebhooks(refserver.WebhookFault{Drop: true})) }},
				{name: "RemoveFault", change: func() error { return srv.RemoveFault(faults[0].ID) }},
				{name: "View", change: signer.View},
				{name: "Sign", change: func() error { return signer.Sign() }},
				{name: "Decline", change: func() error { return signer.Decline("") }},
				{name: "SubmitForm", change: func() error {
					return second(srv.SubmitForm(form, refserver.Submission{Answers: map[string]string{"Name?": "Ann"}}))
				}},
				{name: "SendDraft", change: func() error { return srv.SendDraft(draft) }},
				{name: "Void", change: func() error { return srv.Void(doc) }},
				{name: "Pay", change: func() error { return srv.Pay(signed) }},
				{name: "Expire", change: func() error { return srv.Expire(doc) }},
				{name: "Delete", change: func() error { return srv.Delete(doc) }},
				{name: "Archive", change: func() error { return srv.Archive(doc) }},
				{name: "TestWebhook", change: func() error { return second(srv.Server.TestWebhook(hook)) }},
				{name: "Resend", change: func() error { return srv.Resend(delivery) }},
				{name: "ResendFailed", change: func() error { return second(srv.ResendFailed(hook, time.Time{})) }},
				{name: "DisableWebhook", change: func() error { return srv.DisableWebhook(hook) }},
				{name: "EnableWebhook", change: func() error { return srv.EnableWebhook(hook) }},
				{name: "RotateWebhookSecret", change: func() error { return second(srv.RotateWebhookSecret(hook)) }},
				{name: "DeleteWebhook", change: func() error { return srv.DeleteWebhook(hook) }},
				{name: "Advance", change: func() error { return srv.Server.Advance(t.Context(), time.Hour) }},
				{name: "Reset", change: srv.Reset},
			} {
				t.Run(row.name, func(t *testing.T) {
					err := row.change()
					require.ErrorIs(t, err, refserver.ErrClosed)
					require.NotContains(t, err.Error(), "could not be saved")
				})
			}
			for _, quiet := range []func(){srv.ClearFaults, remove, removeWebhooks} {
				quiet() // must not fail the test
			}

			_, err := network.HTTPClient().Post(srv.URL+"/void-document", "application/json", nil)
			require.ErrorContains(t, err, "no server has this name")
			request := httptest.NewRequest("POST", "/void-document?documentId="+doc, nil)
			request.Header.Set("x-api-key", srv.APIKey)
			answer := httptest.NewRecorder()
			srv.ServeHTTP(answer, request)
			require.Equal(t, http.StatusServiceUnavailable, answer.Code, "a handler that somebody kept: %s", answer.Body)

			require.Equal(t, saves, storage.saves, "nothing is saved")
			require.Equal(t, messages, srv.Messages())
			require.Equal(t, audit, srv.Audit(doc))
			require.Len(t, srv.Templates(), 1)
			require.Equal(t, template, srv.Templates()[0].ID)
			require.Less(t, srv.Now().Sub(now), time.Hour, "the clock was not moved")
			require.Equal(t, faults, srv.Faults())
			all, _ := watcher.Take()
			require.Empty(t, all)
			network.Close()
		})
	}
}

func second[T any](_ T, err error) error { return err }
