package refserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestResend(t *testing.T) {
	r := newReceiver(t)
	srv, hook, submit := newPair(t, nil, r.URL)
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	id := srv.Deliveries()[0].ID
	require.NoError(t, srv.Resend(id))
	require.NoError(t, srv.Settle(t.Context()))
	require.Len(t, r.all(), 2)
	require.Equal(t, r.all()[0].body, r.all()[1].body)
	require.Len(t, srv.Deliveries(), 1)
	require.Len(t, srv.Deliveries()[0].Attempts, 2)

	require.EqualError(t, srv.Resend("x"), `no delivery with id "x"`)
	require.NoError(t, srv.DisableWebhook(hook))
	require.EqualError(t, srv.Resend(id), "resending "+id+": its webhook is disabled: enable it first")
	require.NoError(t, srv.DeleteWebhook(hook))
	require.EqualError(t, srv.Resend(id), "resending "+id+": its webhook was deleted")
}

func TestResend_deadDelivery(t *testing.T) {
	r := newReceiver(t, 500, 500, 500, 500, 500, 500, 500, 500, 500)
	srv, _, submit := newPair(t, nil, r.URL)
	submit()
	srv.Advance(48 * time.Hour)
	id := srv.Deliveries()[0].ID
	for _, want := range []refserver.DeliveryStatus{refserver.DeliveryDead, refserver.DeliveryDelivered} {
		require.NoError(t, srv.Resend(id))
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, want, srv.Deliveries()[0].Status)
	}
	require.Len(t, r.all(), 10)
}

func TestResend_allFailedSince(t *testing.T) {
	r := newReceiver(t, 500, 500, 500, 200)
	srv, hook, submit := newPair(t, nil, r.URL)
	submit() // fails, and is older than since
	require.NoError(t, srv.Settle(t.Context()))
	srv.Advance(time.Second)
	since := srv.Now()
	submit() // fails
	submit() // fails
	submit() // arrives
	require.NoError(t, srv.Settle(t.Context()))
	n, err := srv.ResendFailed(hook, since)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NoError(t, srv.Settle(t.Context()))
	var attempts []int
	for _, d := range srv.Deliveries() {
		attempts = append(attempts, len(d.Attempts))
	}
	require.Equal(t, []int{1, 2, 2, 1}, attempts)
	_, err = srv.ResendFailed("x", since)
	require.EqualError(t, err, `no webhook with id "x"`)
}

func TestResend_failedAndDeadDeliveries(t *testing.T) {
	srv, hook, submit := newPair(t, nil, newReceiver(t, 500, 500, 500, 500, 500, 500, 500, 500).URL)
	submit()
	srv.Advance(48 * time.Hour)
	srv.FailWebhooks(refserver.WebhookFault{Delay: time.Hour, Nth: 1})
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	n, err := srv.ResendFailed(hook, time.Time{})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, refserver.DeliveryDelivered, srv.Deliveries()[0].Status)
	require.Empty(t, srv.Deliveries()[1].Attempts)
}

func TestTestWebhook_oneWebhookAlone(t *testing.T) {
	srv := servicetest.Start(t, nil)
	roles := []refserver.Role{{Title: "Buyer"}, {Title: "Seller"}}
	a, b := srv.AddTemplate(refserver.Template{Name: "A", Roles: roles}), srv.AddTemplate(refserver.Template{Name: "B", Roles: roles})
	mine, other := newReceiver(t), newReceiver(t)
	hook := srv.AddWebhook(refserver.Webhook{URL: mine.URL, Event: refserver.TemplateResponse, Documents: []string{a, b}, Object: true})
	srv.AddWebhook(refserver.Webhook{URL: other.URL, Event: refserver.TemplateResponse})

	first, second := srv.TestWebhook(hook), srv.TestWebhook(hook)
	require.NotEqual(t, first, second)
	require.NoError(t, srv.Settle(t.Context()))
	require.Empty(t, other.all())
	require.Equal(t, []string{"new_template_response", "new_template_response", "new_template_response", "new_template_response"}, mine.types(t))
	require.Equal(t, mine.all()[0].body, mine.all()[1].body, "pressing the button twice sends the same bytes")
	require.True(t, mine.all()[0].genuine(srv.WebhookSecret))
	require.True(t, srv.Deliveries()[0].Test)

	var samples []map[string]any
	require.NoError(t, json.Unmarshal(mine.all()[0].body, &samples))
	require.Equal(t, a, samples[0]["documentId"])
	require.Equal(t, "B", samples[1]["documentName"])
	require.Len(t, samples[0]["signers"], 2)
	require.NotEmpty(t, samples[0]["finishedPdfUrl"])
	require.Equal(t, "Sample value", samples[0]["contact_field(page1)[Seller]"])
}

func TestTestWebhook_changesNoDocument(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	_, before, err := list(srv, "")
	require.NoError(t, err)
	srv.TestWebhook(srv.AddWebhook(refserver.Webhook{
		URL: newReceiver(t).URL, Event: refserver.SignatureCompleted, Documents: []string{doc},
	}))
	require.NoError(t, srv.Settle(t.Context()))
	require.Contains(t, string(srv.Deliveries()[0].Body), `"status":"SIGNED"`)
	_, after, err := list(srv, "")
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestTestWebhook_eachFamily(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Profile: refserver.Profile{UntypedSamples: true}})
	r := newReceiver(t)
	for _, family := range []refserver.EventFamily{refserver.FormResponse, refserver.SignatureCompleted, refserver.TemplateResponse} {
		srv.TestWebhook(srv.AddWebhook(refserver.Webhook{URL: r.URL, Event: family}))
	}
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, []string{"", "", ""}, r.types(t), "the profile leaves webhookEvent out")
	bodies := ""
	for _, d := range r.all() {
		bodies += string(d.body)
	}
	for _, want := range []string{`"formResponseId":`, `"signerIp":`, `"roleTitle":"Sample role"`} {
		t.Run(want, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(bodies, want), "%s in %s", want, bodies)
		})
	}
}

func TestSettle_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		srv, _, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("hang.test", hang))
		submit()
		synctest.Wait()
		id := srv.Deliveries()[0].ID
		require.EqualError(t, srv.Resend(id), "resending "+id+": it is being sent: wait until it has an outcome")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, srv.Settle(ctx), context.DeadlineExceeded)

		go func() {
			time.Sleep(time.Second)
			srv.Close()
		}()
		require.ErrorContains(t, srv.Settle(t.Context()), "the server is closed")
	})
}

func TestDelivery_bodyOfOneMegabyte(t *testing.T) {
	r := newReceiver(t)
	srv := servicetest.Start(t, nil)
	story, form, answers := strings.Repeat("é", refserver.MaxText), refserver.Form{Title: "Intake"}, map[string]string{}
	for i := range 53 {
		question := fmt.Sprintf("Story %d?", i)
		form.Fields = append(form.Fields, refserver.Field{Question: question})
		answers[question] = story
	}
	srv.AddWebhook(refserver.Webhook{URL: r.URL, Event: refserver.FormResponse})
	_, err := srv.SubmitForm(srv.AddForm(form), refserver.Submission{Answers: answers})
	require.NoError(t, err)
	require.NoError(t, srv.Settle(t.Context()))
	require.Greater(t, len(r.all()[0].body), 1<<20)
	require.Contains(t, string(r.all()[0].body), story)
	require.True(t, r.all()[0].genuine(srv.WebhookSecret))
}
