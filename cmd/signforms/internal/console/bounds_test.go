package console_test

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Inputs have a maxlength. A longer text that is posted anyway is answered with a message.
func TestTextsThatAreTooLongAreRefused(t *testing.T) {
	service := newConsole(t)
	document := service.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	form := service.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{
		{Question: "Name?"}, {Question: "Why?", Kind: refserver.LongTextQuestion},
	}})
	template := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	exchange := func(resp *http.Response, err error) (int, string) {
		t.Helper()
		require.NoError(t, err)
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(page)
	}
	for _, c := range []struct {
		page, action, input string
		most                int
		others              url.Values
	}{
		{"webhooks/new", "webhooks/new", "url", refserver.MaxURL, url.Values{"event": {"new_form_response"}}},
		{"documents/" + document, "documents/" + document + "/act", "reason", refserver.MaxReason, url.Values{"act": {"decline"}, "signer": {"ann@example.com"}}},
		{"documents/new", "documents/new", "name", refserver.MaxName, url.Values{"signers": {"ann@example.com"}}},
		{"forms/" + form, "forms/" + form + "/submit", "q0", refserver.MaxText, nil},
		{"forms/" + form, "forms/" + form + "/submit", "q1", refserver.MaxText, nil},
		{"forms/" + form, "forms/" + form + "/submit", "email", refserver.MaxName, nil},
		{"forms/new", "forms/new", "title", refserver.MaxName, url.Values{"questions": {"Why?"}}},
		{"templates/new", "templates/new", "name", refserver.MaxName, url.Values{"roles": {"Buyer"}}},
		{"templates/" + template, "templates/" + template + "/send", "name0", refserver.MaxName, url.Values{"email0": {"ann@example.com"}}},
	} {
		_, page := exchange(service.HTTPClient().Get(service.URL + "/_/" + c.page))
		input := regexp.MustCompile(`<(input|textarea)[^>]* name="` + c.input + `"[^>]*>`).FindString(page)
		require.Contains(t, input, fmt.Sprintf(`maxlength="%d"`, c.most), c.page+" "+c.input)
		values := url.Values{c.input: {strings.Repeat("x", c.most+1)}}
		for name, all := range c.others {
			values[name] = all
		}
		contentType, body := "application/x-www-form-urlencoded", values.Encode()
		if c.action == "documents/new" || c.action == "templates/new" { // which take files
			contentType, body = multipartOf(t, values)
		}
		status, page := exchange(service.HTTPClient().Post(service.URL+"/_/"+c.action, contentType, strings.NewReader(body)))
		require.Equal(t, http.StatusUnprocessableEntity, status, c.action)
		require.Contains(t, page, fmt.Sprintf("has %d characters, and may have %d at most: shorten it", c.most+1, c.most), c.action)
	}
	_, page := exchange(service.HTTPClient().Get(service.URL + "/_/templates/new"))
	require.Contains(t, page, `<input id="field-name" maxlength="1000">`)
}

func multipartOf(t *testing.T, values url.Values) (contentType, body string) {
	t.Helper()
	var out strings.Builder
	form := multipart.NewWriter(&out)
	for name := range values {
		require.NoError(t, form.WriteField(name, values.Get(name)))
	}
	require.NoError(t, form.Close())
	return form.FormDataContentType(), out.String()
}

// The page of faults shows the beginning of a long body.
func TestLongAnswersOfFaultsAreCut(t *testing.T) {
	service := newConsole(t)
	service.Fail(refserver.Fault{Body: strings.Repeat("x", 1<<20)})
	resp, err := service.HTTPClient().Get(service.URL + "/_/faults")
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Less(t, len(page), 20_000)
	require.Contains(t, string(page), "&#34;body&#34;:&#34;"+strings.Repeat("x", 200))
}
