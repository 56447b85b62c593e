package main

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// client returns a client of the sandbox.
func (s *served) client(t *testing.T) *signforms.Client {
	t.Helper()
	c, err := signforms.New(s.BaseURL, s.APIKey, &signforms.Options{WorkspaceID: s.WorkspaceID})
	require.NoError(t, err)
	return c
}

// addTemplate uploads a PDF in the console, places a signature of each role on it with the mouse, and returns the template's id.
func addTemplate(t *testing.T, s *served, p *browsertest.Page, file string, x, y float64) string {
	t.Helper()
	p.Go(s.BaseURL + "/_/templates/new")
	p.Type("#name", "Offer")
	p.Type("[aria-label='Role 1']", "Buyer")
	p.Type("[aria-label='Role 2']", "Seller")
	p.Upload("#pdf", file)
	p.Wait("document.querySelector('#template-form').dataset.shown")
	for i := range 2 {
		browsertest.Eval[int](p, fmt.Sprintf("document.querySelector('#add-for').selectedIndex = %d", i))
		browsertest.Eval[bool](p, `(document.querySelector(".page").scrollIntoView({block: "center"}), true)`)
		p.Click("[data-kind=signature]")
		at := browsertest.Eval[[]float64](p, `(() => { const page = document.querySelector(".page"), e = page.getBoundingClientRect();
			const field = document.querySelector(".placed.selected").getBoundingClientRect();
			return [e.left + page.clientLeft, e.top + page.clientTop, page.clientWidth, page.clientHeight, field.left, field.top] })()`)
		right, down := at[0]+at[2]*x-at[4], at[1]+at[3]*(y+0.2*float64(i))-at[5]
		p.Drag(at[4]+5, at[5]+5, at[4]+5+right, at[5]+5+down)
	}
	p.Wait("document.querySelectorAll('.placed').length === 2")
	p.Click("#template-form button.main")
	p.WaitText("It was added.")
	return browsertest.Eval[string](p, "location.pathname.split('/').at(-1)")
}

// sendOffer sends a template to a buyer and a seller.
func sendOffer(t *testing.T, s *served, templateID string) *signforms.TemplateSendResult {
	t.Helper()
	sent, err := s.client(t).Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers: []signforms.Receiver{
			{Name: "Zoë Łukasiewicz", Email: "zoe@example.com", RoleTitle: "Buyer"}, {Name: "Taro Tanaka", Email: "taro@example.com", RoleTitle: "Seller"},
		},
	})
	require.NoError(t, err)
	return sent
}

// drawSignature signs with a drawing that fills the area to draw in.
func drawSignature(p *browsertest.Page) {
	p.Click("[data-draw]")
	p.Wait("document.querySelector('#draw').open")
	box := browsertest.Eval[[]float64](p, "(() => { const b = document.querySelector('#draw canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height] })()")
	p.Drag(box[0]+2, box[1]+2, box[0]+box[2]-2, box[1]+box[3]-2)
	p.Click("#draw-use")
	p.Click("[name=agree]")
	p.Click("#sign-form button.main")
}

// fetch returns a body of the sandbox.
func (s *served) fetch(t *testing.T, address string) []byte {
	t.Helper()
	resp, err := http.Get(address)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s", body)
	return body
}

func poppler(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v (package poppler-utils): %s", name, args, out)
	return string(out)
}

// From the upload to the sealed file: a field that was placed on the screen is within two points of that place on the finished PDF,
// even on a page that is cropped and rotated.
func TestFromUploadToSealedPDF(t *testing.T) {
	s := serveInProcess(t, "--memory")
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	const x, y = 0.3, 0.2
	templateID := addTemplate(t, s, p, "internal/pdf/testdata/cropped-rotated.pdf", x, y)
	sent := sendOffer(t, s, templateID)
	for i := range sent.Signers {
		p.Go(string(sent.Signers[i].SentURL))
		p.Wait("document.querySelector('main').dataset.shown")
		if i == 0 {
			drawSignature(p)
			p.WaitText("You have signed.")
			continue
		}
		p.Type("[data-field] input", "田中 太郎")
		p.Click("[name=agree]")
		p.Click("#sign-form button.main")
	}
	p.WaitText("Everybody has signed.")
	p.Wait("document.querySelector('a[download]')")
	p.Shot("finished")

	signed, err := s.client(t).Respondents.Get(t.Context(), sent.DocumentID)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "finished.pdf")
	require.NoError(t, os.WriteFile(file, s.fetch(t, signed.FinishedPDFURL), 0o600))
	seal := poppler(t, "pdfsig", file)
	require.Contains(t, seal, "Signature is Valid.")
	require.Contains(t, seal, "Total document signed")
	text := poppler(t, "pdftotext", file, "-")
	for _, want := range []string{"Original words", "田中 太郎", "Zoë Łukasiewicz", "zoe@example.com signed", "from 127.0.0.1", "viewed it"} {
		require.Contains(t, text, want)
	}
	ink := inkOf(t, file)
	require.InDelta(t, x*500, ink[0], 2)
	require.InDelta(t, y*400, ink[1], 2)
	if folder := os.Getenv("SIGNFORMS_SHOTS"); folder != "" {
		poppler(t, "pdftoppm", "-png", "-singlefile", "-f", "2", "-r", "60", file, filepath.Join(folder, "certificate"))
	}
}

// inkOf returns left, top, right and bottom of what was drawn in the colour of signatures on the upper half of the first page, in points.
func inkOf(t *testing.T, file string) [4]float64 {
	t.Helper()
	prefix := filepath.Join(t.TempDir(), "page")
	poppler(t, "pdftoppm", "-cropbox", "-singlefile", "-r", "144", file, prefix)
	page, err := os.ReadFile(prefix + ".ppm")
	require.NoError(t, err)
	var width, height int
	_, err = fmt.Sscanf(string(page[:min(len(page), 30)]), "P6\n%d %d\n255\n", &width, &height)
	require.NoError(t, err)
	pixels := page[len(page)-3*width*height:] // red, green and blue of each
	left, top, right, bottom := 1e9, 1e9, 0.0, 0.0
	for y := range height / 2 {
		for x := range width {
			if p := pixels[3*(y*width+x):]; int(p[2]) > int(p[0])+0x10 && int(p[2]) > int(p[1])+0x10 {
				left, top = min(left, float64(x)/2), min(top, float64(y)/2)
				right, bottom = max(right, float64(x+1)/2), max(bottom, float64(y+1)/2)
			}
		}
	}
	return [4]float64{left, top, right, bottom}
}

// newOtherSite serves the example of examples/embedding under another site's name and returns its origin.
func newOtherSite(t *testing.T, baseURL *string) (origin string) {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "forged.html" {
			w.Write([]byte(`<!doctype html><script>parent.postMessage({source: "signforms", event: "forged"}, "*"); document.title = "sent"</script>`))
			return
		}
		if name == "" {
			name = "index.html"
		}
		data, err := os.ReadFile("../../examples/embedding/" + filepath.Base(name))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(filepath.Ext(name)))
		w.Write(bytes.ReplaceAll(data, []byte("http://127.0.0.1:4874"), []byte(*baseURL)))
	}))
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
}

// The link opens in a page of another site that is allowed, and sends events to that page. It opens in no other site's page.
func TestEmbeddedSigning(t *testing.T) {
	var baseURL string
	allowed, stranger := newOtherSite(t, &baseURL), newOtherSite(t, &baseURL)
	s := serveInProcess(t, "--memory", "--frame-ancestor", allowed, "--frame-ancestor", "https://app.example.com")
	baseURL = s.BaseURL
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	var fields []refserver.TemplateField
	for i, role := range []string{"Buyer", "Seller"} {
		fields = append(fields, refserver.TemplateField{
			Name: role, Role: role, Kind: refserver.SignatureField, Required: true, Page: 1, X: 0.2, Y: 0.2 + 0.2*float64(i), Width: 0.3, Height: 0.05,
		})
	}
	sent := offerWith(t, s, "internal/pdf/testdata/pdftex.pdf", fields...)

	p.Go(allowed + "/#" + string(sent.Signers[0].SentURL))
	p.WaitText("viewed")
	p.Shot("embedded")
	require.Contains(t, p.Text(), "ready")
	frame := p.Frame("/sign/")
	frame.Set("[data-field] input", "Zoë")
	browsertest.Eval[bool](frame, "document.querySelector('[name=agree]').click() ?? true")
	browsertest.Eval[bool](frame, "document.querySelector('#sign-form button.main').click() ?? true")
	p.WaitText("signed")
	require.Equal(t, []string{"ready", "viewed", "ready", "signed"}, browsertest.Eval[[]string](p, "[...document.querySelectorAll('#events li')].map((e) => e.textContent)"), "each once")

	// The last signer's page tells both, and the page that was left open tells when all have signed.
	last := browsertest.Open(t, browsertest.Screen{Width: 1280})
	last.Go(allowed + "/#" + string(sent.Signers[1].SentURL))
	last.WaitText("viewed")
	frame = last.Frame(path.Base(string(sent.Signers[1].SentURL)))
	frame.Set("[data-field] input", "Taro")
	browsertest.Eval[bool](frame, "document.querySelector('[name=agree]').click() ?? true")
	browsertest.Eval[bool](frame, "document.querySelector('#sign-form button.main').click() ?? true")
	heard := func(page *browsertest.Page) []string {
		return browsertest.Eval[[]string](page, "[...document.querySelectorAll('#events li')].map((e) => e.textContent)")
	}
	last.WaitText("finished")
	require.Equal(t, []string{"ready", "viewed", "ready", "signed", "finished"}, heard(last)[:5])
	p.WaitText("finished")
	frame.WaitText("Download the signed PDF")
	for _, page := range []*browsertest.Page{p, last} {
		require.Len(t, slices.DeleteFunc(heard(page), func(e string) bool { return e != "finished" }), 1)
	}

	// The page gets events only from the frame that it embeds: not from another frame, and not after the frame went to another site.
	browsertest.Eval[bool](p, `(() => { window.second = [];
		signforms.embed(document.body, `+strconv.Quote(string(sent.Signers[1].SentURL))+`, (e) => window.second.push(e.event)); return true })()`)
	p.Wait("window.second.includes('ready')")
	browsertest.Eval[bool](p, `(() => { window.heard = false; addEventListener("message", (e) => { window.heard ||= e.data.event === "forged" });
		document.querySelector("iframe").src = `+strconv.Quote(stranger+"/forged.html")+`; return true })()`)
	p.Wait("window.heard")
	require.NotContains(t, heard(p), "forged")
	require.Equal(t, "null", browsertest.Eval[string](p, "JSON.stringify(document.cookie || null)"))

	other := browsertest.Open(t, browsertest.Screen{Width: 1280})
	other.Go(stranger + "/#" + string(sent.Signers[1].SentURL))
	other.Wait("document.querySelector('iframe')")
	other.WaitError("frame-ancestors")
	require.NotContains(t, other.Text(), "ready")
}

// The login page contains its style sheet, which its policy allows by a hash.
func TestLoginPage(t *testing.T) {
	s := serveInProcess(t, "--memory", "--token", "open sesame")
	for _, name := range []string{"phone light", "desktop dark"} {
		p := browsertest.Open(t, browsertest.Screens[name])
		p.Go(s.BaseURL + "/_/")
		p.RequireAccessible()
		p.Shot(name)
		require.Equal(t, "0px", browsertest.Eval[string](p, "getComputedStyle(document.body).margin"), "the style is not applied")
		p.Type("#token", "wrong")
		p.Click("button.main")
		p.WaitText("That is not the token.")
		p.AllowErrors("401")
		p.Type("#token", "open sesame")
		p.Click("button.main")
		p.WaitText("Point a client here")
		p.Go(s.BaseURL + "/_/requests")
		s.get(t, "/before")
		p.WaitText("GET /before")
		browsertest.Eval[bool](p, `fetch("/_/api/v1/status", {headers: {Authorization: "Bearer wrong"}}).then(() => true)`) // takes the cookie back
		s.get(t, "/get-documents")
		p.WaitText("You are not logged in any more, so this page may be out of date.")
	}
}
