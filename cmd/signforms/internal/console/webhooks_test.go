package console_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestWebhookInFourSteps(t *testing.T) {
	service := newConsole(t)
	_, _, formID, _ := populate(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/webhooks/new")
	p.Type("#url", "http://127.0.0.1:9/hook")
	p.Click("[value=new_form_response]")
	p.Click("button.main")
	p.WaitText("3. Records")
	p.Click("[name=record]")
	p.Click("button.main")
	p.WaitText("It was added.")
	hooks := service.Webhooks()
	hook := hooks[len(hooks)-1]
	require.Equal(t, []string{formID}, hook.Documents)
	require.NotContains(t, p.Text(), hook.Secret)
	for range 2 { // as often as somebody asks
		p.Click("a.button[href$='?secret']")
		p.WaitText(hook.Secret)
		require.NotContains(t, p.Text(), "once")
		p.Click("a.button[href*=webhooks]:not([href$=secret])")
		p.WaitText("Show the secret")
		require.NotContains(t, p.Text(), hook.Secret)
	}
	p.Click("button[value=test]")
	p.WaitText("A test delivery is on its way.")
	press(t, p, "Rotate the secret")
	press(t, p, "Yes, rotate the secret")
	p.WaitText("The webhook got a new secret.")
	hooks = service.Webhooks()
	require.NotEqual(t, hook.Secret, hooks[len(hooks)-1].Secret)
}

// Each of many documents can be found and chosen, with the keyboard alone.
func TestWebhookForSomeOfManyDocuments(t *testing.T) {
	service := newConsole(t)
	var ids []string
	for i := range 1000 {
		ids = append(ids, service.AddDocument(refserver.Document{
			Name: fmt.Sprintf("Lease %04d", i), Signers: []refserver.Signer{{Email: fmt.Sprintf("Signer%04d@example.com", i)}},
		}))
	}
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(service.URL + "/_/webhooks/new?url=http://127.0.0.1:9/hook&event=new_signature_completed&object=true")
	p.WaitText("The newest 100 of 1000.")
	p.RequireAccessible()
	search := func(query, says string) {
		t.Helper()
		p.Reach("[name=query]")
		p.Press(strings.Repeat(kb.Backspace, 20) + query + "\r")
		p.WaitText(says)
	}
	search("lease 0007", "Signer0007@")
	p.Reach("[name=record]")
	p.Press(" ")
	search("signer0003@", "Lease 0003")
	require.Contains(t, p.Text(), "Lease 0007", "it stays chosen")
	p.Reach("[name=record]:not(:checked)")
	p.Press(" ")
	search("0", "The newest 100 of 1000 that match.")
	p.Shot("chosen")
	search("nothing", "No PDF documents match.")
	p.Reach("button.main")
	p.Press("\r")
	p.WaitText("It was added.")
	hook := service.Webhooks()[0]
	require.ElementsMatch(t, []string{ids[7], ids[3]}, hook.Documents)
	require.True(t, hook.Object)
	require.Contains(t, get(t, service, "documents?query=SIGNER0003@"), "1 to 1 of 1<")
}

// A link says "Show the secret" where the page has none, and "Hide the secret" where it has one. No other page shows a secret.
func TestSecretsAreShownOnDemand(t *testing.T) {
	service := newConsole(t)
	documentID, templateID, formID, webhookID := populate(t, service)
	secrets := []string{service.WebhookSecret, service.Webhooks()[0].Secret}
	shows := func(page string) bool {
		return slices.ContainsFunc(secrets, func(secret string) bool { return strings.Contains(page, secret) })
	}
	for _, path := range []string{"settings", "webhooks/" + webhookID} {
		hidden, shown := get(t, service, path), get(t, service, path+"?secret")
		require.False(t, shows(hidden), path)
		require.Contains(t, hidden, `href="/_/`+path+`?secret">Show the secret</a>`)
		require.True(t, shows(shown), path)
		require.Contains(t, shown, `href="/_/`+path+`">Hide the secret</a>`)
	}
	for _, path := range []string{
		"", "documents", "documents/" + documentID, "templates", "templates/" + templateID, "forms", "forms/" + formID, "webhooks", "deliveries",
		"deliveries/" + service.Deliveries()[0].ID, "requests", "requests/1", "messages", "clock", "faults",
	} {
		require.False(t, shows(get(t, service, path+"?secret")), path)
	}
}
