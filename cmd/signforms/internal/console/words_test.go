package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A list that shows none of its records does not say that there are none at all.
func TestEmptyListsSayWhetherAFilterEmptiedThem(t *testing.T) {
	service := newConsole(t)
	const nothing, noDocuments, noRequests = "Nothing was delivered yet", "No documents here. Send a", "Nobody has called the API yet"
	for path, none := range map[string]string{"": nothing, "deliveries": nothing, "documents": noDocuments, "requests": noRequests} {
		require.Contains(t, get(t, service, path), none, path)
	}
	populate(t, service)
	quiet := service.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:9/quiet", Event: refserver.FormResponse})
	for _, d := range service.Deliveries() {
		if d.Status == refserver.DeliveryPending {
			service.DeleteWebhook(d.WebhookID)
		}
	}
	for path, want := range map[string]string{
		"clock": "No delivery is pending.", "deliveries?status=dead": "No delivery has this status.", "webhooks/" + quiet: "Nothing was delivered to this webhook yet.",
		"documents?query=nobody": "No document here matches.", "documents?status=EXPIRED": "No document here matches.", "documents?offset=500": "No document here matches.",
		"requests?offset=500": "The list ends before this page.",
	} {
		page := get(t, service, path)
		require.Contains(t, page, want, path)
		for _, none := range []string{nothing, noDocuments, noRequests} {
			require.NotContains(t, page, none, path)
		}
	}
}

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

// Names of events break after underscores only.
func TestEventNamesBreakAtUnderscores(t *testing.T) {
	service := newConsole(t)
	populate(t, service)
	const want = "new_<wbr>template_<wbr>response_<wbr>individual_<wbr>viewed"
	require.Contains(t, get(t, service, "deliveries"), want)
	require.Contains(t, get(t, service, "deliveries/"+service.Deliveries()[0].ID), "new_<wbr>template_<wbr>response")
	require.Contains(t, get(t, service, "webhooks"), "new_<wbr>template_<wbr>response")
}

// Titles tell tabs apart: by workspace, and requests by what they were.
func TestTitlesTellTabsApart(t *testing.T) {
	service := newConsole(t)
	populate(t, service)
	first := service.Requests()[0]
	page := get(t, service, fmt.Sprintf("requests/%d", first.ID))
	require.Contains(t, page, "<title>"+first.Method+" "+first.Path+" · Sandbox</title>")
	refused := get(t, service, fmt.Sprintf("requests/%d", service.Requests()[1].ID))
	require.Contains(t, refused, "The record does not exist.")
	require.NotContains(t, refused, "<ul></ul>", "nothing was missing")

	all := func() []console.Workspace {
		return []console.Workspace{{Name: "default", Base: console.Prefix}, {Name: "alice", Base: "/w/alice/_/"}}
	}
	for base, want := range map[string]string{console.Prefix: "Documents · Sandbox", "/w/alice/_/": "Documents · alice · Sandbox"} {
		pages := console.New(service, console.Options{Base: base, Workspaces: all})
		require.Contains(t, served(t, pages, "documents"), "<title>"+want+"</title>")
	}
}

func served(t *testing.T, pages http.Handler, path string) string {
	t.Helper()
	out := httptest.NewRecorder()
	pages.ServeHTTP(out, httptest.NewRequest(http.MethodGet, console.Prefix+path, nil))
	require.Equal(t, http.StatusOK, out.Code)
	return out.Body.String()
}

// One button takes all faults back.
func TestAllFaultsAreTakenBack(t *testing.T) {
	service := newConsole(t)
	service.Fail(refserver.Fault{Status: 500})
	require.NotContains(t, get(t, service, "faults"), "Take all back", "one has its own button")
	service.FailWebhooks(refserver.WebhookFault{Drop: true})
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/faults")
	p.Click(`[action$="faults/clear"] button`)
	p.WaitText("All faults were taken back.")
	require.Empty(t, service.Faults())
}

// The command of a template gives its variables values that the service takes.
func TestCurlOfATemplateHasItsVariables(t *testing.T) {
	service := newConsole(t)
	id := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, Variables: []string{"[fee]"}})
	command := textOf(t, get(t, service, "templates/"+id), `<div class="copyable"><pre tabindex="0">`)
	require.Contains(t, command, `"customVariables":[{"varName":"[fee]","varValue":"value"}]`)
}

// What connects a client is copied with a button each.
func TestConnectionIsCopied(t *testing.T) {
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.AllowClipboard()
	p.Go(service.URL + "/_/")
	p.Click("dd:nth-of-type(2) [data-copy]")
	p.WaitText("Copied")
	require.Equal(t, service.APIKey, browsertest.Eval[string](p, "navigator.clipboard.readText()"))
}

// A delivery that is not tried again has one name, in lists, on its page and in the filter.
func TestDeadDeliveriesAreGivenUp(t *testing.T) {
	service := newConsole(t)
	service.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1/hook", Event: refserver.FormResponse})
	form := service.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "Why?"}}})
	_, err := service.SubmitForm(form, refserver.Submission{})
	require.NoError(t, err)
	service.Advance(30 * 24 * time.Hour)
	require.NoError(t, service.Settle(t.Context()))
	dead, _ := service.FindDeliveries(refserver.DeliveryFilter{Status: refserver.DeliveryDead})
	require.Len(t, dead, 1)
	for _, path := range []string{"", "deliveries?status=dead", "deliveries/" + dead[0].ID} {
		page := get(t, service, path)
		require.Contains(t, page, `<span class="status bad">given up</span>`, path)
		require.NotContains(t, page, ">dead<", path)
	}
	require.Contains(t, get(t, service, "deliveries?status=dead"), `<option value="dead" selected>given up</option>`)
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
