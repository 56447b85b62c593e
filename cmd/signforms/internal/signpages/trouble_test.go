package signpages_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// lossy starts a service, and returns a function that says how often the requests whose path ends so get lost.
func lossy(t *testing.T, name string) (id string, links map[string]string, lose func(suffix string, times int64)) {
	t.Helper()
	var suffix atomic.Pointer[string]
	var times atomic.Int64
	service := newLossyService(t, func(path string) bool {
		s := suffix.Load()
		return s != nil && strings.HasSuffix(path, *s) && times.Add(-1) >= 0
	})
	id, links = offer(t, service, name)
	return id, links, func(s string, n int64) {
		suffix.Store(&s)
		times.Store(n)
	}
}

var entered = []refserver.FieldValue{{Name: "Signature", Value: "Ann"}, {Name: "City", Value: "Rome"}, {Name: "Insured", Value: "true"}}

func fill(p *browsertest.Page) {
	p.Type("#f0", "Ann")
	p.Type("#f2", "Rome")
	p.Click("#f4")
	p.Click("[name=agree]")
}

// filled opens a signing page and fills it in. That the document was shown has been noted.
func filled(t *testing.T, link string) *browsertest.Page {
	t.Helper()
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(link)
	p.Wait("document.querySelector('main').dataset.shown")
	fill(p)
	p.Wait("performance.getEntriesByName(location.href + '/viewed').length === 1")
	return p
}

const (
	sign     = "#sign-form button.main"
	again    = "#again:not([hidden])"
	allPages = "document.querySelectorAll('.page').length >= 20"
)

// A lost report hides no page. Until it has arrived, nothing is signed, and the page says so.
func TestLostReportHidesNoPage(t *testing.T) {
	_, links, lose := lossy(t, "Offer of 20 pages")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.AllowErrors("Failed to load resource")
	lose("/viewed", 1000) // a browser tries some lost requests again itself
	p.Go(links["ann@example.com"])
	p.WaitText("could not be noted, which signing needs")
	p.Wait(allPages)
	fill(p)
	browsertest.Eval[bool](p, "(document.querySelector('#bar p').textContent = '') === ''")
	p.Click(sign)
	p.WaitText("could not be noted, which signing needs")
	p.RequireAccessible()
	p.Shot("not noted")
	lose("/viewed", 0)
	p.Click(again)
	p.Click(sign)
	p.WaitText("You have signed.")
}

// A document that gets lost is offered again, as are the scripts that show it.
func TestLostDocumentIsOfferedAgain(t *testing.T) {
	for _, lost := range []string{"/document.pdf", "/pdf.worker.min.mjs"} {
		t.Run(strings.Trim(lost, "/"), func(t *testing.T) {
			_, links, lose := lossy(t, "Offer of 20 pages")
			p := browsertest.Open(t, browsertest.Screen{Width: 360})
			p.AllowErrors("Failed to load resource")
			lose(lost, 1000)
			p.Go(links["ann@example.com"])
			p.WaitText("The document cannot be shown here. Try again")
			fill(p)
			p.Click(sign)
			p.WaitText("The first page must have been shown before you can sign.")
			lose(lost, 0)
			p.Click("#loading button")
			p.Wait(allPages)
			p.Wait("!document.querySelector('#loading').checkVisibility()")
			p.Wait("document.querySelector('#bar p').textContent === ''")
			p.Click(sign)
			p.WaitText("You have signed.")
		})
	}
}

// When a part of the script is lost, the page says so and works as it does without JavaScript.
func TestLostScript(t *testing.T) {
	_, links, lose := lossy(t, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.AllowErrors("Failed to load resource")
	lose("/fields.js", 1000)
	p.Go(links["ann@example.com"])
	p.WaitText("A part of this page could not be loaded. Reload the page.")
	p.RequireAccessible()
	p.Wait("getComputedStyle(document.querySelector('.plain')).visibility === 'visible'")
	require.True(t, browsertest.Eval[bool](p, "document.querySelector('.plain .again a').href === location.href"))
	fill(p)
	p.Click(sign)
	p.WaitText("The document was not shown to you yet: open it as a PDF and look at it, then sign.")
	p.AllowErrors("422")
	require.Equal(t, "Rome", browsertest.Eval[string](p, "document.querySelector('#f2').value"))
	p.Wait(`document.querySelector("` + again + `")`) // this page has lost it too
	lose("/fields.js", 0)
	p.Click(again)
	p.Wait("document.querySelector('main').dataset.shown")
}

// What was entered outlives a signature that gets lost, a reload and an absence from the page.
func TestNothingEnteredIsLost(t *testing.T) {
	_, links, lose := lossy(t, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.AllowErrors("Failed to load resource")
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.Click("[data-draw]")
	p.Wait("document.querySelector('#draw').open")
	box := browsertest.Eval[[4]float64](p, "(() => { const b = document.querySelector('#draw canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")
	p.Drag(box[0]+20, box[1]+20, box[0]+100, box[1]+60)
	p.Click("#draw-use")
	p.Type("#f2", "Rome")
	p.Click("#f4")
	p.Click("[name=agree]")
	p.Click("details summary")
	p.Type("#reason", "perhaps")
	kept := func() {
		t.Helper()
		p.Wait("document.querySelector('.spot.signature image') && document.querySelector('.spot.checkbox.filled')")
		require.Equal(t, "Rome perhaps true true", browsertest.Eval[string](p,
			"[document.querySelector('#f2').value, document.querySelector('#reason').value, document.querySelector('#f4').checked, document.querySelector('[name=agree]').checked].join(' ')"))
	}
	p.Go(links["ann@example.com"])
	kept()
	p.Go("about:blank")
	browsertest.Eval[bool](p, "history.back() ?? true")
	p.Wait("document.querySelector('main')?.dataset.shown")
	kept()
	require.Less(t, browsertest.Eval[int](p, "Object.values(sessionStorage)[0].length"), 1000, "strokes, no picture")
	p.Click("[data-draw]")
	p.Wait("!document.querySelector('#draw-undo').disabled")
	p.Drag(box[0]+20, box[1]+60, box[0]+100, box[1]+20)
	p.Click("#draw-undo")
	p.Click("#draw-use")
	kept()
	lose("/sign", 1000)
	p.Click(sign)
	p.WaitText("There was no answer, so whether it was done is not known. Everything is still here: try again.")
	kept()
	lose("/sign", 0)
	p.Click(again)
	p.WaitText("You have signed.")
	p.Wait("sessionStorage.length === 0")
}

// A browser without room, or that lets the page keep nothing, loses no entry in silence.
func TestNoRoomToKeepEntries(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	browsertest.Eval[bool](p, `(() => { for (let size = 1 << 24; size; size >>= 1) try { sessionStorage.setItem("x" + size, "x".repeat(size)) } catch {} return true })()`)
	p.Type("#f2", "Rome")
	p.WaitText("The browser has no room to keep what you enter.")
}

// What the fonts of the signed PDF lack is shown as it will be, and said before it is signed. A signature may have none of it.
func TestCharactersThatTheSignedPDFLacks(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelectorAll('.spot').length === 5")
	p.Type("#f0", "Ann عبد")
	p.Set("#f2", "Rome e\u0301 ש")
	browsertest.Eval[bool](p, `document.querySelector("#f2").dispatchEvent(new Event("input", { bubbles: true }))`)
	p.WaitText("The signed PDF cannot show: ع ب د. Draw it instead.")
	p.WaitText("The signed PDF cannot show: ש.")
	p.Wait("/é.*□/.test(document.querySelector('.spot.text').textContent)")
	p.Click("#f4")
	p.Click("[name=agree]")
	require.False(t, browsertest.Eval[bool](p, "document.querySelector('#sign-form').checkValidity()"))
	p.RequireAccessible()
	p.Shot("lacking")
	resp, err := service.HTTPClient().PostForm(links["ann@example.com"]+"/sign", url.Values{"agree": {"true"}, "f0": {"عبد"}, "f2": {"Rome"}, "f4": {"true"}})
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	require.Contains(t, string(page), "The signed PDF cannot show these characters of &#34;Signature&#34;: عبد. Use others, or draw it.")
	p.Click("[data-draw]")
	p.Wait("document.querySelector('#draw').open")
	p.Drag(40, 200, 200, 220)
	p.Click("#draw-use")
	p.Wait("document.querySelector('#sign-form').checkValidity()")
	p.Click(sign)
	p.WaitText("You have signed.")
	require.NotEmpty(t, find(t, service, id).Values[0].Image)
}

// A text that is too long for its field is refused while it is typed, on the page as in the form.
func TestSigning_textTooLong(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 1200})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelectorAll('.spot').length === 5")
	for _, control := range []string{"#f2", ".spot.text input"} {
		enter := func(text string) {
			p.Set(control, text)
			browsertest.Eval[bool](p, "document.querySelector("+strconv.Quote(control)+").dispatchEvent(new Event('input', { bubbles: true }))")
		}
		enter(strings.Repeat("Lausanne ", 1000))
		p.WaitText("Too long for its field: the first ")
		require.False(t, browsertest.Eval[bool](p, "document.querySelector('#f2').checkValidity()"), control)
		enter("Lausanne")
		p.Wait("document.querySelector('#f2').checkValidity()")
	}
}

// The script knows the characters that package pdf lacks.
func TestMissingCharacters(t *testing.T) {
	var ranges strings.Builder
	first := rune(-1)
	for r := rune(0); r <= 0x10000; r++ {
		switch has := r < 0x10000 && utf8.ValidRune(r) && len(pdf.Missing(string(r))) == 0; {
		case has && first < 0:
			first = r
		case !has && first >= 0:
			fmt.Fprintf(&ranges, `\u%04x`, first)
			if first < r-1 {
				fmt.Fprintf(&ranges, `-\u%04x`, r-1)
			}
			first = -1
		}
	}
	script, err := os.ReadFile("static/missing.js")
	require.NoError(t, err)
	require.Contains(t, string(script), "export const missing = /[^"+ranges.String()+"]/gu;\n")
}

// A signature whose answer gets lost has counted: trying again shows it.
func TestAnswerToSignatureIsLost(t *testing.T) {
	var lost atomic.Bool
	service := newLossyService(t, func(path string) bool { return strings.HasSuffix(path, "/document.pdf") && lost.Load() })
	id, links := offer(t, service, "Offer")
	p := filled(t, links["ann@example.com"])
	p.AllowErrors("Failed to load resource")
	require.NoError(t, service.Signer(id, "ann@example.com").Sign(entered...))
	p.Click(sign)
	p.WaitText("You have signed.")
	require.Equal(t, "?did=signed", browsertest.Eval[string](p, "location.search"))
}

// The script's geometry is that of the stamp, which package pdf holds against the same file.
func TestPlacesInFields(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer")
	vectors, err := os.ReadFile("../../../../testdata/stamp.json")
	require.NoError(t, err)
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(links["ann@example.com"])
	checked := browsertest.Eval[int](p, `(async () => {
		const stamp = await import(document.querySelector("main").dataset.assets + "/stamp.js");
		const { pictures, ticks, texts } = `+string(vectors)+`;
		let checked = 0;
		const same = (got, want) => {
			checked++;
			if (got.flat().length !== want.flat().length || got.flat().some((x, i) => !(Math.abs(x - want.flat()[i]) < 1e-5))) throw new Error(got + " and not " + want);
		};
		for (const c of pictures) {
			const at = stamp.pictureIn(...c.field, ...c.picture);
			same([at.x, at.y, at.width, at.height], [c.x, c.y, c.width, c.height]);
		}
		for (const c of ticks) {
			const { corners, line } = stamp.tickIn(...c.field);
			same([corners, line].flat(), [c.corners, c.line].flat());
		}
		for (const c of texts) {
			const sizes = stamp.textSizes(c.height);
			same([sizes.length, sizes[0], sizes.at(-1)], [c.sizes, c.largest, c.smallest]);
			same(c.baselines.map((_, i) => stamp.baseline(c.height, c.largest, c.lines, i)), c.baselines);
		}
		return checked;
	})()`)
	require.Equal(t, 21, checked)
}

// The button at the bottom leads through the fields on the page, and to the signature. The keyboard does the same.
func TestNextField(t *testing.T) {
	service := newService(t)
	id, links := offer(t, service, "Offer")
	p := browsertest.Open(t, browsertest.Screen{Width: 360, Touch: true})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelectorAll('.spot').length === 5")
	next := func(text, focus string) {
		t.Helper()
		require.Equal(t, text, browsertest.Eval[string](p, "document.querySelector('#next').textContent"))
		browsertest.Eval[bool](p, "document.querySelector('#next').focus() ?? true")
		p.Press("\r")
		require.Equal(t, focus, browsertest.Eval[string](p, "document.activeElement.ariaLabel ?? document.activeElement.name"))
		require.Equal(t, "true", browsertest.Eval[string](p, `(() => { const e = document.activeElement.getBoundingClientRect();
			return String(e.left >= 0 && e.right <= innerWidth && e.top >= 0 && e.bottom <= document.querySelector("#bar").getBoundingClientRect().top) || JSON.stringify(e) })()`), "can be seen")
	}
	next("Next field (1 of 5)", "Signature: draw or type")
	p.Press("\r")
	p.Wait("document.querySelector('#draw').open")
	p.RequireAccessible()
	p.Type("#draw-typed", "Ann Buyer")
	p.Press("\r")
	p.Wait("document.querySelector('.spot.signature.filled')")
	require.Equal(t, "Signature: change", browsertest.Eval[string](p, "document.activeElement.ariaLabel"))
	next("Next field (2 of 5)", "Initials: draw or type")
	next("Next field (3 of 5)", "City")
	next("Next field (4 of 5)", "Day")
	next("Next field (5 of 5)", "Insured")
	next("Next field (3 of 5)", "City") // it is required
	p.Press("Rome")
	p.Shot("typing")
	require.GreaterOrEqual(t, browsertest.Eval[float64](p, "parseFloat(getComputedStyle(document.activeElement).fontSize)"), 16.0, "smaller, and a phone zooms in")
	next("Next field (5 of 5)", "Insured")
	p.Press(" ")
	p.Shot("filled")
	next("Go to “Sign”", "agree")
	p.Press(" ")
	require.Equal(t, "Ann Buyer/Rome/true", browsertest.Eval[string](p, "[document.querySelector('#f0').value, document.querySelector('#f2').value, document.querySelector('#f4').checked].join('/')"))
	next("Go to “Sign”", "")
	p.Press("\r")
	p.WaitText("You have signed.")
	require.False(t, find(t, service, id).Signers[0].SignedAt.IsZero())
}

// Only the pages that are near hold memory.
func TestManyPagesHoldLittleMemory(t *testing.T) {
	service := newService(t)
	_, links := offer(t, service, "Offer of 20 pages")
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(links["ann@example.com"])
	p.Wait("document.querySelector('main').dataset.shown")
	p.Wait(allPages)
	most := 0
	for page := 0; page < 20; page += 2 {
		browsertest.Eval[bool](p, fmt.Sprintf("(document.querySelectorAll('.page')[%d].scrollIntoView(), true)", page))
		p.Wait(fmt.Sprintf("document.querySelectorAll('.page')[%d].dataset.drawn === ''", page))
		most = max(most, browsertest.Eval[int](p, "[...document.querySelectorAll('canvas')].reduce((sum, c) => sum + 4 * c.width * c.height, 0)"))
	}
	t.Logf("canvases: %d bytes at most", most)
	require.Less(t, most, 20_000_000)
	require.NotZero(t, most)
}

// hostile sends a document in which everything has this name, to two people.
func hostile(t *testing.T, service *servicetest.Server, name string) (links []string) {
	t.Helper()
	templateID := service.AddTemplate(refserver.Template{
		Name: name, SigningOrder: true, Roles: []refserver.Role{{Title: name}, {Title: "Seller"}},
		Fields: []refserver.TemplateField{
			{Name: name, Role: name, Kind: refserver.SignatureField, Required: true, Page: 1, X: 0.7, Y: 0.2, Width: 0.29, Height: 0.04},
			{Name: name + "2", Role: name, Kind: refserver.TextField, Page: 1, X: 0.2, Y: 0.2, Width: 0.3, Height: 0.02},
		},
	})
	sent, err := service.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: []signforms.Receiver{
		{Name: name, Email: "ann@example.com", RoleTitle: name}, {Name: name, Email: "sam@example.com", RoleTitle: "Seller"},
	}})
	require.NoError(t, err)
	return []string{string(sent.Signers[0].SentURL), string(sent.Signers[1].SentURL)}
}

func TestHostileNames(t *testing.T) {
	name := strings.Repeat("שלום<script>alert(1)</script> ", 10) + strings.Repeat("x", 300)
	service := newService(t)
	links := hostile(t, service, name)
	p := browsertest.Open(t, browsertest.Screen{Width: 320, Touch: true})
	everywhere := func(state string) {
		t.Helper()
		for _, screen := range []browsertest.Screen{{Width: 320, Touch: true}, {Width: 1280, Dark: true}} {
			p.Show(screen)
			p.RequireAccessible()
			if state == "drawing" {
				require.Greater(t, browsertest.Eval[float64](p, "document.querySelector('#draw canvas').getBoundingClientRect().height"), 90.0)
			}
			p.Shot(fmt.Sprint(state, screen.Width))
		}
	}
	p.Go(links[0])
	p.Wait("document.querySelector('main').dataset.shown")
	everywhere("ready")
	p.Click("[data-draw]")
	p.Wait("document.querySelector('#draw').open")
	everywhere("drawing")
	p.Go(links[1])
	p.Wait("document.querySelector('main').dataset.shown")
	everywhere("waiting")
}

// Fields come in the order in which they are read, whatever their order in the template: by page, line and from left to right.
func TestFieldsInReadingOrder(t *testing.T) {
	service := newService(t)
	at := func(name string, page int, x, y, height float64) refserver.TemplateField {
		return refserver.TemplateField{Name: name, Role: "Buyer", Kind: refserver.TextField, Page: page, X: x, Y: y, Width: 0.1, Height: height}
	}
	templateID := service.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, PDF: []byte("%PDF"), Fields: []refserver.TemplateField{
		at("seven", 2, 0.1, 0.1, 0.02), at("three", 1, 0.8, 0.2, 0.05), at("two", 1, 0.4, 0.22, 0.02), at("six", 1, 0.1, 0.9, 0.02),
		at("five", 1, 0.5, 0.31, 0.02), at("one", 1, 0.1, 0.21, 0.03), at("four", 1, 0.2, 0.3, 0.02),
	}})
	sent, err := service.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: templateID, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	require.NoError(t, err)
	resp, err := service.HTTPClient().Get(string(sent.Signers[0].SentURL))
	require.NoError(t, err)
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var names []string
	for _, m := range regexp.MustCompile(`data-field data-name="(\w+)"`).FindAllStringSubmatch(string(page), -1) {
		names = append(names, m[1])
	}
	require.Equal(t, []string{"one", "two", "three", "four", "five", "six", "seven"}, names)
}
