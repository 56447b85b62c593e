package console_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// press clicks where the button or summary is that shows this name, as without scripts it can only be clicked.
func press(t *testing.T, p *browsertest.Page, name string) {
	t.Helper()
	at := browsertest.Eval[[]float64](p, fmt.Sprintf(`(() => {
		const e = [...document.querySelectorAll("main button, main summary")].find((e) => e.checkVisibility() && e.textContent.trim() === %q);
		e?.scrollIntoView({ block: "center" });
		const box = e?.getBoundingClientRect();
		return box ? [box.left + box.width / 2, box.top + box.height / 2] : [] })()`, name))
	require.Len(t, at, 2, "nothing is called %q", name)
	p.ClickAt(at[0], at[1])
}

// Each form keeps the page and what was entered when there is no answer, when nobody is logged in any more, and when it is refused.
func TestFormsKeepWhatWasEntered(t *testing.T) {
	service := newConsole(t)
	documentID, templateID, formID, webhookID := populate(t, service)
	require.NoError(t, service.DisableWebhook(webhookID)) // so that no attempt refreshes the page meanwhile
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.AllowErrors("status of 422")
	p.AllowErrors("favicon")
	for _, c := range []struct {
		path, label, entered, open, button, refused string
	}{
		{"documents/new", "Signers, one a line", "nobody", "", "Add and send", `"nobody" is not a signer`},
		{"documents/new", "Signers, one a line", "Ann <ann@example.com", "", "Add and send", `is not a signer`},
		{"documents/" + documentID, "Reason", strings.Repeat("r", 20), "Decline", "Yes, decline", ""},
		{"templates/" + templateID, "E-mail address", "kept@example.com", "", "Send", ""},
		{"forms/new", "Questions, one a line", "Why? = a", "", "Add the form", ""},
		{"forms/" + formID, "Receivers, one a line", "nobody", "", "Send", `"nobody" is not a receiver`},
		{"forms/" + formID, "Why?", "because", "", "Submit", ""},
		{"webhooks/new", "1. URL of your receiver", "http://kept.example/", "", "Choose records", ""},
		{"clock", "Move it forward by", "banana", "", "Move", "Write how far"},
		{"faults", "How often", "77", "", "Set", ""},
	} {
		p.Go(service.URL + "/_/" + c.path)
		browsertest.Eval[bool](p, `(() => { const own = fetch; window.fetch = (...all) => window.answer?.() ?? own(...all);
			for (const e of document.querySelectorAll("main [required]")) e.type === "radio" ? e.checked = true : e.value ||= e.type === "email" ? "a@example.com" : "x";
			return true })()`)
		if c.open != "" {
			press(t, p, c.open)
		}
		input := fmt.Sprintf(`[...document.querySelectorAll("main label")].find((e) => e.textContent.trim().startsWith(%q)).control`, c.label)
		browsertest.Eval[bool](p, fmt.Sprintf("(%s.value = %q, true)", input, c.entered))
		keeps := func(says string) {
			t.Helper()
			press(t, p, c.button)
			p.WaitText(says)
			require.Equal(t, "alert", browsertest.Eval[string](p, `document.querySelector(".notice").role`), c.path)
			require.Equal(t, c.entered, browsertest.Eval[string](p, input+".value"), c.path)
		}
		for _, failure := range []struct{ answer, says string }{
			{`Promise.reject(new TypeError("offline"))`, "There was no answer, so whether it was done is not known."},
			{`Promise.resolve(Object.defineProperties(new Response("<form>"), { url: { value: location.origin + "/_/login" }, redirected: { value: true } }))`, "You are not logged in any more."},
			{`Promise.resolve(Object.defineProperty(new Response("<p role=alert>There is no such workspace.", { status: 404 }), "url", { value: location.href }))`, "There is no such workspace."},
		} {
			browsertest.Eval[bool](p, "(window.answer = () => "+failure.answer+", true)")
			keeps(failure.says)
		}
		require.Equal(t, 1, browsertest.Eval[int](p, `document.querySelectorAll("[role=alert]").length`))
		if c.refused != "" {
			browsertest.Eval[bool](p, "(window.answer = null, true)")
			keeps(c.refused)
		}
	}
	p.RequireAccessible()
}

// Without a script the page that refuses a form shows what was entered.
func TestRefusedFormsShowWhatWasEntered(t *testing.T) {
	service := newConsole(t)
	documentID, templateID, formID, hook := populate(t, service)
	document, _ := service.FindDocument(documentID)
	signer := document.Signers[0].ID
	for path, c := range map[string]struct {
		entered url.Values
		shows   []string
	}{
		"clock":         {url.Values{"by": {"banana"}}, []string{`value="banana"`}},
		"documents/new": {url.Values{"name": {"N1"}, "signers": {"S1"}, "order": {"true"}}, []string{`value="N1"`, ">S1<", `value="true" checked`}},
		"forms/new":     {url.Values{"title": {strings.Repeat("t", 1001)}, "questions": {"Q1"}}, []string{strings.Repeat("t", 1001), ">Q1<"}},
		"forms/" + formID + "/submit": {url.Values{"email": {strings.Repeat("e", 1001)}, "q0": {"why"}, "q1": {"green"}, "q2": {"2026-02-03"}, "q3": {"more"}, "q4": {"true"}},
			[]string{strings.Repeat("e", 1001), `value="why"`, "selected>green", `value="2026-02-03"`, ">more<", `value="true" checked`}},
		"forms/" + formID + "/send":         {url.Values{"receivers": {"R1"}}, []string{">R1<"}},
		"templates/" + templateID + "/send": {url.Values{"name0": {"N2"}, "email0": {"no address"}}, []string{`value="N2"`, `value="no address"`}},
		"documents/" + documentID + "/act":  {url.Values{"act": {"decline"}, "signer": {signer}, "reason": {strings.Repeat("r", 1001)}}, []string{strings.Repeat("r", 1001)}},
		"faults":                            {url.Values{"operation": {"send"}, "kind": {"500"}, "times": {"-5"}}, []string{`<option selected>send<`, `value="500" selected`, `id="times" name="times" value="-5"`, `id="wtimes" name="times" value="1"`}},
		"faults#":                           {url.Values{"webhook": {hook}, "kind": {"drop"}, "times": {"-6"}}, []string{`value="` + hook + `" selected`, `value="drop" selected`, `id="wtimes" name="times" value="-6"`, `id="times" name="times" value="1"`}},
	} {
		resp, err := http.PostForm(service.URL+"/_/"+path, c.entered)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		page := string(body)
		require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode, "%s: %s", path, page)
		for _, shown := range c.shows {
			require.Contains(t, page, shown, path)
		}
	}
}

// The address of an act leads to its page: there a browser is when the act was refused, and there a login leads.
func TestTheAddressOfAnActLeadsToItsPage(t *testing.T) {
	service := newConsole(t)
	documentID, _, formID, hook := populate(t, service)
	for _, c := range []struct{ act, page string }{
		{"documents/" + documentID + "/act", "documents/" + documentID}, {"forms/" + formID + "/send", "forms/" + formID},
		{"webhooks/" + hook + "/act", "webhooks/" + hook}, {"faults/remove", "faults"}, {"settings/reset", "settings"},
	} {
		resp, err := http.Get(service.URL + "/_/" + c.act)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Equal(t, "/_/"+c.page, resp.Request.URL.Path)
	}
	require.NotEmpty(t, service.Webhooks(), "nothing was reset")
}

// What cannot be undone is asked about first, with and without a script.
func TestWhatCannotBeUndoneIsAskedAbout(t *testing.T) {
	for _, screen := range []browsertest.Screen{{Width: 1280}, {Width: 360, NoScript: true, Dark: true}} {
		service := newConsole(t)
		hook := service.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:9/", Event: refserver.SignatureCompleted})
		p := browsertest.Open(t, screen)
		for _, c := range []struct {
			first, then string
		}{{"Void", "Yes, void"}, {"Expire", "Yes, expire"}, {"Delete", "Yes, delete"}, {"Decline", "Yes, decline"}} {
			id := service.AddDocument(oneSigner("Lease"))
			before, _ := service.FindDocument(id)
			p.Go(service.URL + "/_/documents/" + id)
			press(t, p, c.first)
			if !screen.NoScript {
				p.RequireAccessible()
			}
			p.Shot("asked-" + c.first)
			now, _ := service.FindDocument(id)
			require.Equal(t, before.Status, now.Status, c.first)
			press(t, p, c.then)
			p.Wait(`document.querySelector(".notice.good")`)
			now, _ = service.FindDocument(id)
			require.NotEqual(t, before.Status, now.Status, c.first)
		}
		secret := service.Webhooks()[0].Secret
		p.Go(service.URL + "/_/webhooks/" + hook)
		press(t, p, "Rotate the secret")
		require.Equal(t, secret, service.Webhooks()[0].Secret)
		press(t, p, "Yes, rotate the secret")
		p.WaitText("The webhook got a new secret.")
		require.NotEqual(t, secret, service.Webhooks()[0].Secret)
		press(t, p, "Delete")
		require.Len(t, service.Webhooks(), 1)
		press(t, p, "Yes, delete")
		p.WaitText("It was deleted.")
		require.Empty(t, service.Webhooks())
	}
}
