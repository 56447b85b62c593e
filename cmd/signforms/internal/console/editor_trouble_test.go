package console_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// The pages of a template that do not arrive are asked for again; nothing is said against the file.
func TestPagesThatDoNotArrive(t *testing.T) {
	service := newConsole(t)
	id := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Before(`{ const own = fetch; window.answer = () => Promise.reject(new TypeError("lost")); window.fetch = (...all) => answer?.() ?? own(...all); }`)
	p.Go(service.URL + "/_/templates/" + id + "/edit")
	for _, answer := range []string{"Promise.resolve(new Response('', { status: 503 }))", "Promise.resolve(Object.defineProperty(new Response(''), 'redirected', { value: true }))"} {
		p.WaitText("The PDF did not arrive.")
		p.RequireAccessible()
		browsertest.Eval[bool](p, "(window.answer = () => "+answer+", true)")
		p.Click("#loading button")
	}
	p.WaitText("The PDF did not arrive.")
	browsertest.Eval[bool](p, "(window.answer = null, true)")
	p.Click("#loading button")
	p.Wait("document.querySelector('#template-form').dataset.shown === '1'")
	require.False(t, browsertest.Eval[bool](p, "document.querySelector('#loading').checkVisibility()"))
}

// A save that fails says why, and one that is not tried too. Leaving the page with something unsaved is asked about.
func TestSavesThatFailSayWhy(t *testing.T) {
	service := newConsole(t)
	p := newTemplate(t, service, browsertest.Screen{Width: 1280}, cropped)
	asks := func() bool {
		return browsertest.Eval[bool](p, "!dispatchEvent(new Event('beforeunload', { cancelable: true }))")
	}
	p.Set("#name", "")
	save(p, "Name: Please fill out this field.")
	require.Equal(t, "name", browsertest.Eval[string](p, "document.activeElement.id"))
	p.Set("#name", "Offer")
	p.Click("[data-kind=text]")
	answered := func(status int, page string) string {
		return fmt.Sprintf("Promise.resolve(Object.defineProperty(new Response(%q, { status: %d }), 'url', { value: location.href }))", page, status)
	}
	browsertest.Eval[bool](p, `(() => { const own = fetch; window.fetch = (...all) => window.answer?.(...all) ?? own(...all); return true })()`)
	for _, c := range []struct{ answer, says string }{
		{answered(401, ""), "You are not logged in any more. Log in in another tab, then try here again: everything is still here."},
		{"Promise.resolve(Object.defineProperty(new Response('<form>'), 'url', { value: location.origin + '/_/login' }))", "You are not logged in any more."},
		{answered(403, ""), "This was refused (403)."},
		{answered(413, ""), "What was sent is too large for what stands before the sandbox"},
		{answered(422, "<p role=alert>The name is odd.</p>"), "The name is odd."},
		{answered(502, ""), "The answer, 502, does not say whether it was done."},
		{"Promise.reject(new TypeError('lost'))", "There was no answer, so whether it was done is not known."},
	} {
		browsertest.Eval[bool](p, "(window.answer = () => "+c.answer+", true)")
		save(p, c.says)
	}
	browsertest.Eval[bool](p, `(() => {
		const own = AbortSignal.timeout;
		AbortSignal.timeout = () => (window.signal = new AbortController()).signal;
		window.answer = (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
		return true })()`)
	save(p, "Saving …")
	browsertest.Eval[bool](p, "(signal.abort(new DOMException('', 'TimeoutError')), true)")
	p.WaitText("There was no answer in two minutes, so whether it was done is not known.")
	p.RequireAccessible()
	require.True(t, asks())
	browsertest.Eval[bool](p, "(window.answer = null, true)")
	save(p, "It was added.")
	require.False(t, asks())
	require.Len(t, service.Templates()[0].Fields, 1)
}
