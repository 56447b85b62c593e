package console_test

import (
	"html"
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
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(service.URL + "/_/faults")
	p.Click(`[aria-label="Presets of requests"] [value="503"]`)
	p.WaitText("The fault is set.")
	p.WaitText(`{"times":10,"status":503,"retryAfter":"1"}`)
	p.WaitText("0 of 0")
	for _, happened := range []string{"1 of 1", "2 of 2"} { // without a reload
		_, err := service.Client(func(o *signforms.Options) { o.MaxAttempts = 1 }).Documents.List(t.Context(), signforms.DocumentListParams{})
		require.ErrorIs(t, err, signforms.ErrUnavailable)
		p.WaitText(happened)
	}
	p.WaitText(service.Faults()[0].LastAt.UTC().Format("2006-01-02 15:04:05 UTC"))
	p.Click(`[aria-label="Presets of deliveries"] [value="duplicate"]`)
	p.WaitText(`{"duplicate":true}`)
	p.RequireAccessibleOnEveryScreen("faults")
	p.Click("td button")
	p.WaitText("The fault was removed.")
	require.Len(t, service.Faults(), 1)
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
		"429":       `{"operation":"send reminder","status":429,"body":"{\"message\":`,
		"503":       `{"times":10,"status":503,"retryAfter":"1"}`,
		"500":       `{"times":1,"status":500}`,
		"slow":      `{"latency":"5s"}`,
		"lost":      `{"operation":"send","times":1,"afterWork":true,"reset":true}`,
		"reset":     `{"times":1,"reset":true}`,
		"json":      `{"times":1,"afterWork":true,"body":"`,
		"drop":      `{"times":1,"drop":true}`,
		"duplicate": `{"duplicate":true}`,
		"late":      `{"times":1,"delay":"1m0s"}`,
		"forged":    `{"times":1,"secret":"[redacted]"}`,
		"stale":     `{"times":1,"shift":"-1h0m0s"}`,
		"untyped":   `{"times":1,"omitType":true}`,
	}
	for _, button := range regexp.MustCompile(`<button class="small" name="kind" value="([^"]+)">`).FindAllStringSubmatch(page, -1) {
		page := set(url.Values{"kind": {button[1]}})
		require.Contains(t, html.UnescapeString(page), wants[button[1]])
		require.Len(t, service.Faults(), 1)
		service.ClearFaults()
		delete(wants, button[1])
	}
	require.Empty(t, wants, "presets without a button")

	page = set(url.Values{"kind": {"503"}, "times": {"2"}, "operation": {"send reminder"}})
	require.Contains(t, html.UnescapeString(page), `{"operation":"send reminder","times":2,"status":503,"retryAfter":"1"}`)
	page = set(url.Values{"kind": {"drop"}, "times": {"0"}, "webhook": {hook}})
	require.Contains(t, html.UnescapeString(page), `{"webhookId":"`+hook+`","drop":true}`)
	require.Contains(t, page, ">http://127.0.0.1:1/hook</a>")
}

// The preset of the reminder limit is what a client takes for the limit.
func TestPresetOfTheReminderLimit(t *testing.T) {
	service := newConsole(t)
	id := service.AddDocument(oneSigner("Lease"))
	resp, err := service.HTTPClient().PostForm(service.URL+"/_/faults", url.Values{"kind": {"429"}})
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	_, err = service.Client(func(o *signforms.Options) { o.MaxAttempts = 1 }).Documents.Remind(t.Context(), signforms.PDFDocument(id))
	require.ErrorIs(t, err, signforms.ErrRateLimited)
}
