package signformstest_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/signformstest"
)

func TestWebhookFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault signformstest.WebhookFault
		check func(t *testing.T, got []received, secret string)
	}{
		{"drop", signformstest.WebhookFault{Drop: true}, func(t *testing.T, got []received, secret string) {
			require.Empty(t, got)
		}},
		{"duplicate", signformstest.WebhookFault{Duplicate: true}, func(t *testing.T, got []received, secret string) {
			require.Len(t, got, 2)
			require.Equal(t, got[0], got[1])
		}},
		{"another secret", signformstest.WebhookFault{Secret: "previous"}, func(t *testing.T, got []received, secret string) {
			require.False(t, got[0].genuine(secret))
			require.True(t, got[0].genuine("previous"))
		}},
		{"stale", signformstest.WebhookFault{Shift: -time.Hour}, func(t *testing.T, got []received, secret string) {
			require.Equal(t, "1999-12-31T23:00:00.000Z", got[0].header.Get("x-timestamp"))
			require.True(t, got[0].genuine(secret))
		}},
		{"missing header", signformstest.WebhookFault{OmitHeader: "x-signature"}, func(t *testing.T, got []received, secret string) {
			require.NotContains(t, got[0].header, "X-Signature")
			require.Contains(t, got[0].header, "X-Timestamp")
		}},
		{"missing type", signformstest.WebhookFault{OmitType: true}, func(t *testing.T, got []received, secret string) {
			require.NotContains(t, string(got[0].body), "webhookEvent")
			require.True(t, got[0].genuine(secret))
		}},
		{"unknown event", signformstest.WebhookFault{Type: "new_thing"}, func(t *testing.T, got []received, secret string) {
			require.Contains(t, string(got[0].body), `"webhookEvent":"new_thing"`)
			require.True(t, got[0].genuine(secret))
		}},
		{"huge body", signformstest.WebhookFault{Pad: 2 << 20}, func(t *testing.T, got []received, secret string) {
			require.Greater(t, len(got[0].body), 2<<20)
			require.True(t, got[0].genuine(secret))
		}},
		{"re-encoded", signformstest.WebhookFault{Reencode: true}, func(t *testing.T, got []received, secret string) {
			require.False(t, got[0].genuine(secret))
			var compact strings.Builder
			var events any
			require.NoError(t, json.Unmarshal(got[0].body, &events))
			require.NoError(t, json.NewEncoder(&compact).Encode(events))
			require.Contains(t, string(got[0].body), "\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := signformstest.NewNetwork()
				defer network.Close()
				r := &receiver{}
				srv, _, submit := newPair(t, &signformstest.Options{Network: network, FailOnUnusedFaults: true}, network.Serve("app.test", r))
				defer srv.Close()
				srv.FailWebhooks(c.fault)
				submit()
				require.NoError(t, srv.Settle(t.Context()))
				c.check(t, r.all(), srv.WebhookSecret)
				for i, got := range r.all() {
					require.Equal(t, string(got.body), string(srv.Deliveries()[0].Attempts[i].Body), "what was sent is in the log")
				}
			})
		})
	}
}

func TestADroppedAttemptIsTriedAgain(t *testing.T) {
	r := newReceiver(t)
	srv, _, submit := newPair(t, nil, r.URL)
	srv.FailWebhooks(signformstest.WebhookFault{Drop: true, Times: 2})
	submit()
	srv.Advance(10 * time.Minute)
	require.Len(t, r.all(), 1)
	require.Len(t, srv.Deliveries()[0].Attempts, 3)
	require.Equal(t, "lost on its way by a fault", srv.Deliveries()[0].Attempts[0].Error)
}

func TestADelayedDeliveryIsOvertaken(t *testing.T) {
	r := newReceiver(t)
	srv := signformstest.NewServer(t, nil)
	doc := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	srv.AddWebhook(signformstest.Webhook{URL: r.URL, Event: signformstest.SignatureCompleted})
	srv.FailWebhooks(signformstest.WebhookFault{EventType: "new_signature_pdf_individual_signed", DocumentID: doc, Delay: time.Minute})
	require.NoError(t, errors.Join(srv.Signer(doc, "ann@example.com").View(), srv.Signer(doc, "ann@example.com").Sign()))
	require.NoError(t, srv.Settle(t.Context()))
	srv.Advance(time.Hour)
	require.Equal(t, []string{"new_signature_pdf_individual_viewed", "new_signature_pdf_completed", "new_signature_pdf_individual_signed"}, r.types(t))
}

func TestAFaultKeepsTestDeliveriesAnArray(t *testing.T) {
	r := newReceiver(t)
	srv := signformstest.NewServer(t, nil)
	hook := srv.AddWebhook(signformstest.Webhook{URL: r.URL, Event: signformstest.FormResponse, Object: true})
	srv.FailWebhooks(signformstest.WebhookFault{Type: "new_thing"})
	srv.TestWebhook(hook)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, []string{"new_thing"}, r.types(t))
}

func TestADelayedAttemptMeetsTheRestOfItsFault(t *testing.T) {
	r := newReceiver(t, 500)
	srv, _, submit := newPair(t, &signformstest.Options{Start: start}, r.URL)
	srv.FailWebhooks(signformstest.WebhookFault{Delay: time.Hour, Secret: "another", Duplicate: true})
	srv.FailWebhooks(signformstest.WebhookFault{OmitType: true, Nth: 1})
	submit()
	srv.Advance(48 * time.Hour)
	require.Equal(t, []time.Duration{time.Hour, time.Hour}, times(srv)[:2], "the two requests of one attempt, an hour late")
	for _, d := range r.all()[:2] {
		require.True(t, d.genuine("another"))
	}
	require.Equal(t, []string{"new_form_response", "new_form_response"}, r.types(t), "one fault happens to an attempt")
}

func TestADeliveryIsDelayedOnce(t *testing.T) {
	srv, _, submit := newPair(t, &signformstest.Options{Start: start}, newReceiver(t, 500, 500).URL)
	srv.FailWebhooks(signformstest.WebhookFault{Delay: time.Hour})
	srv.FailWebhooks(signformstest.WebhookFault{Drop: true, Times: 1})
	submit()
	srv.Advance(48 * time.Hour)
	require.Equal(t, []time.Duration{
		time.Hour, time.Hour + 5*time.Second, time.Hour + 65*time.Second, time.Hour + 365*time.Second,
	}, times(srv), "of four attempts the first and the third were answered 500, and the second was dropped")
}

func TestADuplicateIsNoAttemptOfTheSchedule(t *testing.T) {
	srv, _, submit := newPair(t, &signformstest.Options{Start: start}, newReceiver(t, 500, 500, 500).URL)
	srv.FailWebhooks(signformstest.WebhookFault{Duplicate: true, Nth: 1})
	submit()
	srv.Advance(48 * time.Hour)
	require.Equal(t, []time.Duration{0, 0, 5 * time.Second, 65 * time.Second}, times(srv))
	var duplicates []bool
	for _, a := range srv.Deliveries()[0].Attempts {
		duplicates = append(duplicates, a.Duplicate)
	}
	require.Equal(t, []bool{false, true, false, false}, duplicates)
}

// TestASeedDecidesForEachWebhook repeats a run with four webhooks, whose attempts race each other.
func TestASeedDecidesForEachWebhook(t *testing.T) {
	run := func(seed uint64) (attempts []int) {
		srv, _, submit := newPair(t, &signformstest.Options{Start: start, Seed: seed}, newReceiver(t).URL)
		for range 3 {
			srv.AddWebhook(signformstest.Webhook{URL: newReceiver(t).URL, Event: signformstest.FormResponse})
		}
		srv.FailWebhooks(signformstest.WebhookFault{Drop: true, Probability: 0.5})
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
func times(srv *signformstest.Server) (after []time.Duration) {
	for _, a := range srv.Deliveries()[0].Attempts {
		after = append(after, a.At.Sub(start))
	}
	return after
}
