package console_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A form is sent to several people, and what was entered stays when it is refused.
func TestSendingAForm(t *testing.T) {
	service := newConsole(t)
	_, _, formID, _ := populate(t, service)
	service.ClearFaults() // one of them is for sends
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(service.URL + "/_/forms/" + formID)
	p.Type("#receivers", "Ann Buyer <ann@example.com>\nBob")
	p.Click("[action$='/send'] button")
	p.WaitText(`"Bob" is not a receiver`)
	p.WaitError("422")
	require.Equal(t, "Ann Buyer <ann@example.com>\nBob", browsertest.Eval[string](p, "document.querySelector('#receivers').value"))
	p.Set("#receivers", "Ann Buyer <ann@example.com>\nBob Low <bob@example.com>")
	p.Shot("form-refused")
	p.Click("[action$='/send'] button")
	p.WaitText("It was sent.")
	p.RequireAccessible()
	sent := map[string]bool{}
	for _, m := range service.Messages() {
		if m.DocumentID == formID {
			sent[m.To] = true
		}
	}
	require.Equal(t, map[string]bool{"ann@example.com": true, "bob@example.com": true}, sent)
}

// A person without an address is refused, and not left out. With one role, both are required.
func TestPersonOfARoleIsWhole(t *testing.T) {
	service := newConsole(t)
	roles := []refserver.Role{{Title: "Buyer"}, {Title: "Seller"}}
	one := service.AddTemplate(refserver.Template{Name: "Offer", Roles: roles[:1]})
	two := service.AddTemplate(refserver.Template{Name: "Lease", Roles: roles})
	status, page := answerOf(t)(service.HTTPClient().PostForm(service.URL+"/_/templates/"+two+"/send", url.Values{"name0": {"Ann"}, "email0": {"ann@example.com"}, "name1": {"Sam"}}))
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "At least one role needs a person")
	require.NotContains(t, page, "required value")
	require.Empty(t, service.Messages())
	_, page = answerOf(t)(service.HTTPClient().Get(service.URL + "/_/templates/" + one))
	require.Regexp(t, `name="name0" required.*name="email0" required`, page)
}

// answerOf returns the status and the text of an answer.
func answerOf(t *testing.T) func(*http.Response, error) (status int, page string) {
	return func(resp *http.Response, err error) (int, string) {
		t.Helper()
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
}

// A template is refused with a field on a page that its PDF does not have, also the one that it keeps; without a PDF it has one page.
func TestFieldsOnPagesThatAreNotThere(t *testing.T) {
	service := newConsole(t)
	data, err := os.ReadFile(pdfOf(t, 3))
	require.NoError(t, err)
	content, err := pdf.Inspect(data)
	require.NoError(t, err)
	kept := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, PDF: data})
	added, _ := service.FindTemplate(kept)
	save := func(path string, page int) (status int, text string) {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range map[string]string{
			"name": "Offer", "roles": "Buyer", "seen": added.UpdatedAt.Format(time.RFC3339Nano),
			"fields": fmt.Sprintf(`[{"name":"City","role":"Buyer","kind":"text","page":%d,"width":0.1,"height":0.1}]`, page),
		} {
			require.NoError(t, form.WriteField(name, value))
		}
		require.NoError(t, form.Close())
		return answerOf(t)(service.HTTPClient().Post(service.URL+"/_/templates/"+path, form.FormDataContentType(), &body))
	}
	for path, last := range map[string]int{"new": 1, kept + "/edit": len(content.Pages)} {
		status, text := save(path, last+1)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Contains(t, text, fmt.Sprintf("The field &#34;City&#34; is on page %d, and the last page is %d: choose another page for it.", last+1, last))
		status, _ = save(path, last)
		require.Equal(t, http.StatusOK, status)
	}
}

// The variables of a template that are filled in go to the API, and stay with the rest when they are refused.
func TestVariablesOfATemplateAreFilled(t *testing.T) {
	service := newConsole(t)
	id := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, Variables: []string{"[fee]", "[term]"}})
	resp, err := service.HTTPClient().PostForm(service.URL+"/_/templates/"+id+"/send", url.Values{"name0": {"Ann"}, "email0": {"ann"}, "variable0": {"10 €"}})
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Regexp(t, `(?s)name="name0"[^>]*value="Ann".*name="email0"[^>]*value="ann".*name="variable0"[^>]*value="10 €"`, string(page))

	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/templates/" + id)
	p.Type("[name=name0]", "Ann")
	p.Type("[name=email0]", "ann@example.com")
	p.Type("#variable1", "two years")
	p.Shot("variables")
	p.RequireAccessible()
	p.Click("form button.main")
	p.WaitText("It was sent.")
	requests := service.Requests()
	last := requests[len(requests)-1]
	require.Equal(t, refserver.Send, last.Operation)
	require.Contains(t, string(last.Body), `"customVariables":[{"varName":"[term]","varValue":"two years"}]`)
}

// A refused reminder says what the limit is, and what a user of the console can do.
func TestTheConsoleNamesTheLimitOfReminders(t *testing.T) {
	service := newConsole(t)
	id := service.AddDocument(oneSigner("Lease"))
	for range 5 {
		require.Contains(t, submit(t, service, "documents/"+id+"/act", url.Values{"act": {"remind"}}), "The pending signers were reminded.")
	}
	page := submit(t, service, "documents/"+id+"/act", url.Values{"act": {"remind"}})
	require.Regexp(t, `role="alert">No more reminders may be sent now: 5 within 15 minutes are the limit of an API key. Wait 1[45]m\d*s?, or advance the clock.<`, page)
	require.NotContains(t, page, "Options")
}
