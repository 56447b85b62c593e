package refserver_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// ask returns the status of an answer; 0: there was none.
func ask(srv *servicetest.Server) int {
	req, _ := http.NewRequest(http.MethodGet, srv.URL+"/get-documents", nil)
	req.Header.Set("x-api-key", srv.APIKey)
	req.Close = true // net/http repeats a GET that is reset on a used connection
	resp, err := srv.HTTPClient().Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

func counts(srv *servicetest.Server) (all []int) {
	for _, f := range srv.Faults() {
		all = append(all, f.Matched, f.Happened)
	}
	return all
}

// TestFault_countsUntilOneHappens asks faults in the order in which they were set.
func TestFault_countsUntilOneHappens(t *testing.T) {
	srv := servicetest.Start(t, nil)
	srv.Fail(refserver.Fault{Operation: refserver.Send, Status: 500})
	srv.Fail(refserver.Fault{DocumentID: "0123456789abcdef01234567", Status: 500})
	srv.Fail(refserver.Fault{Status: 501, Nth: 2})
	srv.Fail(refserver.Fault{Status: 502, Times: 1})
	srv.Fail(refserver.Fault{Status: 503})
	require.Equal(t, []int{502, 501, 503, 503}, []int{ask(srv), ask(srv), ask(srv), ask(srv)})
	require.Equal(t, []int{0, 0, 0, 0, 4, 1, 3, 1, 2, 2}, counts(srv), "matched and happened, of each")

	r := newReceiver(t, 500, 500, 500)
	srv, _, submit := newPair(t, nil, r.URL)
	srv.FailWebhooks(refserver.WebhookFault{EventType: "new_signature_pdf_completed", Drop: true})
	srv.FailWebhooks(refserver.WebhookFault{DocumentID: "0123456789abcdef01234567", Drop: true})
	srv.FailWebhooks(refserver.WebhookFault{Drop: true, Nth: 2})
	srv.FailWebhooks(refserver.WebhookFault{Duplicate: true})
	submit()
	srv.Advance(10 * time.Minute)
	require.Equal(t, []int{0, 0, 0, 0, 3, 1, 2, 2}, counts(srv))
	require.Len(t, r.all(), 4)
}

// A fault with a probability happens to about as many requests, the same ones with the same seed.
func TestFault_probability(t *testing.T) {
	var before []int
	for range 2 {
		srv := servicetest.Start(t, &refserver.Options{Seed: 7})
		srv.Fail(refserver.Fault{Probability: 0.5, Times: 5, Nth: 3, Status: 500})
		var got []int
		for range 30 {
			got = append(got, ask(srv))
		}
		require.Equal(t, []int{200, 200}, got[:2])
		require.Equal(t, []int{30, 5}, counts(srv))
		if before != nil {
			require.Equal(t, before, got)
		}
		before = got
	}
}

func TestFault_withoutEffectIsRefused(t *testing.T) {
	srv := servicetest.Start(t, nil)
	for _, f := range []refserver.Fault{{}, {Operation: refserver.Send, Times: 2}, {AfterWork: true}} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			_, err := srv.Server.Fail(f)
			require.ErrorIs(t, err, refserver.ErrInvalid, "%+v", f)
		})
	}
	for _, f := range []refserver.WebhookFault{{Times: 2}, {Delay: time.Hour, Secret: "another"}} {
		t.Run(fmt.Sprint(f), func(t *testing.T) {
			_, err := srv.Server.FailWebhooks(f)
			require.ErrorIs(t, err, refserver.ErrInvalid, "%+v", f)
		})
	}
}

// A delayed delivery is sent unchanged, even if its fault was removed.
func TestWebhookFault_delayedDeliveryIsGenuine(t *testing.T) {
	for _, taken := range []bool{false, true} {
		t.Run(fmt.Sprint(taken), func(t *testing.T) {
			r := newReceiver(t)
			srv, _, submit := newPair(t, &refserver.Options{Start: start, VirtualTimestamps: true}, r.URL)
			remove := srv.FailWebhooks(refserver.WebhookFault{Delay: time.Hour})
			submit()
			require.NoError(t, srv.Settle(t.Context()))
			require.Empty(t, r.all())
			if taken {
				remove()
			}
			srv.Advance(time.Hour)
			require.Len(t, r.all(), 1)
			require.True(t, r.all()[0].genuine(srv.WebhookSecret))
		})
	}
}

func TestFault_JSON(t *testing.T) {
	srv := servicetest.Start(t, nil)
	srv.Fail(refserver.Fault{Operation: refserver.Send, Times: 2, Latency: 5 * time.Second, Status: 503})
	srv.FailWebhooks(refserver.WebhookFault{Secret: "a guess", Shift: -time.Hour})
	faults := srv.Faults()
	require.JSONEq(t, `{"operation":"send","times":2,"latency":"5s","status":503}`, faults[0].String())
	require.JSONEq(t, `{"secret":"[redacted]","shift":"-1h0m0s"}`, faults[1].String())
}
