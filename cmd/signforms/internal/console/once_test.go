package console_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

var keys = regexp.MustCompile(`name="once" value="([^"]+)"`)

// keyOf returns the key of the first form of a page.
func keyOf(t *testing.T, service *refserver.Server, path string) string {
	t.Helper()
	key := keys.FindStringSubmatch(get(t, service, path))
	require.NotNil(t, key, path)
	return key[1]
}

// submit sends a form and returns the page that follows.
func submit(t *testing.T, service *refserver.Server, path string, entered url.Values) string {
	t.Helper()
	resp, err := service.HTTPClient().PostForm(service.URL+"/_/"+path, entered)
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(page)
}

const again = "It was done when you sent the form before, and not again."

// A form that is sent again as it is does it once; one with a new key or with other entries does it again. Every form has a key of its own.
func TestAFormThatIsSentAgainDoesItOnce(t *testing.T) {
	service := newConsole(t)
	documentID, templateID, formID, hook := populate(t, service)
	require.NoError(t, service.Settle(t.Context()))
	service.ClearFaults()
	delivery := service.Deliveries()[0].ID
	count := func() string {
		n := service.Counts()
		return fmt.Sprint(n.Documents, n.FromTemplates, n.Templates, n.Forms, n.Webhooks, len(service.Messages()), len(service.Responses(formID)), len(service.Faults()),
			service.Now().Truncate(24*60*60*1e9), len(service.Deliveries()))
	}
	for _, c := range []struct {
		page, act string
		entered   url.Values
	}{
		{"documents/new", "documents/new", url.Values{"name": {"Lease"}, "signers": {"ann@example.com"}}},
		{"templates/new", "templates/new", url.Values{"name": {"Offer"}, "roles": {"Buyer"}}},
		{"templates/" + templateID, "templates/" + templateID + "/send", url.Values{"name0": {"Ann"}, "email0": {"ann@example.com"}}},
		{"forms/new", "forms/new", url.Values{"title": {"Survey"}, "questions": {"Why?"}}},
		{"forms/" + formID, "forms/" + formID + "/send", url.Values{"receivers": {"Ann <ann@example.com>"}}},
		{"forms/" + formID, "forms/" + formID + "/submit", url.Values{"email": {"ann@example.com"}}},
		{"documents/" + documentID, "documents/" + documentID + "/act", url.Values{"act": {"remind"}}},
		{"webhooks/new?url=http://127.0.0.1:9/&event=new_signature_completed", "webhooks/new", url.Values{"url": {"http://127.0.0.1:9/"}, "event": {"new_signature_completed"}}},
		{"webhooks/" + hook, "webhooks/" + hook + "/act", url.Values{"act": {"test"}}},
		{"deliveries/" + delivery, "deliveries/" + delivery + "/resend", url.Values{}},
		{"clock", "clock", url.Values{"by": {"24h"}}},
		{"faults", "faults", url.Values{"kind": {"500"}, "times": {"1"}}},
	} {
		send := func(key string) string {
			c.entered.Set("once", key)
			if c.page != "documents/new" && c.page != "templates/new" {
				return submit(t, service, c.act, c.entered)
			}
			var form bytes.Buffer
			parts := multipart.NewWriter(&form)
			for name, values := range c.entered {
				require.NoError(t, parts.WriteField(name, values[0]))
			}
			require.NoError(t, parts.Close())
			resp, err := service.HTTPClient().Post(service.URL+"/_/"+c.act, parts.FormDataContentType(), &form)
			require.NoError(t, err)
			defer resp.Body.Close()
			page, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return string(page)
		}
		all := keys.FindAllString(get(t, service, c.page), -1)
		require.Len(t, all, strings.Count(get(t, service, c.page), `method="post"`), c.page)
		key := keyOf(t, service, c.page)
		first := send(key)
		require.NotContains(t, first, again, c.act)
		require.Contains(t, first, `class="notice good"`, c.act)
		before := count()
		require.Contains(t, send(key), again, c.act)
		require.Equal(t, before, count(), c.act)
		if c.act != "deliveries/"+delivery+"/resend" {
			require.NotContains(t, send(keyOf(t, service, c.page)), again, c.act)
			require.NotEqual(t, before, count(), c.act)
		}
	}
}

// A refused form, a changed one and one without a key are done. Of two that come at once, one is.
func TestWhatCountsAsSentBefore(t *testing.T) {
	service := newConsole(t)
	entered := func(key, title string) url.Values {
		return url.Values{"once": {key}, "title": {title}, "questions": {"Why?"}}
	}
	require.Contains(t, submit(t, service, "forms/new", entered("k", "")), "role=\"alert\"")
	require.Contains(t, submit(t, service, "forms/new", entered("k", "")), "role=\"alert\"", "refused again")
	require.NotContains(t, submit(t, service, "forms/new", entered("k", "A")), again)
	require.NotContains(t, submit(t, service, "forms/new", entered("k", "B")), again, "changed")
	require.Contains(t, submit(t, service, "forms/new", entered("k", "A")), again)
	for range 2 {
		submit(t, service, "forms/new", entered("", "C"))
	}
	require.Len(t, service.Forms(), 4)
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			resp, err := service.HTTPClient().PostForm(service.URL+"/_/forms/new", entered("same", "D"))
			if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("%+v, %v", resp, err)
			}
		})
	}
	clients.Wait()
	require.Len(t, service.Forms(), 5)
	for i := range 999 { // "same" is the newest of three
		submit(t, service, "clock", url.Values{"once": {fmt.Sprint(i)}, "by": {"1ms"}})
	}
	require.Contains(t, submit(t, service, "forms/new", entered("same", "D")), again)
	submit(t, service, "clock", url.Values{"once": {"last"}, "by": {"1ms"}})
	require.NotContains(t, submit(t, service, "forms/new", entered("same", "D")), again, "1,000 are remembered")
}

// A form with another file is another form, even if the file has the same name and size.
func TestAnotherFileIsAnotherForm(t *testing.T) {
	service := refserver.NewServer(t, nil)
	pages := console.New(service, console.Options{
		PublicURL: service.URL, Logger: slog.New(slog.DiscardHandler),
		Inspect: func(context.Context, []byte) ([]pdf.Page, error) { return make([]pdf.Page, 1), nil },
	})
	for _, c := range []struct {
		content   string
		documents int
	}{{"%PDF a", 1}, {"%PDF b", 2}, {"%PDF a", 2}} {
		var form bytes.Buffer
		parts := multipart.NewWriter(&form)
		for name, value := range map[string]string{"once": "k", "name": "Lease", "signers": "ann@example.com"} {
			require.NoError(t, parts.WriteField(name, value))
		}
		file, err := parts.CreateFormFile("pdf", "lease.pdf")
		require.NoError(t, err)
		_, err = file.Write([]byte(c.content))
		require.NoError(t, err)
		require.NoError(t, parts.Close())
		r := httptest.NewRequest(http.MethodPost, "/_/documents/new", &form)
		r.Header.Set("Content-Type", parts.FormDataContentType())
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		require.Equal(t, http.StatusSeeOther, w.Code, "%s", w.Body)
		require.Equal(t, c.documents, service.Counts().Documents)
	}
}

// What was asked for by a client that has hung up is done, so that asking again does not do it twice.
func TestAClientThatHangsUp(t *testing.T) {
	service := refserver.NewServer(t, nil)
	pages := console.New(service, console.Options{PublicURL: service.URL, Logger: slog.New(slog.DiscardHandler)})
	id := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for _, ctx := range []context.Context{gone, t.Context()} {
		body := url.Values{"once": {"k"}, "name0": {"Ann"}, "email0": {"ann@example.com"}}.Encode()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/_/templates/"+id+"/send", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		require.Equal(t, http.StatusSeeOther, w.Code, "%s", w.Body)
		require.Equal(t, 1, service.Counts().FromTemplates)
	}
}

// After a lost answer the form can be sent again: with a script from the page that kept it.
func TestALostAnswerIsAskedForAgain(t *testing.T) {
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/forms/new")
	p.Set("#title", "Survey")
	p.Set("#questions", "Why?")
	browsertest.Eval[bool](p, `(() => { const own = fetch; window.fetch = async (...all) => { await own(...all); window.fetch = own; throw new TypeError("lost") }; return true })()`)
	press(t, p, "Add the form")
	p.WaitText("If you change nothing, it is done only once")
	press(t, p, "Add the form")
	p.WaitText(again)
	require.Len(t, service.Forms(), 1)
	p.RequireAccessible()
}
