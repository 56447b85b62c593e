package console_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// The columns of lists are where they are whatever the records are called, and rows stay low.
func TestLongNamesDoNotMoveTheColumns(t *testing.T) {
	columns := func(width int, name string) map[string][]float64 {
		service := newConsole(t)
		service.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:9/" + strings.ReplaceAll(name, " ", "-"), Event: refserver.SignatureCompleted})
		id := service.AddDocument(refserver.Document{Name: name, Signers: []refserver.Signer{{Name: name, Email: "ann@example.com"}}})
		require.NoError(t, service.Signer(id, "ann@example.com").Sign())
		require.NoError(t, service.Settle(t.Context()), "what a delivery shows changes with its first attempt")
		service.AddTemplate(refserver.Template{Name: name, Roles: []refserver.Role{{Title: "Buyer"}}})
		service.AddForm(refserver.Form{Title: name, Fields: []refserver.Field{{Question: "Why?"}}})
		p := browsertest.Open(t, browsertest.Screen{Width: width})
		found := map[string][]float64{}
		for _, path := range []string{"", "documents", "templates", "forms", "webhooks", "deliveries"} {
			p.Go(service.URL + "/_/" + path)
			found[path] = browsertest.Eval[[]float64](p, "[...document.querySelectorAll('th')].map(e => e.getBoundingClientRect().left)")
			require.Less(t, browsertest.Eval[float64](p, "Math.max(...[...document.querySelectorAll('tbody td')].map(e => e.offsetHeight))"), 120.0, path)
			p.RequireAccessible()
			p.Shot(path + "-" + name[:1])
		}
		return found
	}
	for _, long := range []string{strings.Repeat("x", 300), strings.TrimSpace(strings.Repeat("long name ", 30))} {
		require.Equal(t, columns(1280, "Short"), columns(1280, long))
		columns(360, long)
	}
}

// Deliveries name what they are about and where they go, and lead there.
func TestDeliveriesNameWebhookAndDocument(t *testing.T) {
	service := newConsole(t)
	hook := service.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:9/hook", Event: refserver.TemplateResponse})
	documentID, _, formID, _ := populate(t, service)
	service.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:9/forms", Event: refserver.FormResponse})
	_, err := service.SubmitForm(formID, refserver.Submission{RespondentEmail: "zoe@example.com"})
	require.NoError(t, err)
	for _, path := range []string{"", "deliveries"} {
		page := get(t, service, path)
		require.Contains(t, page, `href="/_/documents/`+documentID+`"><bdi>Offer &lt;script&gt;`, path)
		require.Contains(t, page, `href="/_/forms/`+formID+`"><bdi>Survey &lt;script&gt;`, path)
		require.Contains(t, page, `href="/_/webhooks/`+hook+`">http://127.0.0.1:9/hook<`, path)
	}
	require.Contains(t, get(t, service, "webhooks/"+hook), `href="/_/documents/`+documentID+`"`)
	for _, d := range service.Deliveries() {
		if d.WebhookID == hook {
			require.Equal(t, documentID, d.DocumentID)
			require.Contains(t, get(t, service, "deliveries/"+d.ID), `href="/_/documents/`+documentID+`"><bdi>Offer`)
		}
	}
	require.NoError(t, service.DeleteWebhook(hook))
	require.Contains(t, get(t, service, "deliveries"), `<span class="soft">deleted</span>`)
}
