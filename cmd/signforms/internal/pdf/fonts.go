package pdf

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"
)

// The fonts of this package. DejaVu Sans Condensed covers Latin, Greek, Cyrillic and more; Droid Sans Fallback covers Chinese and
// Japanese; Nanum Square covers Korean. Scripts that need shaping, such as Arabic and Devanagari, are not shown.
const (
	fontRegular = "regular"
	fontBold    = "bold"
	fontItalic  = "italic"
	fontHan     = "han"
	fontHangul  = "hangul"
)

// embedded has the files, whose origins and licences are in fonts/README.md.
//
//go:embed fonts/*.ttf.gz
var embedded embed.FS

// ttf has the unpacked files of the fonts.
var ttf = map[string]func() []byte{
	fontRegular: unpacked("DejaVuSansCondensed"),
	fontBold:    unpacked("DejaVuSansCondensed-Bold"),
	fontItalic:  unpacked("DejaVuSansCondensed-Oblique"),
	fontHan:     unpacked("DroidSansFallbackFull"),
	fontHangul:  unpacked("NanumSquareR"),
}

func unpacked(name string) func() []byte {
	return sync.OnceValue(func() []byte { return must(unpack(name)) })
}

func unpack(name string) ([]byte, error) {
	f, err := embedded.Open("fonts/" + name + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic("pdf: embedded font: " + err.Error())
	}
	return v
}

// coverage is the set of characters that a font has.
type coverage struct {
	mu   sync.Mutex
	font *sfnt.Font
	buf  sfnt.Buffer
}

func coverageOf(name string) func() *coverage {
	return sync.OnceValue(func() *coverage { return &coverage{font: must(sfnt.Parse(ttf[name]()))} })
}

func (c *coverage) has(r rune) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, err := c.font.GlyphIndex(&c.buf, r)
	return err == nil && i != 0
}

var dejavu, droid, nanum = coverageOf(fontRegular), coverageOf(fontHan), coverageOf(fontHangul)

// missingGlyph replaces a character that no font has.
const missingGlyph = '□'

// fontFor returns the font that shows r: font itself if it can, otherwise another one, or "" if no font can.
func fontFor(r rune, font string) string {
	switch {
	case r > 0xffff: // fpdf embeds only characters of the basic plane
		return ""
	case unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Nko, unicode.Lao): // DejaVu has these characters, but they need shaping
		return ""
	case dejavu().has(r):
		return font
	case unicode.Is(unicode.Hangul, r) && nanum().has(r):
		return fontHangul
	case droid().has(r):
		return fontHan
	}
	return ""
}

// Missing returns the characters of text that the embedded fonts cannot show, each once, in order.
// A finished document shows □ in their place.
func Missing(text string) []rune {
	var missing []rune
	for _, r := range norm.NFC.String(text) {
		if !unicode.IsControl(r) && fontFor(r, fontRegular) == "" && !slices.Contains(missing, r) {
			missing = append(missing, r)
		}
	}
	return missing
}

// textRun is a piece of text that one font can show.
type textRun struct {
	font string
	text string
}

// runs splits text into pieces that one font can show. Control characters become spaces.
func runs(text, font string) []textRun {
	var out []textRun
	var piece strings.Builder
	end := func() {
		if len(out) > 0 {
			out[len(out)-1].text = piece.String()
			piece.Reset()
		}
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			r = ' '
		}
		use := fontFor(r, font)
		if use == "" {
			r, use = missingGlyph, fontHan
		}
		if len(out) > 0 && out[len(out)-1].font == use {
			piece.WriteRune(r)
			continue
		}
		end()
		out = append(out, textRun{font: use})
		piece.WriteRune(r)
	}
	end()
	return out
}

// canvas is a PDF under construction. Its unit is the point. Its origin is the top left corner of the page.
type canvas struct {
	*fpdf.Fpdf
	used map[string]map[rune]bool // written characters, by the name of their font
}

func newCanvas() *canvas {
	f := fpdf.New("P", "pt", "A4", "")
	f.SetAutoPageBreak(false, 0)
	f.SetMargins(0, 0, 0)
	f.SetCellMargin(0)
	f.SetCompression(true)
	f.SetCreationDate(time.Unix(0, 0).UTC()) // a constant date, so that the same input gives the same bytes
	f.SetModificationDate(time.Unix(0, 0).UTC())
	f.SetCatalogSort(true)
	return &canvas{Fpdf: f, used: map[string]map[rune]bool{}}
}

func (c *canvas) useFont(name string, size float64) {
	if c.used[name] == nil {
		c.AddUTF8FontFromBytes(name, "", ttf[name]())
		c.used[name] = map[rune]bool{}
	}
	c.SetFont(name, "", size)
}

// width returns the width of text.
func (c *canvas) width(text, font string, size float64) float64 {
	var w float64
	for _, run := range runs(text, font) {
		c.useFont(run.font, size)
		w += c.GetStringWidth(run.text)
	}
	return w
}

// text draws one line with its baseline at y.
func (c *canvas) text(x, y float64, text, font string, size float64) {
	for _, run := range runs(text, font) {
		c.useFont(run.font, size)
		c.Text(x, y, run.text)
		for _, r := range run.text {
			c.used[run.font][r] = true
		}
		x += c.GetStringWidth(run.text)
	}
}

func (c *canvas) bytes() ([]byte, error) {
	var out bytes.Buffer
	if err := c.Output(&out); err != nil {
		return nil, err
	}
	return slim(out.Bytes(), c.used), nil
}
