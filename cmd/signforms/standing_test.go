package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// offerWith sends a document with these fields to a buyer and a seller, who sign in this order.
func offerWith(t *testing.T, s *served, file string, fields ...refserver.TemplateField) *signforms.TemplateSendResult {
	t.Helper()
	original, err := os.ReadFile(file)
	require.NoError(t, err)
	template, err := json.Marshal(refserver.Template{
		Name: "Offer", SigningOrder: true, Roles: []refserver.Role{{Title: "Buyer"}, {Title: "Seller"}}, PDF: original, Fields: fields,
	})
	require.NoError(t, err)
	resp, err := http.Post(s.BaseURL+"/_/api/v1/templates", "application/json", strings.NewReader(string(template)))
	require.NoError(t, err)
	defer resp.Body.Close()
	var added struct{ ID string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&added))
	return sendOffer(t, s, added.ID)
}

// words waits until the page of the document that is near shows a text, which it draws and has for screen readers.
func words(p *browsertest.Page, text string) {
	p.Wait(`[...document.querySelectorAll(".page .hidden")].some((e) => e.textContent.includes(` + strconv.Quote(text) + `))`)
}

// Everybody sees what those before have entered, where it will be stamped, and in the end the finished file.
func TestOthersSeeWhatWasEntered(t *testing.T) {
	s := serveInProcess(t, "--memory")
	field := func(name, role string, kind refserver.FieldKind, y float64) refserver.TemplateField {
		return refserver.TemplateField{Name: name, Role: role, Kind: kind, Required: true, Page: 1, X: 0.2, Y: y, Width: 0.3, Height: 0.05}
	}
	sent := offerWith(t, s, "internal/pdf/testdata/pdftex.pdf", field("Price", "Buyer", refserver.TextField, 0.2), field("Mark", "Seller", refserver.SignatureField, 0.6))
	ann, sam := browsertest.Open(t, browsertest.Screen{Width: 1280}), browsertest.Open(t, browsertest.Screen{Width: 360, Touch: true})
	sam.Go(string(sent.Signers[1].SentURL))
	sam.WaitText("It is not your turn yet")
	ann.Go(string(sent.Signers[0].SentURL))
	ann.Wait("document.querySelector('main').dataset.shown")
	ann.Type("#f0", "1,000,000")
	ann.Click("[name=agree]")
	ann.Click("#sign-form button.main")
	ann.WaitText("You have signed.")
	words(ann, "1,000,000")

	sam.WaitText("fill in your fields and sign") // without a reload by hand
	words(sam, "1,000,000")
	sam.RequireAccessible()
	sam.Shot("second")
	file := filepath.Join(t.TempDir(), "standing.pdf")
	require.NoError(t, os.WriteFile(file, s.fetch(t, string(sent.Signers[1].SentURL)+"/document.pdf"), 0o600))
	before := inkOf(t, file)
	require.InDelta(t, 0.2*595, before[0], 2)
	require.NotContains(t, string(s.fetch(t, string(sent.Signers[1].SentURL)+"/document.pdf")), "ETSI", "not sealed yet")

	sam.Wait("document.querySelector('main').dataset.shown")
	sam.Type("#f1", "Taro")
	sam.Click("[name=agree]")
	sam.Click("#sign-form button.main")
	for _, p := range []*browsertest.Page{sam, ann} {
		p.WaitText("Download the signed PDF")
		words(p, "1,000,000")
		words(p, "Taro")
		p.Wait(`document.querySelectorAll(".page").length === 3`) // with the certificate
	}
	sam.Shot("finished")
	finished := s.fetch(t, browsertest.Eval[string](sam, "document.querySelector('a[download]').href"))
	require.Contains(t, string(finished), "/SubFilter/ETSI.CAdES.detached")
	require.NoError(t, os.WriteFile(file, finished, 0o600))
	require.Equal(t, before, inkOf(t, file), "what was entered stands where it stood")
}

// A line drawn from edge to edge fills its field on the page and in the finished file, on a phone and on a desktop.
func TestStrokeAndStampAgree(t *testing.T) {
	s := serveInProcess(t, "--memory")
	for _, width := range []int{320, 1280} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			const x, y, w, h, pageWidth, pageHeight = 0.2, 0.2, 0.3, 0.05, 595.28, 841.89
			sent := offerWith(t, s, "internal/pdf/testdata/pdftex.pdf", refserver.TemplateField{
				Name: "Signature", Role: "Buyer", Kind: refserver.SignatureField, Required: true, Page: 1, X: x, Y: y, Width: w, Height: h,
			})
			p := browsertest.Open(t, browsertest.Screen{Width: width, Touch: width < 1000})
			p.Go(string(sent.Signers[0].SentURL))
			p.Wait("document.querySelector('main').dataset.shown")
			p.Click("#next")
			p.Press("\r")
			p.Wait("document.querySelector('#draw').open")
			area := browsertest.Eval[[4]float64](p, "(() => { const b = document.querySelector('#draw canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")
			require.Greater(t, area[2], min(float64(width)*0.9, 700), "the width to draw in")
			var points [][2]float64
			for _, at := range [][2]float64{{0, .5}, {.2, .4}, {.4, .62}, {.6, .4}, {.8, .62}, {1, .5}} {
				points = append(points, [2]float64{area[0] + at[0]*area[2], area[1] + at[1]*area[3]})
			}
			p.Stroke(points[:3]...)
			p.Click("#draw-undo")
			p.Stroke(points...)
			p.Shot("drawing")
			p.Click("#draw-use")
			p.Wait("document.querySelector('.spot.signature image')")
			shown := browsertest.Eval[[4]float64](p, `(() => { const i = document.querySelector(".spot image").getBoundingClientRect(), b = document.querySelector(".page").getBoundingClientRect();
				return [(i.left - b.left) / b.width, (i.top - b.top) / b.height, (i.right - b.left) / b.width, (i.bottom - b.top) / b.height] })()`)
			p.Shot("drawn")
			p.Click("[name=agree]")
			p.Click("#sign-form button.main")
			p.WaitText("You have signed.")
			file := filepath.Join(t.TempDir(), "standing.pdf")
			require.NoError(t, os.WriteFile(file, s.fetch(t, string(sent.Signers[0].SentURL)+"/document.pdf"), 0o600))
			ink := inkOf(t, file)
			scale := min(w*pageWidth/area[2], h*pageHeight/(area[3]*.22))
			for i, want := range [4]float64{
				x * pageWidth, (y+h/2)*pageHeight - area[3]*.11*scale, x*pageWidth + area[2]*scale, (y+h/2)*pageHeight + area[3]*.11*scale,
			} {
				require.InDelta(t, want, ink[i], 2, "side %d of what was drawn", i)
				require.InDelta(t, ink[i], shown[i]*[2]float64{pageWidth, pageHeight}[i%2], 2, "side %d of what the page shows", i)
			}
		})
	}
}
