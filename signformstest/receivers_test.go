package signformstest_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// sdkReceiver is a receiver made with the SDK, which keeps the types of the events that reached its functions.
func sdkReceiver(t *testing.T, o *webhook.VerifierOptions, secrets ...string) (url string, seen *[]string) {
	t.Helper()
	verifier, err := webhook.NewVerifier(secrets, o)
	require.NoError(t, err)
	seen = new([]string)
	endpoint := httptest.NewServer(webhook.NewHandler(verifier, webhook.Funcs{
		FormResponse: func(_ context.Context, e *webhook.FormResponse) error {
			*seen = append(*seen, "form response")
			return nil
		},
		Unknown: func(_ context.Context, e *webhook.UnknownEvent) error {
			*seen = append(*seen, string(e.EventType()))
			return nil
		},
	}, &webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}))
	t.Cleanup(endpoint.Close)
	return endpoint.URL, seen
}

// TestWhatAReceiverMakesOfFaults has the SDK's own receiver judge each webhook fault.
func TestWhatAReceiverMakesOfFaults(t *testing.T) {
	type fault = signformstest.WebhookFault
	for name, c := range map[string]struct {
		fault   fault
		rawOnly bool
		answers []int // 0: none
		seen    []string
	}{
		"none":                {fault{}, false, []int{200}, []string{"form response"}},
		"duplicate":           {fault{Duplicate: true}, false, []int{200, 200}, []string{"form response"}},
		"drop":                {fault{Drop: true}, false, []int{0}, nil},
		"wrong secret":        {fault{Secret: "a guess"}, false, []int{401}, nil},
		"previous secret":     {fault{Secret: "previous"}, false, []int{200}, []string{"form response"}},
		"stale":               {fault{Shift: -time.Hour}, false, []int{401}, nil},
		"future":              {fault{Shift: time.Hour}, false, []int{401}, nil},
		"a little late":       {fault{Shift: -time.Minute}, false, []int{200}, []string{"form response"}},
		"no signature":        {fault{OmitHeader: "x-signature"}, false, []int{401}, nil},
		"no timestamp":        {fault{OmitHeader: "x-timestamp"}, false, []int{401}, nil},
		"no content type":     {fault{OmitHeader: "content-type"}, false, []int{415}, nil},
		"no type":             {fault{OmitType: true}, false, []int{200}, []string{"form response"}},
		"unknown type":        {fault{Type: "new_thing"}, false, []int{200}, []string{"new_thing"}},
		"huge":                {fault{Pad: 2 << 20}, false, []int{413}, nil},
		"re-encoded":          {fault{Reencode: true}, false, []int{200}, []string{"form response"}},
		"re-encoded, raw":     {fault{Reencode: true}, true, []int{401}, nil},
		"re-encoded, unknown": {fault{Reencode: true, Type: "<new>"}, false, []int{200}, []string{"<new>"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := signformstest.NewServer(t, &signformstest.Options{FailOnUnusedFaults: true})
			url, seen := sdkReceiver(t, &webhook.VerifierOptions{RawOnly: c.rawOnly}, srv.WebhookSecret, "previous")
			_, submit := addPair(t, srv, url)
			srv.FailWebhooks(c.fault)
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
	}
}

// TestADelayedEventReachesTheReceiverLast reorders two events.
func TestADelayedEventReachesTheReceiverLast(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	url, seen := sdkReceiver(t, nil, srv.WebhookSecret)
	_, submit := addPair(t, srv, url)
	srv.FailWebhooks(signformstest.WebhookFault{Nth: 1, Delay: time.Second, Type: "first"})
	srv.FailWebhooks(signformstest.WebhookFault{Nth: 1, Type: "second"})
	submit()
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	srv.Advance(time.Second)
	require.Equal(t, []string{"second", "first"}, *seen)
}
