package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A name cannot turn or hide what stands beside it.
func TestNamesStayInTheirPlaces(t *testing.T) {
	service := newConsole(t)
	const name, shown = "Lease \u202efdp.exe\x01 <b>", `Lease \u202efdp.exe\x01 &lt;b&gt;`
	id := service.AddDocument(refserver.Document{Name: name, Signers: []refserver.Signer{{Name: name, Email: "ann@example.com"}}})
	template := service.AddTemplate(refserver.Template{Name: name, Roles: []refserver.Role{{Title: name}}})
	form := service.AddForm(refserver.Form{Title: name, Fields: []refserver.Field{{Question: name}}})
	for path, times := range map[string]int{
		"documents": 2, "documents/" + id: 2, "templates": 2, "templates/" + template: 3, "forms": 1, "forms/" + form: 2, "messages": 1,
		"webhooks/new?url=http://localhost&event=new_signature_completed": 1,
	} {
		page := get(t, service, path)
		require.GreaterOrEqual(t, strings.Count(page, shown+"</bdi>"), times, path)
		require.NotContains(t, page, "\u202e", path)
	}
	require.Contains(t, get(t, service, "templates/"+template+"/edit"), `value="Lease `+"\u202e", "what is edited stays as it is")
	require.Contains(t, get(t, service, "documents/"+id), `<title>`+shown+" · Sandbox</title>")
	for _, ordinary := range []string{"👩\u200d👧", "نمی\u200cخواهم", "שלום"} {
		id := service.AddTemplate(refserver.Template{Name: ordinary, Roles: []refserver.Role{{Title: "Buyer"}}})
		require.Contains(t, get(t, service, "templates/"+id), "<bdi>"+ordinary+"</bdi>")
	}
}

// Long texts without a space move no column out of sight, and fill no screen.
func TestLongTextsLeaveRoom(t *testing.T) {
	service := newConsole(t)
	long := strings.Repeat("W", 1000)
	service.Fail(refserver.Fault{Status: http.StatusTeapot, Body: strings.Repeat("x", 900)})
	service.Fail(refserver.Fault{Status: http.StatusTeapot, RetryAfter: strings.Repeat("9", 8)})
	id := service.AddDocument(refserver.Document{Name: long, Signers: []refserver.Signer{{Name: long, Email: "ann@example.com"}}})
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	for _, path := range []string{"faults", "documents/" + id} {
		p.Go(service.URL + "/_/" + path)
		require.Zero(t, browsertest.Eval[int](p, "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).length"), path)
		require.Less(t, browsertest.Eval[float64](p, "document.querySelector('h1').offsetHeight"), 120.0, path)
		p.RequireAccessible()
		p.Shot("long-" + strings.Split(path, "/")[0])
	}
	require.Equal(t, long, browsertest.Eval[string](p, "document.querySelector('h1').title"), "the whole of it")
	p.Go(service.URL + "/_/documents")
	require.Less(t, browsertest.Eval[float64](p, "document.querySelector('td:last-child').offsetWidth"), 250.0)
	require.Equal(t, 1, browsertest.Eval[int](p,
		"(() => { const r = document.createRange(); r.selectNodeContents(document.querySelector('td:last-child')); return r.getClientRects().length })()"), "a time is one line")
}

// One button removes all faults.
func TestAllFaultsAreTakenBack(t *testing.T) {
	service := newConsole(t)
	service.Fail(refserver.Fault{Status: 500})
	require.NotContains(t, get(t, service, "faults"), "Take all back", "one has its own button")
	service.FailWebhooks(refserver.WebhookFault{Drop: true})
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/faults")
	p.Click(`[action$="faults/clear"] button`)
	p.WaitText("All faults were removed.")
	require.Empty(t, service.Faults())
}

// Only a ticked box deletes everything, without a script too.
func TestResetNeedsTheTick(t *testing.T) {
	service := newConsole(t)
	service.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "Why?"}}})
	post := func(values url.Values) int {
		resp, err := service.HTTPClient().PostForm(service.URL+"/_/settings/reset", values)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, http.StatusUnprocessableEntity, post(nil))
	require.Len(t, service.Forms(), 1)
	require.Equal(t, http.StatusOK, post(url.Values{"sure": {"true"}}))
	require.Empty(t, service.Forms())
}
