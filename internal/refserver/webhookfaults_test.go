package refserver_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestWebhookFault_each(t *testing.T) {
	type fault = refserver.WebhookFault
	for _, c := range []struct {
		name     string
		fault    fault
		requests int
		genuine  bool
		check    func(t *testing.T, r received, d refserver.Delivery)
	}{
		{name: "drop", fault: fault{Drop: true}, requests: 0, genuine: false, check: nil},
		{name: "duplicate", fault: fault{Duplicate: true}, requests: 2, genuine: true, check: nil},
		{name: "another secret", fault: fault{Secret: "previous"}, requests: 1, genuine: false, check: func(t *testing.T, r received, _ refserver.Delivery) {
			require.True(t, r.genuine("previous"))
		}},
		{name: "stale", fault: fault{Shift: -time.Hour}, requests: 1, genuine: true, check: func(t *testing.T, r received, _ refserver.Delivery) {
			require.Equal(t, "1999-12-31T23:00:00.000Z", r.header.Get("x-timestamp"))
		}},
		{name: "missing type", fault: fault{OmitType: true}, requests: 1, genuine: true, check: func(t *testing.T, r received, d refserver.Delivery) {
			require.Equal(t, strings.Replace(string(d.Body), `"webhookEvent":"new_form_response",`, "", 1), string(r.body))
		}},
		{name: "unknown event", fault: fault{Type: "new_thing"}, requests: 1, genuine: true, check: func(t *testing.T, r received, d refserver.Delivery) {
			require.Equal(t, strings.Replace(string(d.Body), `"new_form_response"`, `"new_thing"`, 1), string(r.body))
		}},
		{name: "re-encoded", fault: fault{Reencode: true}, requests: 1, genuine: false, check: func(t *testing.T, r received, d refserver.Delivery) {
			require.JSONEq(t, string(d.Body), string(r.body))
			require.Contains(t, string(r.body), "\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := refserver.NewNetwork()
				defer network.Close()
				r := &receiver{}
				srv, _, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("app.test", r))
				defer srv.Close()
				requireFaultsHappen(t, srv)
				srv.FailWebhooks(c.fault)
				submit()
				require.NoError(t, srv.Settle(t.Context()))
				require.Len(t, r.all(), c.requests)
				d := srv.Deliveries()[0]
				for i, got := range r.all() {
					require.Equal(t, c.genuine, got.genuine(srv.WebhookSecret))
					require.Equal(t, string(got.body), string(d.Attempts[i].Body), "what was sent is in the log")
					require.Equal(t, r.all()[0], got)
				}
				if c.check != nil {
					c.check(t, r.all()[0], d)
				}
			})
		})
	}
}

func TestWebhookFault_droppedAttempt(t *testing.T) {
	r := newReceiver(t)
	srv, _, submit := newPair(t, nil, r.URL)
	srv.FailWebhooks(refserver.WebhookFault{Drop: true, Times: 2})
	submit()
	srv.Advance(10 * time.Minute)
	require.Len(t, r.all(), 1)
	require.Len(t, srv.Deliveries()[0].Attempts, 3)
	require.Equal(t, "lost on its way by a fault", srv.Deliveries()[0].Attempts[0].Error)
}

func TestWebhookFault_delayedDeliveryIsOvertaken(t *testing.T) {
	r := newReceiver(t)
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	srv.AddWebhook(refserver.Webhook{URL: r.URL, Event: refserver.SignatureCompleted})
	srv.FailWebhooks(refserver.WebhookFault{EventType: "new_signature_pdf_individual_signed", DocumentID: doc, Delay: time.Minute})
	require.NoError(t, errors.Join(srv.Signer(doc, "ann@example.com").View(), srv.Signer(doc, "ann@example.com").Sign()))
	require.NoError(t, srv.Settle(t.Context()))
	srv.Advance(time.Hour)
	require.Equal(t, []string{"new_signature_pdf_individual_viewed", "new_signature_pdf_completed", "new_signature_pdf_individual_signed"}, r.types(t))
}

func TestWebhookFault_matchesEachIDOfAnEvent(t *testing.T) {
	srv := servicetest.Start(t, nil)
	r := newReceiver(t)
	for _, family := range []refserver.EventFamily{refserver.FormResponse, refserver.TemplateResponse} {
		srv.AddWebhook(refserver.Webhook{URL: r.URL, Event: family})
	}
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	created := sendTemplate(t, srv, template, "Buyer", "ann@example.com")
	another := sendTemplate(t, srv, template, "Buyer", "ann@example.com")
	response, err := srv.SubmitForm(form, refserver.Submission{})
	require.NoError(t, err)
	require.NoError(t, errors.Join(srv.Signer(created, "ann@example.com").View(), srv.Signer(another, "ann@example.com").View()))
	require.NoError(t, srv.Settle(t.Context()))
	_, answer := call(t, srv, "GET", "/get-form-responses?formId="+form, "")
	responseID := answer["responses"].([]any)[0].(map[string]any)["responseId"].(string)
	const unknown = "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11"

	for _, row := range []struct {
		id   string
		want int
	}{{id: form, want: 1}, {id: response, want: 1}, {id: responseID, want: 1}, {id: template, want: 2}, {id: created, want: 1},
		{id: strings.ToUpper(created), want: 1}, {id: unknown, want: 0}} {
		t.Run(row.id, func(t *testing.T) {
			remove := srv.FailWebhooks(refserver.WebhookFault{DocumentID: row.id, Drop: true})
			dropped := 0
			for _, d := range srv.Deliveries() {
				require.NoError(t, srv.Resend(d.ID))
			}
			require.NoError(t, srv.Settle(t.Context()))
			for _, d := range srv.Deliveries() {
				if d.Attempts[len(d.Attempts)-1].Error != "" {
					dropped++
				}
			}
			require.Equal(t, row.want, dropped, "fault for %s", row.id)
			remove()
		})
	}
}

func TestWebhookFault_testDelivery(t *testing.T) {
	r := newReceiver(t)
	srv := servicetest.Start(t, nil)
	hook := srv.AddWebhook(refserver.Webhook{URL: r.URL, Event: refserver.FormResponse, Object: true})
	srv.FailWebhooks(refserver.WebhookFault{Type: "new_thing"})
	srv.TestWebhook(hook)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, []string{"new_thing"}, r.types(t))
}

func TestWebhookFault_delaysOnce(t *testing.T) {
	srv, _, submit := newPair(t, &refserver.Options{Start: start}, newReceiver(t, 500, 500).URL)
	srv.FailWebhooks(refserver.WebhookFault{Delay: time.Hour})
	srv.FailWebhooks(refserver.WebhookFault{Drop: true, Times: 1})
	submit()
	srv.Advance(48 * time.Hour)
	require.Equal(t, []time.Duration{
		time.Hour, time.Hour + 5*time.Second, time.Hour + 65*time.Second, time.Hour + 365*time.Second,
	}, times(srv), "of four attempts the first and the third were answered 500, and the second was dropped")
}

func TestWebhookFault_duplicateIsNoAttempt(t *testing.T) {
	srv, _, submit := newPair(t, &refserver.Options{Start: start}, newReceiver(t, 500, 500, 500).URL)
	srv.FailWebhooks(refserver.WebhookFault{Duplicate: true, Nth: 1})
	submit()
	srv.Advance(48 * time.Hour)
	require.Equal(t, []time.Duration{0, 0, 5 * time.Second, 65 * time.Second}, times(srv))
	var duplicates []bool
	for _, a := range srv.Deliveries()[0].Attempts {
		duplicates = append(duplicates, a.Duplicate)
	}
	require.Equal(t, []bool{false, true, false, false}, duplicates)
}

// TestWebhookFault_seedOfEachWebhook repeats a run with four webhooks whose attempts run concurrently.
func TestWebhookFault_seedOfEachWebhook(t *testing.T) {
	run := func(seed uint64) (attempts []int) {
		srv, _, submit := newPair(t, &refserver.Options{Start: start, Seed: seed}, newReceiver(t).URL)
		for range 3 {
			srv.AddWebhook(refserver.Webhook{URL: newReceiver(t).URL, Event: refserver.FormResponse})
		}
		srv.FailWebhooks(refserver.WebhookFault{Drop: true, Probability: 0.5})
		for range 8 {
			submit()
		}
		srv.Advance(48 * time.Hour)
		for _, d := range srv.Deliveries() {
			attempts = append(attempts, len(d.Attempts))
		}
		return attempts
	}
	first := run(7)
	for range 5 {
		require.Equal(t, first, run(7))
	}
	require.NotEqual(t, first, run(8))
}

// times returns when the attempts of the first delivery were made, on a clock that started at start.
func times(srv *servicetest.Server) (after []time.Duration) {
	for _, a := range srv.Deliveries()[0].Attempts {
		after = append(after, a.At.Sub(start))
	}
	return after
}
