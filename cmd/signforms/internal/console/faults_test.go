package console_test

import (
	"io"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A button sets a fault. The page says what it does from then on, how often it happened and when it last did.
func TestFaultsAreSetByAButton(t *testing.T) {
	service := newConsole(t)
	for name, screen := range browsertest.Screens {
		t.Run(name, func(t *testing.T) {
			defer service.ClearFaults()
			p := browsertest.Open(t, screen)
			p.Go(service.URL + "/_/faults")
			p.Click(`[aria-label="Presets of requests"] [value="503"]`)
			p.WaitText("The fault is set.")
			p.WaitText("The next 10 requests will be answered 503 with Retry-After 1 s.")
			p.WaitText("0 of 0")
			_, err := onceClient(t, service).Documents.List(t.Context(), signforms.DocumentListParams{})
			require.ErrorIs(t, err, signforms.ErrUnavailable)
			p.WaitText("The next 9 requests will be answered 503 with Retry-After 1 s.")
			p.WaitText("1 of 1")
			_, err = onceClient(t, service).Documents.List(t.Context(), signforms.DocumentListParams{})
			require.ErrorIs(t, err, signforms.ErrUnavailable)
			p.WaitText("2 of 2") // without a reload
			p.WaitText(service.Faults()[0].LastAt.UTC().Format("2006-01-02 15:04:05 UTC"))
			p.Click(`[aria-label="Presets of deliveries"] [value="duplicate"]`)
			p.WaitText("Every delivery attempt will be made twice.")
			p.RequireAccessible()
			p.Shot("faults")
			p.Click("td button")
			p.WaitText("The fault was taken back.")
			require.Len(t, service.Faults(), 1)
		})
	}
}

// Each preset does what its button says, and the form sets the same for others.
func TestPresetsOfFaults(t *testing.T) {
	service := newConsole(t)
	hook := service.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1/hook", Event: refserver.SignatureCompleted})
	set := func(form url.Values) string {
		t.Helper()
		resp, err := service.HTTPClient().PostForm(service.URL+"/_/faults", form)
		require.NoError(t, err)
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(page)
	}
	page := set(url.Values{"kind": {"no such"}})
	require.Contains(t, page, "Choose what goes wrong.")
	page = set(url.Values{"kind": {"503"}, "times": {"often"}})
	require.Contains(t, page, "Write how often it happens")
	wants := map[string]string{
		"429":       "Every reminder will be answered 429 with Retry-After 60 s and the body &#34;{\\&#34;message\\&#34;:",
		"503":       "The next 10 requests will be answered 503 with Retry-After 1 s.",
		"500":       "The next request will be answered 500.",
		"slow":      "Every request will wait for 5s.",
		"lost":      "The next send will do its work and lose its connection without an answer.",
		"reset":     "The next request will lose its connection without an answer.",
		"json":      "The next request will do its work and be answered with the body &#34;",
		"drop":      "The next delivery attempt will get lost.",
		"duplicate": "Every delivery attempt will be made twice.",
		"late":      "The next attempt of a delivery not yet delayed will be made 1m later.",
		"forged":    "The next delivery attempt will be signed with the secret of this fault.",
		"stale":     "The next delivery attempt will have a timestamp 1h in the past.",
		"untyped":   "The next delivery attempt will lack webhookEvent.",
	}
	for _, button := range regexp.MustCompile(`<button class="small" name="kind" value="([^"]+)">`).FindAllStringSubmatch(page, -1) {
		page := set(url.Values{"kind": {button[1]}})
		require.Contains(t, page, wants[button[1]])
		require.Len(t, service.Faults(), 1)
		service.ClearFaults()
		delete(wants, button[1])
	}
	require.Empty(t, wants, "presets without a button")

	page = set(url.Values{"kind": {"503"}, "times": {"2"}, "operation": {"send reminder"}})
	require.Contains(t, page, "The next 2 reminders will be answered 503 with Retry-After 1 s.")
	page = set(url.Values{"kind": {"429"}, "times": {"1"}, "operation": {"send"}})
	require.Contains(t, page, `The next send will be answered 429 with Retry-After 60 s and the body &#34;{\&#34;message\&#34;:\&#34;Too many requests\&#34;`)
	page = set(url.Values{"kind": {"drop"}, "times": {"0"}, "webhook": {hook}})
	require.Contains(t, page, "Every delivery attempt to webhook "+hook+" will get lost.")
	require.Contains(t, page, ">http://127.0.0.1:1/hook</a>")
}

// The preset of the reminder limit is what a client takes for the limit.
func TestPresetOfTheReminderLimit(t *testing.T) {
	service := newConsole(t)
	id := service.AddDocument(oneSigner("Lease"))
	resp, err := service.HTTPClient().PostForm(service.URL+"/_/faults", url.Values{"kind": {"429"}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	_, err = onceClient(t, service).Documents.Remind(t.Context(), signforms.PDFDocument(id))
	require.ErrorIs(t, err, signforms.ErrRateLimited)
}

// onceClient returns a client that tries once.
func onceClient(t *testing.T, service *refserver.Server) *signforms.Client {
	t.Helper()
	options := clientOptions(service)
	options.MaxAttempts = 1
	client, err := signforms.New(service.URL, service.APIKey, options)
	require.NoError(t, err)
	return client
}
