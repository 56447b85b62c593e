package console_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// submit sends a form and returns the page that follows.
func submit(t *testing.T, service *servicetest.Server, path string, entered url.Values) string {
	t.Helper()
	resp, err := service.HTTPClient().PostForm(service.URL+"/_/"+path, entered)
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(page)
}

// What was asked for by a client that has hung up is done. A form that is sent again is done again.
func TestAClientThatHangsUp(t *testing.T) {
	service := servicetest.Start(t, nil)
	pages := console.New(service.Server, console.Options{PublicURL: service.URL, Logger: slog.New(slog.DiscardHandler)})
	id := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for sent, ctx := range []context.Context{gone, t.Context()} {
		body := url.Values{"name0": {"Ann"}, "email0": {"ann@example.com"}}.Encode()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/_/templates/"+id+"/send", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		require.Equal(t, http.StatusSeeOther, w.Code, "%s", w.Body)
		require.Equal(t, sent+1, service.Counts().FromTemplates)
	}
}

// A button is disabled at the first submit: a double click sends the form once. After a lost answer the page says what it does not know.
func TestTheButtonIsDisabledWhileAFormIsSent(t *testing.T) {
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/forms/new")
	p.Set("#title", "Survey")
	p.Set("#questions", "Why?")
	browsertest.Eval[bool](p, `(() => {
		const own = fetch;
		window.fetch = async (...all) => { await own(...all); window.fetch = own; throw new TypeError("lost") };
		const button = document.querySelector("button.main");
		button.click();
		button.click();
		return true;
	})()`)
	p.WaitText("Look whether it was done before you try again")
	require.Len(t, service.Forms(), 1)
	p.RequireAccessible()
}

// A page that comes back from the browser's cache is as it was left, and its button can be used again. The address differs only after
// its "#", so that the page stays.
func TestTheButtonCanBeUsedAfterBack(t *testing.T) {
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(newConsole(t).URL + "/_/forms/new?done=form")
	p.Set("#title", "Survey")
	p.Set("#questions", "Why?")
	browsertest.Eval[bool](p, "window.fetch = async () => ({ ok: true, url: location.href + '#left' }); true")
	p.Click("button.main")
	p.Wait("location.hash === '#left' && document.querySelector('button.main').disabled")
	browsertest.Eval[bool](p, "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
	require.False(t, browsertest.Eval[bool](p, "document.querySelector('button.main').disabled"))
}
