package signpages_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// together sends a document that two people may sign in any order.
func together(t *testing.T, service *servicetest.Server) (id string, links map[string]string) {
	t.Helper()
	price := refserver.TemplateField{Name: "Price", Role: "Seller", Kind: refserver.TextField, Required: true, Page: 1, X: 0.2, Y: 0.2, Width: 0.3, Height: 0.04}
	city := price
	city.Name, city.Role, city.Y = "City", "Buyer", 0.4
	templateID := service.AddTemplate(refserver.Template{
		Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}, {Title: "Seller"}}, Fields: []refserver.TemplateField{price, city},
	})
	sent, err := service.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: []signforms.Receiver{
		{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}, {Name: "Sam", Email: "sam@example.com", RoleTitle: "Seller"},
	}})
	require.NoError(t, err)
	return sent.DocumentID, map[string]string{sent.Signers[0].Email: string(sent.Signers[0].SentURL), sent.Signers[1].Email: string(sent.Signers[1].SentURL)}
}

var shownVersion = regexp.MustCompile(`name="version" value="([^"]+)"`)

var million = refserver.FieldValue{Name: "Price", Value: "1,000,000"}

// untilNextLook is how many milliseconds a page waits until it looks again whether the document has changed.
const untilNextLook = 3000

// A page that is open shows what others sign meanwhile, and keeps what was entered on it.
func TestOthersSignMeanwhile(t *testing.T) {
	service := newService(t)
	id, links := together(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Hold(untilNextLook)
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.Type("[data-name=City] input", "Rome")
	p.Click("[name=agree]")
	require.NoError(t, service.Signer(id, "sam@example.com").Sign(million))
	p.Release()
	p.WaitText("Somebody has signed meanwhile. The document shows what was entered.")
	p.WaitText("1,000,000")
	require.Equal(t, "Rome", browsertest.Eval[string](p, "document.querySelector('[data-name=City] input').value"))
	p.RequireAccessible()
	p.Click(sign)
	p.WaitText("Everybody has signed.")
}

// Who signs before the page has learned it is shown it first.
func TestOlderStateIsNotSigned(t *testing.T) {
	service := newService(t)
	id, links := together(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Hold(untilNextLook)
	p.AllowErrors("Failed to load resource")
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.Type("[data-name=City] input", "Rome")
	p.Click("[name=agree]")
	require.NoError(t, service.Signer(id, "sam@example.com").Sign(million))
	p.Click(sign)
	p.WaitText("Somebody has signed meanwhile: look at what the document says now, then sign.")
	p.WaitText("1,000,000")
	require.True(t, find(t, service, id).Signers[0].SignedAt.IsZero())
	p.Click(sign)
	p.WaitText("Everybody has signed.")
}

func TestOlderStateIsNotSignedWithoutJavaScript(t *testing.T) {
	service := newService(t)
	id, links := together(t, service)
	require.NoError(t, service.Signer(id, "ann@example.com").View())
	read := func(resp *http.Response, err error) (status int, page, version string) {
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		if m := shownVersion.FindSubmatch(text); m != nil {
			version = string(m[1])
		}
		return resp.StatusCode, string(text), version
	}
	client := service.HTTPClient()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	post := func(version string) (int, string, string) {
		return read(client.PostForm(links["ann@example.com"]+"/sign", url.Values{"agree": {"true"}, "f1": {"Rome"}, "version": {version}}))
	}
	_, _, before := read(client.Get(links["ann@example.com"]))
	require.NotEmpty(t, before)
	require.NoError(t, service.Signer(id, "sam@example.com").Sign(million))
	for _, old := range []string{before, ""} {
		status, page, now := post(old)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, page, "Somebody has signed meanwhile")
		require.Contains(t, page, "1,000,000")
		require.Contains(t, page, `value="Rome"`)
		require.NotEqual(t, before, now)
	}
	_, _, now := post(before)
	status, page, _ := post(now)
	require.Equal(t, http.StatusSeeOther, status, page)
	require.False(t, find(t, service, id).Signers[0].SignedAt.IsZero())
}

// An open page says that the document has ended, and keeps what was entered.
func TestADocumentEndsMeanwhile(t *testing.T) {
	service := newService(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Hold(untilNextLook)
	for says, end := range map[string]func(id string) error{
		"This document is void, so it can no longer be signed.":        service.Void,
		"A signer declined, so this document can no longer be signed.": func(id string) error { return service.Signer(id, "sam@example.com").Decline("no") },
		"This document is deleted, so it can no longer be signed.":     service.Delete,
	} {
		id, links := together(t, service)
		p.Go(links["ann@example.com"])
		p.Wait("document.querySelector('main').dataset.shown")
		p.Type("[data-name=City] input", "Rome")
		require.NoError(t, end(id))
		p.Release()
		p.WaitText(says + " What you entered is still here")
		require.Equal(t, "Rome", browsertest.Eval[string](p, "document.querySelector('[data-name=City] input').value"))
		require.True(t, browsertest.Eval[bool](p, "document.querySelector('#sign-form > button').disabled"))
		require.NotContains(t, p.Text(), "Read the document, fill in your fields and sign.")
		p.RequireAccessible()
		p.Shot(id)
	}
}

// Who has signed in another tab is told so in this one.
func TestSignedInAnotherTab(t *testing.T) {
	service := newService(t)
	id, links := together(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Hold(untilNextLook)
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	require.NoError(t, service.Signer(id, "ann@example.com").Sign(refserver.FieldValue{Name: "City", Value: "Rome"}))
	p.Release()
	p.WaitText("You have signed. It is still the turn of Sam.")
}

// The page waits for the answer to its own signing, though it can see before that the document is signed.
func TestAnswerThatIsLate(t *testing.T) {
	service := newService(t)
	_, links := together(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Hold(untilNextLook)
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.Type("[data-name=City] input", "Rome")
	p.Click("[name=agree]")
	browsertest.Eval[bool](p, `(() => {
		const ask = fetch;
		window.fetch = async (address, options) => {
			const answer = await ask(address, options);
			if (options.method === "POST") await new Promise((arrive) => (window.arrive = arrive));
			return answer;
		};
		return true;
	})()`)
	p.Click(sign)
	p.Wait("window.arrive")
	p.Release()
	browsertest.Eval[bool](p, "arrive() ?? true")
	p.WaitText("You have signed. It is still the turn of Sam.")
	require.Equal(t, "signed", browsertest.Eval[string](p, "document.querySelector('main').dataset.events"))
}

// Whoever signs too late is refused, and what was entered stays.
func TestRefusedPageStays(t *testing.T) {
	for says, change := range map[string]func(service *servicetest.Server, id string) error{
		"This document is void": func(service *servicetest.Server, id string) error { return service.Void(id) },
		"You have already signed in another window, with other entries.": func(service *servicetest.Server, id string) error {
			return service.Signer(id, "ann@example.com").Sign(refserver.FieldValue{Name: "City", Value: "Paris"})
		},
	} {
		service := newService(t)
		id, links := together(t, service)
		p := browsertest.Open(t, browsertest.Screen{Width: 1280})
		p.Hold(untilNextLook)
		p.AllowErrors("Failed to load resource")
		p.Go(links["ann@example.com"])
		p.Wait("document.querySelector('main').dataset.shown")
		p.Type("[data-name=City] input", "Rome")
		p.Click("[name=agree]")
		require.NoError(t, change(service, id))
		p.Click(sign)
		p.WaitText(says)
		browsertest.Eval[bool](p, "(navigation.onnavigate = () => (window.left = true), true)")
		p.Release()
		require.False(t, browsertest.Eval[bool](p, "'left' in window"), says)
		require.Equal(t, "Rome", browsertest.Eval[string](p, "document.querySelector('[data-name=City] input')?.value ?? ''"), says)
		require.True(t, browsertest.Eval[bool](p, "document.querySelector('#sign-form > button').disabled"), says)
	}
}
