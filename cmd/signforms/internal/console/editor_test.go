package console_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// fileOf writes a file with a hostile name.
func fileOf(t *testing.T, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), strings.ReplaceAll(hostile, "/", "")+".pdf")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return file
}

func pdfOf(t *testing.T, pages int) string {
	t.Helper()
	data, err := pdf.Draw("Offer", strings.Split(strings.Repeat("A line of the offer.\n", 40*pages), "\n"))
	require.NoError(t, err)
	return fileOf(t, data)
}

const cropped = "../pdf/testdata/cropped-rotated.pdf"

// edit opens the editor and waits until it shows this many pages.
func edit(p *browsertest.Page, address string, pages int) {
	p.Go(address)
	p.Wait(fmt.Sprintf("document.querySelector('#template-form').dataset.shown === '%d'", pages))
}

// newTemplate opens the editor of a new template with a PDF.
func newTemplate(t *testing.T, service *servicetest.Server, screen browsertest.Screen, file string) *browsertest.Page {
	t.Helper()
	p := browsertest.Open(t, screen)
	p.Go(service.URL + "/_/templates/new")
	p.Upload("#pdf", file)
	p.Wait("document.querySelector('#template-form').dataset.shown")
	p.Type("#name", "Offer")
	p.Type("[aria-label='Role 1']", "Buyer")
	p.Type("[aria-label='Role 2']", "Seller")
	return p
}

// middleOf returns where the middle of an element is in the window.
func middleOf(p *browsertest.Page, selector string) (x, y float64) {
	at := browsertest.Eval[[]float64](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q).getBoundingClientRect(); return [e.left + e.width / 2, e.top + e.height / 2] })()`, selector))
	return at[0], at[1]
}

// sizeOf returns the size of the first page on the screen.
func sizeOf(p *browsertest.Page) (width, height float64) {
	at := browsertest.Eval[[]float64](p, `(() => { const e = document.querySelector(".page"); return [e.clientWidth, e.clientHeight] })()`)
	return at[0], at[1]
}

// entered returns the fields as the form holds them.
func entered(p *browsertest.Page) []refserver.TemplateField {
	return browsertest.Eval[[]refserver.TemplateField](p, "JSON.parse(document.querySelector('[name=fields]').value)")
}

func save(p *browsertest.Page, says string) {
	p.Click("#template-form button.main")
	p.WaitText(says)
}

func TestFieldsAreMovedResizedAndDeletedByMouseAndFinger(t *testing.T) {
	for name, screen := range map[string]browsertest.Screen{"mouse": {Width: 1280}, "finger": {Width: 360, Touch: true, Dark: true}} {
		t.Run(name, func(t *testing.T) {
			service := newConsole(t)
			p := newTemplate(t, service, screen, cropped)
			drag := func(selector string, right, down float64) {
				x, y := middleOf(p, selector)
				browsertest.Eval[bool](p, "(window.up = false, addEventListener('pointerup', () => (window.up = true), { once: true }), true)")
				if screen.Touch {
					p.Stroke([2]float64{x, y}, [2]float64{x + right/2, y + down/2}, [2]float64{x + right, y + down})
				} else {
					p.Drag(x, y, x+right, y+down)
				}
				p.Wait("window.up")
			}
			p.Click("[data-kind=text]")
			p.Click("[data-kind=checkbox]")
			require.Len(t, entered(p), 2)
			p.Shot("added")
			before := entered(p)[1]
			require.GreaterOrEqual(t, before.Y, entered(p)[0].Y+entered(p)[0].Height, "a new field covers no other")
			width, height := sizeOf(p)
			drag(".placed.selected", 60, 30)
			require.Len(t, entered(p), 2, "dragging a field adds none")
			moved := entered(p)[1]
			require.InDelta(t, before.X+60/width, moved.X, 2/width)
			require.InDelta(t, before.Y+30/height, moved.Y, 2/height)
			require.Equal(t, before.Width, moved.Width)
			drag(".placed.selected i", 30, 20)
			resized := entered(p)[1]
			require.InDelta(t, before.Width+30/width, resized.Width, 2/width)
			require.InDelta(t, before.Height+20/height, resized.Height, 2/height)
			require.Equal(t, moved.X, resized.X)
			drag(".placed.selected", 5000, -5000)
			at := entered(p)[1]
			require.InDelta(t, 1, at.X+at.Width, 1e-9, "it stays on its page")
			require.Zero(t, at.Y)
			p.RequireAccessible()
			p.Shot("placed")
			p.Click("#remove")
			save(p, "It was added.")
			fields := service.Templates()[0].Fields
			require.Len(t, fields, 1)
			require.Equal(t, refserver.TextField, fields[0].Kind)
		})
	}
}

func TestTemplateByKeyboardAlone(t *testing.T) {
	service := newConsole(t)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/templates/new")
	p.Upload("#pdf", cropped)
	p.Wait("document.querySelector('#template-form').dataset.shown")
	for _, step := range []struct{ at, keys string }{
		{"#name", "Offer"}, {"[aria-label='Role 1']", "Buyer"}, {"[aria-label='Role 2']", "Seller"}, {"#add-role", "\r"}, {"[aria-label='Role 3']", "Notary"},
		{"#add-for", "S"}, {"[data-kind=date]", "\r"}, {".placed", strings.Repeat(kb.ArrowRight, 2) + kb.ArrowUp},
	} {
		p.Reach(step.at)
		p.Press(step.keys)
	}
	placed := entered(p)
	require.InDelta(t, 0.425+0.01, placed[0].X, 1e-9)
	p.Reach("#field-role")
	p.Press("N")
	p.Reach("#field-required")
	p.Press(" ")
	p.Reach(".main")
	p.Shot("keyboard")
	p.Press("\r")
	p.WaitText("It was added.")
	template := service.Templates()[0]
	require.Equal(t, []refserver.Role{{Title: "Buyer"}, {Title: "Seller"}, {Title: "Notary"}}, template.Roles)
	require.Len(t, template.Fields, 1)
	require.Equal(t, "Seller date", template.Fields[0].Name)
	require.Equal(t, "Notary", template.Fields[0].Role)
	require.False(t, template.Fields[0].Required)

	edit(p, service.URL+"/_/templates/"+template.ID+"/edit", 1)
	p.Reach(".placed")
	p.Press(kb.Delete)
	require.Empty(t, entered(p))
	require.True(t, browsertest.Eval[bool](p, "document.activeElement.matches('[data-kind]')"), "the focus is not lost")
}

// A template is edited after it was sent: its role gets another name, and its PDF and fields stay.
func TestTemplateIsEdited(t *testing.T) {
	service := newConsole(t)
	data, err := os.ReadFile(cropped)
	require.NoError(t, err)
	field := refserver.TemplateField{Name: "City " + hostile, Role: "Buyer " + hostile, Kind: refserver.TextField, Required: true, Page: 1, X: 0.1, Y: 0.1, Width: 0.2, Height: 0.05}
	id := service.AddTemplate(refserver.Template{
		Name: "Offer " + hostile, Roles: []refserver.Role{{Title: "Buyer " + hostile, Colour: "#abc"}}, PDF: data, SigningOrder: true,
		Fields: []refserver.TemplateField{field}, Variables: []string{"[v1]"}, AuthorEmail: "author@example.org",
	})
	sent, err := service.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: id, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer " + hostile}},
	})
	require.NoError(t, err)
	before, _ := service.FindTemplate(id)
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	other := browsertest.Open(t, browsertest.Screen{Width: 1280})
	edit(other, service.URL+"/_/templates/"+id+"/edit", 1)
	edit(p, service.URL+"/_/templates/"+id+"/edit", 1)
	p.Set("[aria-label='Role 1']", "Tenant")
	require.Equal(t, "Tenant", entered(p)[0].Role)
	p.RequireAccessible()
	save(p, "Documents already sent stay as they were.")

	after, _ := service.FindTemplate(id)
	field.Role = "Tenant"
	want := before
	want.Roles, want.Fields, want.UpdatedAt = []refserver.Role{{Title: "Tenant", Colour: "#abc"}}, []refserver.TemplateField{field}, after.UpdatedAt
	require.Equal(t, want, after)
	kept, err := service.TemplatePDF(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, data, kept)
	d, _ := service.FindDocument(sent.DocumentID)
	require.Equal(t, before.Fields, d.Fields)

	// The other tab does not replace that unasked.
	other.Set("#name", "Lease")
	save(other, "The template was changed after you had opened it")
	other.WaitError("422")
	now, _ := service.FindTemplate(id)
	require.Equal(t, after, now)
	require.Equal(t, "Lease", browsertest.Eval[string](other, "document.querySelector('#name').value"))
	save(other, "It was changed.")
	now, _ = service.FindTemplate(id)
	require.Equal(t, "Lease", now.Name)
}

// A file is withdrawn: fields are shown on the empty page that the template then is, or listed.
func TestWithdrawnFile(t *testing.T) {
	service := newConsole(t)
	p := newTemplate(t, service, browsertest.Screen{Width: 1280}, pdfOf(t, 2))
	pages := browsertest.Eval[int](p, "document.querySelectorAll('.page').length")
	p.Click("[data-kind=text]")
	p.Set("#field-page", fmt.Sprint(pages))
	p.Wait("document.querySelector('.page:last-child .placed')")
	p.Click("[data-kind=date]")
	p.Set("#field-page", "1")
	browsertest.Eval[bool](p, `(() => { const e = document.querySelector("#pdf"); e.value = ""; return e.dispatchEvent(new Event("change", { bubbles: true })) })()`)
	p.Wait("document.querySelector('#template-form').dataset.shown === '1'")
	p.WaitText(fmt.Sprintf("Buyer text (page %d)", pages))
	save(p, "PDF: The last page is 1.")
	p.Click("#lost button")
	p.Click("#remove")
	p.Click("#undo")
	p.WaitText(fmt.Sprintf("Buyer text (page %d)", pages))
	p.Set("#field-page", "1")
	save(p, "It was added.")
	template := service.Templates()[0]
	require.False(t, template.HasPDF)
	require.Equal(t, []int{1, 1}, []int{template.Fields[0].Page, template.Fields[1].Page})
}

// What is done to fields can be undone by keyboard and by buttons, and no text changes with it.
func TestUndo(t *testing.T) {
	service := newConsole(t)
	p := newTemplate(t, service, browsertest.Screen{Width: 1280}, cropped)
	p.Click("[data-kind=text]")
	added := entered(p)
	steps := []func(){
		func() { p.Press(kb.ArrowRight) },
		func() { x, y := middleOf(p, ".placed.selected"); p.Drag(x, y, x+40, y+10) },
		func() { x, y := middleOf(p, ".placed.selected i"); p.Drag(x, y, x+40, y+10) },
		func() { p.Click("#field-required") },
		func() { p.Set("#field-name", "City") },
		func() { p.Click("#field-name"); p.Press("!?") }, // one step
		func() { p.Click("[data-kind=date]") },
		func() { p.Press(kb.Delete) },
	}
	states := [][]refserver.TemplateField{nil, added}
	for _, step := range steps {
		step()
		states = append(states, entered(p))
		require.NotEqual(t, states[len(states)-2], states[len(states)-1])
	}
	press := func(key string) { p.PressWithControl(key) }
	browsertest.Eval[bool](p, "document.querySelector('.placed').focus() ?? true")
	for i := len(states) - 2; i >= 0; i-- {
		press("z")
		require.Equal(t, len(states[i]), len(entered(p)), i)
		if i > 0 {
			require.Equal(t, states[i], entered(p), i)
		}
	}
	require.True(t, browsertest.Eval[bool](p, "document.querySelector('#undo').disabled"))
	for _, state := range states[1:] {
		p.Click("#redo")
		require.Equal(t, state, entered(p))
	}
	press("z")
	press("y")
	require.Equal(t, states[len(states)-1], entered(p))
	require.Equal(t, "Buyer Seller Offer", browsertest.Eval[string](p, `["[aria-label='Role 1']", "[aria-label='Role 2']", "#name"].map((s) => document.querySelector(s).value).join(" ")`))
	p.Click("[aria-label='Role 1']")
	p.Press("s")
	press("z")
	p.Wait("document.querySelector(\"[aria-label='Role 1']\").value === 'Buyer'")
	require.Equal(t, states[len(states)-1], entered(p))
	p.RequireAccessible()
	p.Shot("undone")
}

// What a stored field lacks, since it is zero, is undone too.
func TestUndoOfAStoredField(t *testing.T) {
	service := newConsole(t)
	id := service.AddTemplate(refserver.Template{
		Name: "Lease", Roles: []refserver.Role{{Title: "Buyer"}},
		Fields: []refserver.TemplateField{{Name: "City", Role: "Buyer", Kind: "text", Page: 1, Width: 0.2, Height: 0.05}},
	})
	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/templates/" + id + "/edit")
	p.Click(".placed")
	before := entered(p)
	for _, step := range []func(){func() { p.Click("#field-required") }, func() { p.Press(kb.ArrowRight) }} {
		browsertest.Eval[bool](p, "document.querySelector('.placed').focus() ?? true")
		step()
		require.NotEqual(t, before, entered(p))
		p.Click("#undo")
		require.Equal(t, before, entered(p))
	}
}

// What was entered stays when the form is refused, the file too, and is sent again.
func TestRefusedUploadLosesNothing(t *testing.T) {
	service := newConsole(t)
	p := newTemplate(t, service, browsertest.Screen{Width: 1280}, cropped)
	long := strings.Repeat("x", refserver.MaxName)
	p.Set("[aria-label='Role 1']", long)
	p.Click("[data-kind=text]")
	p.Set("[aria-label='Role 2']", long)
	save(p, "like that of another role")
	p.WaitError("422")
	p.RequireAccessible()
	p.Shot("refused")
	p.Set("[aria-label='Role 2']", "Seller")
	save(p, "It was added.")
	template := service.Templates()[0]
	require.True(t, template.HasPDF)
	require.Len(t, template.Fields, 1)

	for _, c := range []struct {
		size   int
		says   string
		status string
	}{
		{0, "The file is empty", "422"}, {pdf.MaxSize + 1, "The file is larger than 20 MB: upload a smaller one.", "422"},
		{26_000_000, "The file is larger than 20 MB: upload a smaller one.", fmt.Sprint(http.StatusRequestEntityTooLarge)},
	} {
		data := make([]byte, c.size)
		copy(data, "%PDF-1.7\n")
		p.Go(service.URL + "/_/documents/new")
		p.WaitText("Up to 20 MB")
		p.Type("#name", "Lease")
		p.Type("#signers", "Ann Buyer <ann@example.com>")
		p.Upload("#pdf", fileOf(t, data))
		p.Click("button.main")
		p.WaitText(c.says)
		p.WaitError(c.status)
		require.Equal(t, "Lease", browsertest.Eval[string](p, "document.querySelector('#name').value"))
		require.Equal(t, 1, browsertest.Eval[int](p, "document.querySelector('#pdf').files.length"))
	}
}
