package refserver_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/webhook"
)

// sdkReceiver starts a receiver made with the SDK. It records the types of the events that reach its functions.
func sdkReceiver(t *testing.T, network *refserver.Network, o *webhook.VerifierOptions, secrets ...string) (url string, seen *[]string) {
	t.Helper()
	verifier, err := webhook.NewVerifier(secrets, o)
	require.NoError(t, err)
	seen = new([]string)
	url = network.Serve("app.test", webhook.NewHandler(verifier, webhook.Funcs{
		FormResponse: func(_ context.Context, e *webhook.FormResponse) error {
			*seen = append(*seen, "form response")
			return nil
		},
		Unknown: func(_ context.Context, e *webhook.UnknownEvent) error {
			*seen = append(*seen, string(e.EventType()))
			return nil
		},
	}, &webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}))
	return url, seen
}

// TestWebhookFault_resultInTheReceiver confronts the SDK's receiver with each webhook fault.
func TestWebhookFault_resultInTheReceiver(t *testing.T) {
	type fault = refserver.WebhookFault
	for _, c := range []struct {
		name    string
		fault   fault
		answers []int // 0: none
		seen    []string
	}{
		{name: "none", fault: fault{}, answers: []int{200}, seen: []string{"form response"}},
		{name: "duplicate", fault: fault{Duplicate: true}, answers: []int{200, 200}, seen: []string{"form response"}},
		{name: "drop", fault: fault{Drop: true}, answers: []int{0}, seen: nil},
		{name: "wrong secret", fault: fault{Secret: "a guess"}, answers: []int{401}, seen: nil},
		{name: "previous secret", fault: fault{Secret: "previous"}, answers: []int{200}, seen: []string{"form response"}},
		{name: "stale", fault: fault{Shift: -time.Hour}, answers: []int{401}, seen: nil},
		{name: "future", fault: fault{Shift: time.Hour}, answers: []int{401}, seen: nil},
		{name: "a little late", fault: fault{Shift: -time.Minute}, answers: []int{200}, seen: []string{"form response"}},
		{name: "no type", fault: fault{OmitType: true}, answers: []int{200}, seen: []string{"form response"}},
		{name: "unknown type", fault: fault{Type: "new_thing"}, answers: []int{200}, seen: []string{"new_thing"}},
		{name: "re-encoded", fault: fault{Reencode: true}, answers: []int{200}, seen: []string{"form response"}},
		{name: "re-encoded, unknown", fault: fault{Reencode: true, Type: "<new>"}, answers: []int{200}, seen: []string{"<new>"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // net/http waits before it closes a connection whose body was refused
				network := refserver.NewNetwork()
				defer network.Close()
				srv := servicetest.Start(t, &refserver.Options{Network: network})
				defer srv.Close()
				requireFaultsHappen(t, srv)
				url, seen := sdkReceiver(t, network, nil, srv.WebhookSecret, "previous")
				_, submit := addPair(t, srv, url)
				if c.name != "none" {
					srv.FailWebhooks(c.fault)
				}
				submit()
				require.NoError(t, srv.Settle(t.Context()))
				var answers []int
				for _, a := range srv.Deliveries()[0].Attempts {
					answers = append(answers, a.StatusCode)
					if a.StatusCode != 0 {
						require.Equal(t, "application/json", a.AnswerHeader.Get("Content-Type"))
					}
				}
				require.Equal(t, c.answers, answers)
				require.Equal(t, c.seen, *seen)
			})
		})
	}
}

// TestWebhookFault_delayedEventIsLast reorders two events.
func TestWebhookFault_delayedEventIsLast(t *testing.T) {
	network := refserver.NewNetwork()
	t.Cleanup(network.Close)
	srv := servicetest.Start(t, &refserver.Options{Network: network})
	url, seen := sdkReceiver(t, network, nil, srv.WebhookSecret)
	_, submit := addPair(t, srv, url)
	srv.FailWebhooks(refserver.WebhookFault{Nth: 1, Delay: time.Second})
	srv.FailWebhooks(refserver.WebhookFault{Nth: 1, Type: "second"})
	srv.FailWebhooks(refserver.WebhookFault{Nth: 1, Type: "first"})
	submit()
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	srv.Advance(time.Second)
	require.Equal(t, []string{"second", "first"}, *seen)
}
