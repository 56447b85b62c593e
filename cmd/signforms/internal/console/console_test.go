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
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// hostile is part of every name, question and answer that a test adds.
const hostile = `<script>alert(1)</script>"'&`

// newConsole starts a service with its console, and a stream of events like that of the control API.
func newConsole(t *testing.T) *servicetest.Server {
	t.Helper()
	var service *servicetest.Server
	var pages http.Handler
	service = servicetest.Start(t, &refserver.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/_/events":
				stream(w, r, service)
			case path.Base(r.URL.Path) == "stream.js":
				w.Header().Set("Content-Type", "text/javascript")
				w.Write(impatient(t))
			case strings.HasPrefix(r.URL.Path, console.Prefix):
				pages.ServeHTTP(w, r)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}})
	pages = console.New(service.Server, console.Options{
		PublicURL: service.URL, Events: "/_/events", Data: "in memory", Profile: []string{"page-size=7"},
		Inspect: func(_ context.Context, data []byte) (pdf.Content, error) { return pdf.Inspect(data) },
		Reset:   func(context.Context) error { return service.Reset() },
		Logger:  slog.New(slog.DiscardHandler),
	})
	return service
}

// populate adds records of every kind, with hostile texts.
func populate(t *testing.T, service *servicetest.Server) (documentID, templateID, formID, webhookID string) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		w.Write([]byte(hostile))
	}))
	t.Cleanup(receiver.Close)
	webhookID = service.AddWebhook(refserver.Webhook{URL: receiver.URL + "/" + hostile, Event: refserver.TemplateResponse})
	templateID = service.AddTemplate(refserver.Template{
		Name: "Offer " + hostile, Roles: []refserver.Role{{Title: "Buyer " + hostile}}, SigningOrder: true,
		Fields: []refserver.TemplateField{{Name: "City " + hostile, Role: "Buyer " + hostile, Kind: refserver.TextField, Required: true, Page: 1, X: 0.1, Y: 0.1, Width: 0.2, Height: 0.05}},
	})
	formID = service.AddForm(refserver.Form{Title: "Survey " + hostile, Fields: []refserver.Field{
		{Question: "Why? " + hostile}, {Question: "Colour?", Kind: refserver.ChoiceQuestion, Choices: []string{"red", "green"}},
		{Question: "Day?", Kind: refserver.DateQuestion}, {Question: "More?", Kind: refserver.LongTextQuestion}, {Question: "Sure?", Kind: refserver.CheckboxQuestion},
	}})
	_, err := service.SubmitForm(formID, refserver.Submission{RespondentEmail: "zoe@example.com", Answers: map[string]string{"Why? " + hostile: hostile}})
	require.NoError(t, err)
	sent, err := service.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: templateID, Receivers: []signforms.Receiver{{Name: "Zoë " + hostile, Email: "zoe@example.com", RoleTitle: "Buyer " + hostile}},
	})
	require.NoError(t, err)
	documentID = sent.DocumentID
	require.NoError(t, service.Signer(documentID, "zoe@example.com").View())
	declined := service.AddDocument(refserver.Document{Name: "Lease " + hostile, Signers: []refserver.Signer{{Name: hostile, Email: "ann@example.com"}}})
	require.NoError(t, service.Signer(declined, "ann@example.com").Decline("Too dear "+hostile))
	_, err = service.Client().Documents.Void(t.Context(), signforms.PDFDocument("00000000-0000-4000-8000-000000000000"))
	require.Error(t, err)
	service.Fail(refserver.Fault{Operation: refserver.Send, Status: 503, Times: 1})
	require.NoError(t, service.Settle(t.Context()))
	return documentID, templateID, formID, webhookID
}

func TestEveryPageOnEveryScreen(t *testing.T) {
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	visit := func(state string, paths ...string) {
		for _, path := range paths {
			p.Go(service.URL + "/_/" + path)
			require.False(t, browsertest.Eval[bool](p, "document.querySelector('[role=alert]') !== null"), path)
			require.Zero(t, browsertest.Eval[int](p, "document.querySelectorAll('script:not([src])').length"), "what somebody wrote became a script: %s", path)
			p.RequireAccessibleOnEveryScreen(state + "-" + strings.ReplaceAll(path, "?", "-"))
		}
	}
	visit("empty", "", "documents", "templates", "forms", "webhooks", "deliveries", "requests", "messages", "clock", "faults")
	documentID, templateID, formID, webhookID := populate(t, service)
	lease, _ := service.FindDocuments(refserver.DocumentFilter{Query: "Lease"})
	visit("full", "", "documents", "documents/"+lease[0].ID, "documents?from=templates", "documents/new", "documents/"+documentID, "templates", "templates/new", "templates/"+templateID, "templates/"+templateID+"/edit",
		"forms", "forms/new", "forms/"+formID, "webhooks", "webhooks/new", "webhooks/new?url=http://localhost&event=new_signature_completed",
		"webhooks/"+webhookID, "deliveries", "deliveries/"+service.Deliveries()[0].ID, "requests", "requests?only=refused", "requests/1", "messages", "clock", "faults", "settings")
}

func TestActsOnADocument(t *testing.T) {
	service := newConsole(t)
	documentID, _, _, _ := populate(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/documents/" + documentID)
	p.Click("button[value=remind]")
	p.WaitText("The pending signers were reminded.")
	last := service.Requests()[len(service.Requests())-1]
	require.Equal(t, refserver.SendReminder, last.Operation, "it counts towards the limit as a client's does")
	require.Equal(t, http.StatusOK, last.StatusCode)
	p.Click("button[value=sign]")
	p.WaitText("The signer has signed.")
	d, _ := service.FindDocument(documentID)
	require.Equal(t, refserver.StatusSigned, d.Status)
	require.Equal(t, "Sample", d.Values[0].Value)
	p.Click("button[value=pay]")
	p.WaitText("The document was paid.")
	require.Equal(t, "127.0.0.1", d.Signers[0].IP)
}

func TestRefusedActSaysWhy(t *testing.T) {
	service := newConsole(t)
	documentID, _, _, _ := populate(t, service)
	require.NoError(t, service.Void(documentID))
	resp, err := service.HTTPClient().PostForm(service.URL+"/_/documents/"+documentID+"/act", url.Values{"act": {"expire"}})
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/documents/unknown")
	p.WaitText("There is no such record")
	p.AllowErrors("404")
}

func TestClockIsMoved(t *testing.T) {
	service := newConsole(t)
	before := service.Now()
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(service.URL + "/_/clock")
	p.Set("#by", "3d")
	p.Click("button.main")
	p.WaitText("The clock was moved.")
	require.GreaterOrEqual(t, service.Now().Sub(before).Hours(), 72.0)
}

func TestPagesAreWholeWithoutJavaScript(t *testing.T) {
	service := newConsole(t)
	documentID, templateID, formID, _ := populate(t, service)
	for _, c := range []struct{ path, want string }{
		{path: "", want: "Point a client here"},
		{path: "?", want: "<title>Sandbox</title>"},
		{path: "requests?", want: "<title>Requests · Sandbox</title>"},
		{path: "documents/" + documentID, want: `<a class="button small main" href="` + service.URL + "/sign/"},
		{path: "messages", want: `<a class="button small" href="` + service.URL + "/sign/"},
		{path: "templates/" + templateID, want: "curl -X POST"},
		{path: "forms/" + formID, want: "zoe@example.com"},
		{path: "requests", want: "/void-document"},
		{path: "deliveries", want: `href="/_/documents/` + documentID + `"><bdi>Offer &lt;script&gt;`},
		{path: "deliveries", want: "new_<wbr>template_<wbr>response_<wbr>individual_<wbr>viewed"},
	} {
		t.Run(c.path, func(t *testing.T) {
			resp, err := service.HTTPClient().Get(service.URL + "/_/" + c.path)
			require.NoError(t, err)
			defer resp.Body.Close()
			page, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Contains(t, string(page), c.want)
			require.NotContains(t, string(page), "<script>alert")
			require.NotContains(t, resp.Header.Get("Content-Security-Policy"), "unsafe")
			require.Equal(t, "DENY", resp.Header.Get("X-Frame-Options"))
		})
	}
}

func TestCopyAsCurl(t *testing.T) {
	service := newConsole(t)
	_, templateID, _, webhookID := populate(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.AllowClipboard()
	copied := func(path string) string {
		p.Go(service.URL + "/_/" + path)
		p.Reach("[data-copy]")
		p.Press("\r")
		p.WaitText("Copied")
		return browsertest.Eval[string](p, "navigator.clipboard.readText()")
	}
	send := copied("templates/" + templateID)
	require.Contains(t, send, "curl -X POST '"+service.URL)
	require.Contains(t, send, "$SIGNFORMS_API_KEY")
	require.NotContains(t, send, service.APIKey)

	require.NoError(t, service.DisableWebhook(webhookID)) // so that no attempt refreshes the page meanwhile
	delivery := "deliveries/" + service.Deliveries()[0].ID
	p.Go(service.URL + "/_/" + delivery)
	p.Reach("summary")
	p.Press("\r")
	p.Wait("document.querySelector('details').open")
	p.Reach("[data-copy]")
	p.Press("\r")
	p.WaitText("Copied")
	p.RequireAccessible()
	p.Shot("copied")
	again := browsertest.Eval[string](p, "navigator.clipboard.readText()")
	require.Equal(t, browsertest.Eval[string](p, "document.querySelector('.copyable pre').textContent"), again)
	require.Contains(t, again, "new_template_response_individual_viewed")
	for _, w := range service.Webhooks() {
		require.NotContains(t, again, w.Secret, "webhook %s", webhookID)
	}

	plain := browsertest.Open(t, browsertest.Screen{Width: 1280, NoScript: true})
	plain.Go(service.URL + "/_/templates/" + templateID)
	require.Zero(t, browsertest.Eval[int](plain, "document.querySelector('[data-copy]').getClientRects().length"), "a button that does nothing")
	require.NotZero(t, browsertest.Eval[int](plain, "document.querySelector('.copyable pre').getClientRects().length"))
	plain.Shot("without-script")
}

func TestRefusals(t *testing.T) {
	service := newConsole(t)
	post := func(path, contentType string, body io.Reader) (int, string) {
		t.Helper()
		resp, err := service.HTTPClient().Post(service.URL+"/_/"+path, contentType, body)
		require.NoError(t, err)
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(page)
	}
	upload := func(data []byte) (string, io.Reader) {
		t.Helper()
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		require.NoError(t, form.WriteField("name", "Offer"))
		file, err := form.CreateFormFile("pdf", "offer.pdf")
		require.NoError(t, err)
		_, err = file.Write(data)
		require.NoError(t, err)
		require.NoError(t, form.Close())
		return form.FormDataContentType(), &body
	}
	contentType, body := upload(append([]byte("%PDF-1.7\n"), make([]byte, 20_000_000)...))
	status, page := post("templates/new", contentType, body)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "The file is larger than 20 MB")
	contentType, body = upload([]byte("%PDF-1.7\nnothing more"))
	status, page = post("templates/new", contentType, body)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "The PDF has no end")
	require.Empty(t, service.Templates())

	before := service.Now()
	status, page = post("clock", "application/x-www-form-urlencoded", strings.NewReader("by=400d"))
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, page, "up to 366d")
	require.Less(t, service.Now().Sub(before), time.Hour)
}

// Wrong inputs are named as the page calls them; what somebody entered stays as it is.
func TestMistakesInAFormUseItsLabels(t *testing.T) {
	service := newConsole(t)
	template := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	for says, c := range map[string]struct {
		path string
		form url.Values
	}{
		"The e-mail address of receiver 1 must be a mail address, with an @.": {"templates/" + template + "/send", url.Values{"name0": {"Ann"}, "email0": {"ann"}}},
		"The list of receivers must hold 1 to 100 receivers.":                 {"templates/" + template + "/send", nil},
		"The list of fields is empty: a form needs a question.":               {"forms/new", url.Values{"title": {"Survey"}}},
	} {
		require.Contains(t, submit(t, service, c.path, c.form), ">"+says+"<")
	}
}

// A link cannot make the console show a text that someone made up.
func TestConsoleShowsNoTextOfALink(t *testing.T) {
	service := newConsole(t)
	now := time.Now().Unix()
	for query, shown := range map[string]bool{
		fmt.Sprintf("?done=Send+us+your+key&at=%d", now):     false,
		fmt.Sprintf("?done=reset&at=%d", now):                true,
		fmt.Sprintf("?done=reset&at=%d", now-61):             false,
		fmt.Sprintf("?done=reset&at=%d", now+60):             false,
		"?done=reset":                                        false,
		fmt.Sprintf("documents/nosuch?done=sent&at=%d", now): false,
	} {
		page := get(t, service, query)
		require.Equal(t, shown, strings.Contains(page, `class="notice good"`), query)
		require.NotContains(t, page, `role="status">Send`)
	}
}
