package refserver_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestRequestLog_requestsAndRefusals(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	req, err := http.NewRequest("POST", srv.URL+"/send-reminder?documentType=PDF", strings.NewReader(`{"documentID":"private"}`))
	require.NoError(t, err)
	for name, value := range map[string]string{"x-api-key": srv.APIKey, "x-request-id": "r1", "Content-Type": "application/json"} {
		req.Header.Set(name, value)
	}
	resp, err := srv.HTTPClient().Do(req)
	require.NoError(t, err)
	resp.Body.Close()

	r := srv.Requests()[0]
	require.Equal(t, start, r.At)
	require.Equal(t, refserver.SendReminder, r.Operation)
	require.Equal(t, "POST /send-reminder", r.Method+" "+r.Path)
	require.Equal(t, "r1", r.RequestID)
	require.NotContains(t, r.Header.Values("x-api-key"), srv.APIKey)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, "PDF", r.Query.Get("documentType"))
	require.Equal(t, `{"documentID":"private"}`, string(r.Body))
	require.Equal(t, []string{"documentId"}, r.Missing)
	require.Equal(t, []string{`ignored body field "documentID" (did you mean documentId?)`}, r.Notes)
	require.Equal(t, "input", r.Rule)
	require.Equal(t, 400, r.StatusCode)
	require.Equal(t, "invalid_input", r.Code)
	require.Equal(t, "documentId is required", r.Message)
	require.True(t, r.Counted, "a refused reminder counts")
	require.False(t, r.AnswerLost)
	require.Equal(t, "2026-11-20T12:00:00.000Z send reminder: 400 invalid_input (rule: input): documentId is required, "+
		`ignored body field "documentID" (did you mean documentId?)`, r.String())
}

func TestDelivery_statuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		slow := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(3 * time.Second)
			w.WriteHeader(http.StatusTeapot)
		})
		srv, _, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("app.test", slow))
		defer srv.Close()
		began := srv.Now()
		submit()
		synctest.Wait()
		require.Equal(t, refserver.DeliverySending, srv.Deliveries()[0].Status)
		require.Zero(t, srv.Deliveries()[0].NextAttemptAt)
		require.NoError(t, srv.Settle(t.Context()))
		d := srv.Deliveries()[0]
		require.Equal(t, refserver.DeliveryPending, d.Status)
		require.Equal(t, began, d.CreatedAt)
		require.Equal(t, began.Add(3*time.Second+5*time.Second), d.NextAttemptAt, "counted from the end of the attempt")
		require.Equal(t, "2000-01-01T00:00:00Z dlv_0000000001 [new_form_response] to webhook "+d.WebhookID+": pending, attempts: 1, last answer: 418", d.String())
	})
}

func TestMail_toAuthors(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	doc := srv.AddDocument(refserver.Document{
		Name: "Lease", AuthorEmail: "olga@example.com", Signers: []refserver.Signer{{Email: "ann@example.com"}},
	})
	template := srv.AddTemplate(refserver.Template{Name: "Offer", AuthorEmail: "otto@example.com", Roles: []refserver.Role{{Title: "Buyer"}}})
	require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
	require.NoError(t, srv.Signer(sendTemplate(t, srv, template, "Buyer", "ben@example.com"), "ben@example.com").Decline("too dear"))
	var notices []string
	for _, m := range srv.Messages() {
		if m.Kind == "notice" && strings.HasPrefix(m.To, "o") {
			notices = append(notices, m.To+" "+m.Subject)
		}
	}
	require.Equal(t, []string{"olga@example.com Completed: Lease", "otto@example.com Declined: Offer"}, notices)
	require.Equal(t, "2026-11-20T12:00:00Z invitation about "+doc, srv.Messages()[0].String())
}

func TestServer_defaultAuthor(t *testing.T) {
	srv := servicetest.Start(t, nil)
	srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	for _, kind := range []string{"PDF", "PDF_TEMPLATE"} {
		t.Run(kind, func(t *testing.T) {
			_, body, err := list(srv, "?documentType="+kind)
			require.NoError(t, err)
			require.Contains(t, body, `"authorEmail":"author@example.com"`)
		})
	}
}

func TestWebhookFault_ofOneWebhook(t *testing.T) {
	r, other := newReceiver(t), newReceiver(t)
	srv, hook, submit := newPair(t, nil, r.URL)
	srv.AddWebhook(refserver.Webhook{URL: other.URL, Event: refserver.FormResponse})
	srv.FailWebhooks(refserver.WebhookFault{WebhookID: hook, Drop: true})
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	require.Empty(t, r.all())
	require.Len(t, other.all(), 1)
}
