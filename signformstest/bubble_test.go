package signformstest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// TestTwoVirtualDays runs client, service and receiver in one testing/synctest bubble, as a test of an application would: without
// sockets, without waiting, and with time.Now everywhere. The receiver fails until the last attempt of the schedule.
//
// A service that signs a delivery once loses an event whose first attempts fail: the attempts after Tolerance are refused.
func TestTwoVirtualDays(t *testing.T) {
	last := 17*time.Hour + 36*time.Minute + 5*time.Second
	for _, c := range []struct {
		name      string
		signOnce  bool
		tolerance time.Duration
		tries     int           // of the function
		untimely  int           // attempts that are refused
		arrived   time.Duration // 0: never
	}{
		{name: "signed for each attempt", tries: 8, arrived: last},
		{name: "signed once", signOnce: true, tries: 3, untimely: 5},
		{name: "signed once, larger tolerance", signOnce: true, tolerance: 24 * time.Hour, tries: 8, arrived: last},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := signformstest.NewNetwork()
				defer network.Close() // must happen in the bubble, which must end without goroutines
				srv := signformstest.NewServer(t, &signformstest.Options{Network: network, Profile: signformstest.Profile{SignOnce: c.signOnce}})
				defer srv.Close()

				verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, &webhook.VerifierOptions{Tolerance: c.tolerance})
				require.NoError(t, err)
				start, tries, untimely := time.Now(), 0, 0
				var arrived time.Duration
				srv.AddWebhook(signformstest.Webhook{
					Event: signformstest.FamilyTemplateResponse,
					URL: network.Serve("app.test", webhook.NewHandler(verifier, webhook.Funcs{
						TemplateViewed: func(context.Context, *webhook.TemplateViewed) error {
							if tries++; tries < 8 {
								return errors.New("not yet")
							}
							arrived = time.Since(start)
							return nil
						},
					}, &webhook.HandlerOptions{Logger: slog.New(slog.DiscardHandler), OnError: func(_ context.Context, err error) {
						if errors.Is(err, webhook.ErrTimestamp) {
							untimely++
						}
					}})),
				})

				template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
				sent, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
					TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
				})
				require.NoError(t, err)
				require.NoError(t, srv.Signer(sent.DocumentID, "ann@example.com").View())

				time.Sleep(48 * time.Hour)
				require.NoError(t, srv.WaitDeliveries(t.Context()))
				require.Equal(t, c.tries, tries)
				require.Equal(t, c.untimely, untimely)
				require.Equal(t, c.arrived, arrived.Truncate(time.Second))
			})
		})
	}
}

func TestServer_sharesANetwork(t *testing.T) {
	network := signformstest.NewNetwork()
	defer network.Close()
	a := signformstest.NewServer(t, &signformstest.Options{Network: network})
	b := signformstest.NewServer(t, &signformstest.Options{Network: network})
	require.Equal(t, "http://service.test", a.URL)
	require.Equal(t, "http://service-2.test", b.URL)
	for _, srv := range []*signformstest.Server{a, b} {
		_, err := srv.Client().Documents.List(t.Context(), signforms.DocumentListParams{})
		require.NoError(t, err)
	}
	resp, err := network.HTTPClient().Get(a.URL + "/get-documents")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusForbidden, resp.StatusCode)

	a.Close()
	c := signformstest.NewServer(t, &signformstest.Options{Network: network})
	require.Equal(t, "http://service.test", c.URL, "the name is free again")

	network.Serve("app.test", http.NotFoundHandler())
	require.PanicsWithValue(t, `signformstest: "app.test" is already served in this network`, func() {
		network.Serve("app.test", http.NotFoundHandler())
	})
	network.Close()
	_, err = signformstest.Start(&signformstest.Options{Network: network})
	require.ErrorContains(t, err, "starting the reference service")
}
