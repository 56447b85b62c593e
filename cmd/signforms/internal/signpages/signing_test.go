package signpages_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/cmd/signforms/internal/signpages"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// newService starts a service whose links open the pages.
func newService(t testing.TB, frames ...string) *servicetest.Server {
	t.Helper()
	return newLossyService(t, func(string) bool { return false }, frames...)
}

// newLossyService starts one that breaks off the requests for some paths of the pages. What it loses is asked at each request.
func newLossyService(t testing.TB, loses func(path string) bool, frames ...string) *servicetest.Server {
	t.Helper()
	var pages http.Handler
	service := servicetest.Start(t, &refserver.Options{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if loses(r.URL.Path) {
				panic(http.ErrAbortHandler)
			}
			if strings.HasPrefix(r.URL.Path, "/sign/") || strings.HasPrefix(r.URL.Path, "/form/") {
				pages.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}})
	pages = signpages.New(service.Server, signpages.Options{
		Frames: frames,
		Document: func(_ context.Context, d refserver.DocumentState) ([]byte, error) {
			switch {
			case !d.CompletedAt.IsZero():
				return os.ReadFile("../pdf/testdata/cairo.pdf")
			case d.Name == "Offer of 20 pages":
				return twentyPages()
			case d.Name == "Damaged offer":
				return []byte("%PDF-1.7\nnothing more"), nil
			}
			return os.ReadFile("../pdf/testdata/pdftex.pdf")
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	return service
}

// twentyPages is a PDF of 20 pages of text.
var twentyPages = sync.OnceValues(func() ([]byte, error) {
	paragraphs := slices.Repeat([]string{"Lorem ipsum dolor sit amet, consetetur sadipscing elitr."}, 20*31)
	return pdf.Draw("Long document", paragraphs)
})

// offer sends a template with every kind of field to two people, and returns the document's id and their links.
func offer(t testing.TB, service *servicetest.Server, name string) (id string, links map[string]string) {
	t.Helper()
	field := func(name string, kind refserver.FieldKind, y float64, required bool) refserver.TemplateField {
		return refserver.TemplateField{Name: name, Role: "Buyer", Kind: kind, Required: required, Page: 1, X: 0.2, Y: y, Width: 0.3, Height: 0.04}
	}
	templateID := service.AddTemplate(refserver.Template{
		Name: name, SigningOrder: true, Roles: []refserver.Role{{Title: "Buyer"}, {Title: "Seller"}},
		Fields: []refserver.TemplateField{
			field("Signature", refserver.SignatureField, 0.2, true), field("Initials", refserver.InitialsField, 0.3, false),
			field("City", refserver.TextField, 0.4, true), field("Day", refserver.DateField, 0.5, false),
			field("Insured", refserver.CheckboxField, 0.6, true),
		},
	})
	sent, err := service.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers: []signforms.Receiver{
			{Name: "Ann Buyer", Email: "ann@example.com", RoleTitle: "Buyer"}, {Name: "Sam Seller", Email: "sam@example.com", RoleTitle: "Seller"},
		},
	})
	require.NoError(t, err)
	links = map[string]string{}
	for _, s := range sent.Signers {
		links[s.Email] = string(s.SentURL)
	}
	return sent.DocumentID, links
}

func find(t *testing.T, service *servicetest.Server, id string) refserver.DocumentState {
	t.Helper()
	d, ok := service.FindDocument(id)
	require.True(t, ok)
	return d
}

func TestSignersSignInOrder(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	sam := browsertest.Open(t, browsertest.Screen{Width: 1280})
	sam.Go(links["sam@example.com"])
	sam.WaitText("It is not your turn yet: Ann Buyer signs first")

	ann := browsertest.Open(t, browsertest.Screen{Width: 1280})
	ann.Go(links["ann@example.com"])
	ann.Wait("document.querySelector('main').dataset.shown")
	ann.Wait("document.querySelectorAll('.spot').length === 5")
	ann.Type("#f0", "Ann Buyer")
	ann.Type("#f2", "Rome <script>alert(1)</script>")
	ann.Set("#f3", "2026-11-21")
	ann.Click("#f4")
	ann.Wait("document.querySelector('.spot.text').textContent.includes('Rome<script>')")
	ann.Shot("filled")
	ann.Click("[name=agree]")
	ann.Click("#sign-form button.main")
	ann.WaitText("You have signed. It is still the turn of Sam Seller.")
	d := find(t, service, id)
	require.Equal(t, "Rome <script>alert(1)</script>", d.Values[1].Value)
	require.Equal(t, "127.0.0.1", d.Signers[0].IP)

	sam.Go(links["sam@example.com"])
	sam.Wait("document.querySelector('main').dataset.shown")
	sam.Click("[name=agree]")
	sam.Click("#sign-form button.main")
	sam.WaitText("Everybody has signed.")
	require.Equal(t, "application/pdf", browsertest.Eval[string](sam, "fetch(document.querySelector('a[download]').href).then(r => r.headers.get('content-type'))"))
}

func TestViewedOnceTheDocumentIsShown(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		req, err := http.NewRequestWithContext(t.Context(), method, links["ann@example.com"], nil)
		require.NoError(t, err)
		resp, err := service.HTTPClient().Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	require.True(t, find(t, service, id).Signers[0].ViewedAt.IsZero(), "a mail scanner is no reader")
	ann := browsertest.Open(t, browsertest.Screen{Width: 1280})
	ann.Go(links["ann@example.com"])
	ann.Wait("document.querySelector('main').dataset.shown")
	ann.Wait("performance.getEntriesByName(location.href + '/viewed').length === 1")
	require.False(t, find(t, service, id).Signers[0].ViewedAt.IsZero())
}

// A PDF that the browser cannot show can be opened as a file, and counts as not viewed.
func TestDocumentThatCannotBeShown(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Damaged offer")
	ann := browsertest.Open(t, browsertest.Screen{Width: 1280})
	ann.Go(links["ann@example.com"])
	ann.WaitText("The document cannot be shown here. Try again, or open it as a PDF instead.")
	require.True(t, find(t, service, id).Signers[0].ViewedAt.IsZero())
}

func TestKeyboardAlone(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	ann := browsertest.Open(t, browsertest.Screen{Width: 1280})
	ann.Go(links["ann@example.com"])
	ann.Wait("document.querySelector('main').dataset.shown")
	ann.Reach("#f0")
	ann.Press("Ann Buyer")
	ann.Reach("#f2")
	ann.Press("Rome")
	ann.Reach("#f4")
	ann.Press(" ")
	ann.Reach("[name=agree]")
	ann.Press(" ")
	ann.Reach("#sign-form button.main")
	ann.Press("\r")
	ann.WaitText("You have signed.")
	require.False(t, find(t, service, id).Signers[0].SignedAt.IsZero())
}

func TestSigningWithoutJavaScript(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	client := service.HTTPClient()
	post := func(action string, values url.Values) (status int, location string) {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := client.PostForm(links["ann@example.com"]+action, values)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode, resp.Header.Get("Location")
	}
	status, _ := post("/sign", url.Values{"agree": {"true"}, "f0": {"Ann"}, "f2": {"Rome"}, "f4": {"true"}})
	require.Equal(t, http.StatusUnprocessableEntity, status, "the document was not shown")
	resp, err := client.Get(links["ann@example.com"])
	require.NoError(t, err)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NotContains(t, string(page), `<a href="`+path.Join("/sign", path.Base(links["ann@example.com"]))+`/document.pdf"`, "every way to open it counts")
	require.Equal(t, 2, strings.Count(string(page), `/viewed" target="_blank"><button>Open the document as a PDF</button>`))
	status, location := post("/viewed", nil)
	require.Equal(t, http.StatusSeeOther, status)
	require.Equal(t, "/document.pdf", location[len(location)-len("/document.pdf"):], "in another tab: what is entered here stays")
	require.False(t, find(t, service, id).Signers[0].ViewedAt.IsZero())
	version := shownVersion.FindStringSubmatch(string(page))
	require.NotNil(t, version)
	signed := url.Values{"agree": {"true"}, "f0": {"Ann"}, "f2": {"Rome"}, "f4": {"true"}, "version": version[1:]}
	status, _ = post("/sign", url.Values{"agree": {"true"}, "f0": {"Ann"}, "f2": {"Rome"}, "version": version[1:]})
	require.Equal(t, http.StatusUnprocessableEntity, status, "the required tick is missing")
	status, _ = post("/sign", url.Values{"f0": {"Ann"}, "f2": {"Rome"}, "f4": {"true"}, "version": version[1:]})
	require.Equal(t, http.StatusUnprocessableEntity, status, "did not agree")
	status, location = post("/sign", signed)
	require.Equal(t, http.StatusSeeOther, status)
	require.Contains(t, location, "?did=signed")
	require.False(t, find(t, service, id).Signers[0].SignedAt.IsZero())
}

// TestViewedAfterTheEnd: the page may report that the document was shown after the form was sent. That is not an error, which a browser
// would log as a failed request.
func TestViewedAfterTheEnd(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	require.NoError(t, service.Signer(id, "ann@example.com").Decline("no"))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, links["ann@example.com"]+"/viewed", nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "application/json")
	answer, err := service.HTTPClient().Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNoContent, answer.StatusCode)
	require.True(t, find(t, service, id).Signers[0].ViewedAt.IsZero())
}

// A body of more than 8 MB is not read to its end, and nothing in it is signed or answered.
func TestLargeBodiesAreRefused(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	link := formLink(t, service)
	large := strings.Repeat("x", 9<<20)
	for address, values := range map[string]url.Values{
		links["ann@example.com"] + "/sign": {"agree": {"true"}, "f0": {"Ann"}, "f2": {"Rome"}, "f4": {"true"}, "x": {large}},
		link:                               {"q0": {"Ann"}, "q2": {"green"}, "q4": {"true"}, "x": {large}},
	} {
		resp, err := service.HTTPClient().PostForm(address, values)
		if err != nil {
			continue // the connection was closed before the body was sent
		}
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
	}
	require.True(t, find(t, service, id).Signers[0].SignedAt.IsZero())
	f, _, ok := service.FormLink(path.Base(link))
	require.True(t, ok)
	require.Empty(t, service.Responses(f.ID))
}

func TestDecliningGivesTheReason(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	ann := browsertest.Open(t, browsertest.Screen{Width: 360})
	ann.Go(links["ann@example.com"])
	ann.Wait("document.querySelector('main').dataset.shown")
	ann.Click("details summary")
	ann.Type("#reason", "too dear")
	ann.Click("button.danger")
	ann.WaitText("You declined to sign this document.")
	require.Equal(t, "too dear", find(t, service, id).Signers[0].Reason)
}

func TestPagesOnEveryScreen(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, strings.Repeat("Offer with a Long name ", 8)+strings.Repeat("x", 90))
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.RequireAccessibleOnEveryScreen("ready")
	p.Go(links["sam@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.RequireAccessibleOnEveryScreen("waiting")
	p.Go(service.URL + "/sign/nothing")
	p.WaitText("No such page")
	p.AllowErrors("404")
	p.RequireAccessibleOnEveryScreen("nothing")
	p.Go(formLink(t, service))
	p.RequireAccessibleOnEveryScreen("form")
}

// A thumb needs 44 pixels. The inputs on the PDF are as large as their fields, and the form below has the same.
func TestControlsFitAThumb(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 320, Touch: true})
	for _, address := range []string{links["ann@example.com"], formLink(t, service)} {
		p.Go(address)
		p.Wait("document.querySelector('main').dataset.shown || !document.querySelector('.scroller')")
		low := browsertest.Eval[[]string](p, `[...document.querySelectorAll("button, summary, .open a, label:has(input), :is(input, select, textarea):not([type=checkbox], [type=radio])")]
			.filter((e) => e.checkVisibility() && !e.closest(".spot") && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)`)
		require.Empty(t, low, address)
		require.GreaterOrEqual(t, browsertest.Eval[int](p, "document.querySelectorAll('button, label:has(input)').length"), 4)
		p.Shot("controls")
	}
}

// formLink sends a form with every kind of question and returns the link in its mail.
func formLink(t *testing.T, service *servicetest.Server) string {
	t.Helper()
	formID := service.AddForm(refserver.Form{Title: "Survey <script>alert(1)</script>", Fields: []refserver.Field{
		{Question: "Name?", Required: true}, {Question: "Tell us more", Kind: refserver.LongTextQuestion},
		{Question: "Colour?", Kind: refserver.ChoiceQuestion, Choices: []string{"red", "green"}, Required: true},
		{Question: "Since when?", Kind: refserver.DateQuestion}, {Question: "Agreed?", Kind: refserver.CheckboxQuestion, Required: true},
	}})
	_, err := service.Client().Forms.Send(t.Context(), signforms.FormSendParams{
		FormID: formID, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}},
	})
	require.NoError(t, err)
	messages := service.Messages()
	return string(messages[len(messages)-1].Link)
}

func TestFormIsFilledIn(t *testing.T) {
	service := newService(t)
	link := formLink(t, service)
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(link)
	p.Type("#q0", "Ann")
	p.Type("#q1", "two\nlines")
	p.Click("[name=q2][value=green]")
	p.Set("#q3", "2020-02-29")
	p.Click("#q4")
	p.Set("#email", "zoe@example.com")
	p.Go(link) // what was entered is kept in the tab until it is sent
	p.Wait("document.querySelector('#email').value === 'zoe@example.com'")
	p.Click("button.main")
	p.WaitText("Thank you.")
	p.Wait("sessionStorage.length === 0")
	f, _, ok := service.FormLink(path.Base(link))
	require.True(t, ok)
	responses := service.Responses(f.ID)
	require.Len(t, responses, 1)
	require.Equal(t, "zoe@example.com", responses[0].RespondentEmail)
	require.Equal(t, []refserver.Answer{
		{Question: "Name?", Answer: "Ann"}, {Question: "Tell us more", Answer: "two\r\nlines"}, {Question: "Colour?", Answer: "green"},
		{Question: "Since when?", Answer: "2020-02-29"}, {Question: "Agreed?", Answer: "true"},
	}, responses[0].Answers)
}

func TestHeadersKeepThePageToItself(t *testing.T) {
	service := newService(t, "https://app.example.com")
	_, links := offer(t, service, "Offer")
	get := func(address string) http.Header {
		resp, err := service.HTTPClient().Get(address)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
		return resp.Header
	}
	page := get(links["ann@example.com"])
	require.Contains(t, page.Get("Content-Security-Policy"), "default-src 'self'; ")
	require.NotContains(t, page.Get("Content-Security-Policy"), "unsafe")
	require.Contains(t, page.Get("Content-Security-Policy"), "frame-ancestors https://app.example.com")
	require.Equal(t, "no-referrer", page.Get("Referrer-Policy"))
	require.Empty(t, page.Values("Set-Cookie"))
	file := get(links["ann@example.com"] + "/document.pdf")
	require.Equal(t, "nosniff", file.Get("X-Content-Type-Options"))
	require.Contains(t, file.Get("Content-Security-Policy"), "default-src 'none'")
}
