package endtoend_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

var (
	inWebKit = flag.Bool("webkit", false, "use the pages in WebKit too")
	behind   = flag.Duration("behind", 0, "how long a tab is in the background")
)

const signed = "You have signed."

// TestPages_firefox uses the pages in Firefox as people do.
func TestPages_firefox(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Firefox")
	}
	h := newHost(t)
	b := firefox(t)
	h.everywhere(t, b)
	h.run(t, b, "390×844 at scale 3", func(b *tab) {
		b.show(390, 844, 3)
		h.draw(b)
		require.True(b.t, eval[bool](b, "innerWidth === 390 && devicePixelRatio === 3"))
		b.show(0, 0, 0)
	})
	h.run(t, b, "200 % zoom", func(b *tab) {
		b.open(h.BaseURL + "/_/") // Firefox keeps the zoom of a site
		b.show(1280, 900, 1)
		b.inFirefox("return FullZoom.setZoom(2, gBrowser.selectedBrowser)", nil)
		h.draw(b)
		require.Equal(b.t, 640, eval[int](b, "innerWidth"))
		b.inFirefox("return FullZoom.setZoom(1, gBrowser.selectedBrowser)", nil)
		b.show(0, 0, 0)
	})
	h.run(t, b, "resistFingerprinting", func(b *tab) {
		b.set("privacy.resistFingerprinting", "Bool", "true")
		h.draw(b)
	})
	h.run(t, b, "cookies blocked", func(b *tab) {
		b.set("network.cookie.cookieBehavior", "Int", "2")
		h.blocked(b)
	})
}

// TestPages_webkit does the same in WebKitGTK, Safari's engine.
func TestPages_webkit(t *testing.T) {
	if !*inWebKit {
		t.Skip("takes minutes; -webkit runs it")
	}
	h := newHost(t)
	t.Run("1280×900", func(t *testing.T) { h.everywhere(t, webkit(t, 1)) })
	for name, scale := range map[string]int{"narrow at scale 3": 3, "200 % zoom": 2} {
		t.Run(name, func(t *testing.T) {
			b := webkit(t, scale)
			b.do("SetWindowRect", object{"x": 0, "y": 0, "width": 1280 / scale, "height": 844})
			h.run(t, b, "draw", h.draw)
		})
	}
}

// set changes a setting of Firefox until the test ends.
func (b *tab) set(name, kind, value string) {
	b.t.Helper()
	b.inFirefox(fmt.Sprintf("Services.prefs.set%sPref(%q, %s)", kind, name, value), nil)
	b.t.Cleanup(func() { b.inFirefox(fmt.Sprintf("Services.prefs.clearUserPref(%q)", name), nil) })
}

// show gives the page in Firefox this size in CSS pixels, and as many pixels for each of them. Zeros are what the window has.
// With more than one pixel the page is dark.
func (b *tab) show(width, height, scale int) {
	b.t.Helper()
	b.inFirefox(fmt.Sprintf(`const b = gBrowser.selectedBrowser;
		for (const [side, value] of [["width", %[1]d], ["height", %[2]d]]) for (const end of ["min-", "max-"])
			if (value) b.style.setProperty(end + side, value + "px", "important"); else b.style.removeProperty(end + side);
		Object.assign(b.browsingContext, { overrideDPPX: %[3]d, prefersColorSchemeOverride: %[3]d > 1 ? "dark" : "none" });`, width, height, scale), nil)
	if width > 0 {
		b.wait(fmt.Sprintf("innerWidth === %d", width))
	}
}

// host is a sandbox, and a page of another origin that embeds its signing pages.
type host struct {
	*sandbox
	api    *signforms.Client
	origin string
	sent   int
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><link rel="icon" href="data:,"><body><script src="%s/sign/embed.js"></script><script>
			window.heard = [];
			signforms.embed(document.body, location.hash.slice(1), (e) => heard.push(e.event));</script>`, h.BaseURL)
	}))
	t.Cleanup(site.Close)
	h.origin = strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	h.sandbox = start(t, "--memory", "--frame-ancestor", h.origin)
	var err error
	h.api, err = signforms.New(h.BaseURL, h.APIKey, &signforms.Options{WorkspaceID: h.WorkspaceID})
	require.NoError(t, err)
	return h
}

// offer sends a document to Ann, who has three fields, and to Sam, who has one, and returns its name and their links.
func (h *host) offer(t testing.TB) (name, ann, sam string) {
	t.Helper()
	file, err := os.ReadFile("../internal/pdf/testdata/pdftex.pdf")
	require.NoError(t, err)
	h.sent++
	template := refserver.Template{Name: fmt.Sprintf("Offer no. %d", h.sent), PDF: file, SigningOrder: true, Roles: []refserver.Role{{Title: "Buyer"}, {Title: "Seller"}}}
	for i, kind := range []refserver.FieldKind{refserver.SignatureField, refserver.TextField, refserver.CheckboxField, refserver.SignatureField} {
		template.Fields = append(template.Fields, refserver.TemplateField{
			Name: fmt.Sprintf("Field %d", i), Role: template.Roles[i/3].Title, Kind: kind, Required: true, Page: 1, X: 0.2, Y: 0.2 + 0.1*float64(i), Width: 0.3, Height: 0.05,
		})
	}
	var added struct{ ID string }
	require.NoError(t, h.client.Post(t.Context(), "/templates", template, &added))
	sent, err := h.api.Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: added.ID, Receivers: []signforms.Receiver{
		{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}, {Name: "Sam", Email: "sam@example.com", RoleTitle: "Seller"},
	}})
	require.NoError(t, err)
	return template.Name, string(sent.Signers[0].SentURL), string(sent.Signers[1].SentURL)
}

// run runs one loop, after which the browser must have noted no error.
func (h *host) run(t *testing.T, b *tab, name string, loop func(*tab)) {
	t.Run(name, func(t *testing.T) {
		own := *b
		own.t = t
		before := len(b.errors())
		loop(&own)
		require.Empty(t, own.errors()[before:], "errors in the console")
	})
}

// everywhere runs the loops that need no settings.
func (h *host) everywhere(t *testing.T, b *tab) {
	for _, loop := range []struct {
		name string
		loop func(*tab)
	}{
		{"draw", h.draw}, {"PDF fetched once", h.fetched}, {"form", h.form}, {"editor", h.editor}, {"keyboard alone", h.keyboard}, {"paste", h.paste},
		{"embedding", h.embedding}, {"eight live tabs", h.tabs}, {"background tab", h.background},
	} {
		h.run(t, b, loop.name, loop.loop)
	}
}

func ready(b *tab, link string) {
	b.t.Helper()
	b.open(link)
	b.wait("document.querySelector('main')?.dataset.shown")
}

func agree(b *tab) {
	b.t.Helper()
	b.click("[name=agree]")
	b.click("#sign-form > button.main")
}

// draw signs with a drawing, and for somebody else with a typed name, and looks at the finished file.
func (h *host) draw(b *tab) {
	narrow := func(state string) {
		b.t.Helper()
		b.shot(state)
		require.Zero(b.t, eval[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"), "wider than the window: "+state)
	}
	_, ann, sam := h.offer(b.t)
	ready(b, ann)
	narrow("signing")
	b.click("[data-draw]")
	b.wait("document.querySelector('#draw').open")
	at := b.box("#draw canvas")
	point := func(x, y float64) object { return to(at[0]+x*at[2], at[1]+y*at[3]) }
	b.act("pointer", point(0.1, 0.3), button("pointerDown"), point(0.3, 0.6), point(0.5, 0.2), point(0.8, 0.6), button("pointerUp"))
	narrow("draw")
	b.click("#draw-use")
	b.wait("document.querySelector('.spot.signature image')")
	b.enter("#f1", "Rome")
	b.click("#f2")
	agree(b)
	b.waitText(signed)
	ready(b, sam)
	b.enter("#f3", "Sam Seller")
	agree(b)
	b.waitText("Everybody has signed.")
	b.wait("document.querySelector('main').dataset.shown")
	narrow("finished")
	lines(b.t, sam+"/document.pdf")
}

// lines fails unless the field of the drawing has blue lines and nothing else in the file.
func lines(t testing.TB, address string) {
	t.Helper()
	response, err := http.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "finished")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	out, err := exec.CommandContext(t.Context(), "pdftoppm", "-singlefile", "-r", "72", "-f", "1", file, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	page, err := os.ReadFile(file + ".ppm")
	require.NoError(t, err)
	var width, height, blue, other int
	_, err = fmt.Sscanf(string(page[:min(len(page), 30)]), "P6\n%d %d\n255\n", &width, &height)
	require.NoError(t, err)
	pixels := page[len(page)-3*width*height:]
	for y := height * 21 / 100; y < height*24/100; y++ {
		for x := width * 21 / 100; x < width*49/100; x++ {
			switch red, green, b := int(pixels[3*(y*width+x)]), int(pixels[3*(y*width+x)+1]), int(pixels[3*(y*width+x)+2]); {
			case max(red, green) > b+40:
				other++
			case b > red+20:
				blue++
			}
		}
	}
	require.Zero(t, other, "pixels that are no part of the drawing")
	require.NotZero(t, blue, "nothing was drawn")
}

// fetched counts how often the page fetches the document.
func (h *host) fetched(b *tab) {
	_, ann, _ := h.offer(b.t)
	target, err := url.Parse(h.BaseURL)
	require.NoError(b.t, err)
	var times atomic.Int32
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		if strings.HasSuffix(r.In.URL.Path, "/document.pdf") {
			times.Add(1)
		}
	}})
	defer proxy.Close()
	ready(b, strings.Replace(ann, h.BaseURL, proxy.URL, 1))
	require.EqualValues(b.t, 1, times.Load())
	b.open("about:blank")
}

// form adds a form in the console, goes back to where it was added, and answers it. Buttons can be used again after Back.
func (h *host) form(b *tab) {
	b.open(h.BaseURL + "/_/forms/new")
	b.enter("#title", "Survey")
	b.enter("#questions", "Why? *")
	b.click("button.main")
	b.waitText("It was added.")
	b.do("Back", object{})
	b.wait("document.querySelector('#title') && !document.querySelector('button.main').disabled")
	var forms struct{ Items []struct{ ID string } }
	require.NoError(b.t, h.client.Get(b.t.Context(), "/forms", nil, &forms))
	_, err := h.api.Forms.Send(b.t.Context(), signforms.FormSendParams{FormID: forms.Items[0].ID, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}}})
	require.NoError(b.t, err)
	var mail struct{ Items []struct{ Link string } }
	require.NoError(b.t, h.client.Get(b.t.Context(), "/messages", nil, &mail))
	b.open(mail.Items[0].Link)
	b.enter("#q0", "Because")
	b.shot("form")
	b.do("Refresh", object{})
	b.wait("document.querySelector('#q0')?.value === 'Because'")
	b.click("button.main")
	b.waitText("Thank you.")
	b.do("Back", object{})
	b.wait("document.querySelector('button.main')?.disabled === false")
}

// editor adds a template. New fields of any kind lie beside each other, and each can be dragged.
func (h *host) editor(b *tab) {
	b.open(h.BaseURL + "/_/templates/new")
	b.wait("document.querySelector('#template-form').dataset.shown")
	b.enter("#name", "Lease")
	b.enter("[aria-label='Role 1']", "Tenant")
	for _, kind := range []string{"signature", "text", "date", "checkbox"} {
		b.click("[data-kind=" + kind + "]")
	}
	b.shot("editor")
	for i := range 4 {
		before := eval[[]refserver.TemplateField](b, "JSON.parse(document.querySelector('[name=fields]').value)")[i]
		at := b.box(fmt.Sprintf(".placed[aria-label=%q]", before.Name+": "+string(before.Kind)+" of Tenant"))
		x, y := at[0]+at[2]/2, at[1]+at[3]/2
		b.act("pointer", to(x, y), button("pointerDown"), to(x+10, y), to(x+20, y), button("pointerUp"))
		b.wait(fmt.Sprintf("JSON.parse(document.querySelector('[name=fields]').value)[%d].x > %f", i, before.X))
	}
	b.click("#template-form button.main")
	b.waitText("It was added.")
}

func (h *host) keyboard(b *tab) {
	_, ann, _ := h.offer(b.t)
	ready(b, ann)
	for _, step := range [][2]string{{"#f0", "Ann"}, {"#f1", "Rome"}, {"#f2", " "}, {"[name=agree]", " "}, {"#sign-form > button.main", "\ue007"}} {
		b.reach(step[0])
		b.press(step[1])
	}
	b.waitText(signed)
}

// paste pastes more than there is room for, into the dialog and into the form.
func (h *host) paste(b *tab) {
	_, ann, _ := h.offer(b.t)
	ready(b, ann)
	eval[bool](b, "(() => { const e = document.querySelector('#f1'); e.value = 'x'.repeat(12000); e.select(); e.focus(); return true })()")
	b.withControl("c")
	const words = "Only the first 10,000 of 12,000 characters were taken."
	for _, place := range [][2]string{{"#f0", ".field:has(#f0) .lost"}, {"#draw-typed", "#draw-hint"}} {
		if place[0] == "#draw-typed" {
			b.click("[data-draw]")
		}
		b.click(place[0])
		b.withControl("a")
		b.withControl("v")
		b.wait(fmt.Sprintf("document.querySelector(%q).textContent.includes(%q)", place[1], words))
		b.press("\ue003")
		b.wait(fmt.Sprintf("!document.querySelector(%q).textContent.includes(%q)", place[1], words))
	}
	b.click("#draw-cancel")
}

// embedding signs in a frame of another origin. The embedding page receives the events.
func (h *host) embedding(b *tab) {
	_, ann, _ := h.offer(b.t)
	b.open(h.origin + "/#" + ann)
	b.wait("heard.includes('viewed')")
	b.do("SwitchToFrame", object{"id": 0})
	b.enter("#f0", "Ann")
	b.enter("#f1", "Rome")
	b.click("#f2")
	agree(b)
	b.waitText(signed)
	b.do("SwitchToFrame", object{"id": nil})
	b.wait("heard.includes('signed')")
	require.NotContains(b.t, eval[[]string](b, "heard"), "error")
}

// tabs looks at eight tabs, each of which shows by itself what is sent.
func (h *host) tabs(b *tab) {
	const shown = "document.readyState === 'complete'"
	var first string
	require.NoError(b.t, b.call("WebDriver:GetWindowHandle", object{}, &first))
	b.open(h.BaseURL + "/_/documents?from=templates")
	all := []string{first}
	for range 7 {
		all = append(all, b.another(h.BaseURL+"/_/documents?from=templates"))
		b.wait(shown)
	}
	name, _, _ := h.offer(b.t)
	for _, handle := range all {
		b.do("SwitchToWindow", object{"handle": handle})
		b.waitText(name)
	}
	for _, handle := range all[1:] {
		b.do("SwitchToWindow", object{"handle": handle})
		b.do("CloseWindow", object{})
	}
	b.do("SwitchToWindow", object{"handle": first})
	b.open(h.BaseURL + "/_/")
	b.shot("first page")
}

// background opens a link in a tab behind another, where browsers draw nothing, and comes to it later.
func (h *host) background(b *tab) {
	_, ann, _ := h.offer(b.t)
	handle := b.another(ann)
	b.wait("document.visibilityState === 'hidden' && document.querySelector('.page')")
	time.Sleep(*behind)
	require.True(b.t, eval[bool](b, "document.visibilityState === 'hidden' && !document.querySelector('main').dataset.shown"))
	require.NotContains(b.t, eval[string](b, "document.body.innerText"), "cannot be shown")
	b.front(handle)
	b.wait("document.querySelector('main').dataset.shown")
}

// front closes the tab in front, so that the other one is in front.
func (b *tab) front(other string) {
	var all []string
	require.NoError(b.t, b.call("WebDriver:GetWindowHandles", object{}, &all))
	for _, handle := range all {
		if handle != other {
			b.do("SwitchToWindow", object{"handle": handle, "focus": false})
			b.do("CloseWindow", object{})
		}
	}
	b.do("SwitchToWindow", object{"handle": other})
}

// blocked uses the pages in a Firefox that blocks all cookies, and with them what else pages store and share.
func (h *host) blocked(b *tab) {
	b.open(h.BaseURL + "/_/documents?from=templates")
	require.False(b.t, eval[bool](b, "(() => { try { sessionStorage.length; return true } catch { return false } })()"), "cookies are not blocked")
	name, ann, _ := h.offer(b.t)
	b.waitText(name)
	b.open(h.BaseURL + "/_/")
	b.click("[data-copy]")
	b.waitText("Copied")
	ready(b, ann)
	b.enter("#f0", "Ann")
	b.enter("#f1", "Rome")
	b.click("#f2")
	agree(b)
	b.waitText(signed)
}
