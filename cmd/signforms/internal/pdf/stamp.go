package pdf

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"sort"

	"codeberg.org/go-pdf/fpdf"
)

// Mark is something to draw on a page: a text, a picture or a tick.
type Mark struct {
	Page                int     // from 1
	X, Y, Width, Height float64 // the box, as fractions of the visible page, from its top left corner
	Text                string  // drawn on as many lines as the box has room for; made smaller until it fits
	Italic              bool    // draws Text slanted, as a typed signature
	Image               []byte  // a PNG, drawn as large as fits, instead of Text and Tick
	Tick                bool    // a tick, drawn as large as fits, instead of Text
}

// overlay draws the overlay of pages of one size: the marks of a page, and the footer unless it is
// empty.
func (c *canvas) overlay(o overlay, marks []Mark, footer string) {
	c.AddPageFormat("P", fpdf.SizeType{Wd: o.size.Width, Ht: o.size.Height})
	for _, m := range marks {
		if m.Page == o.page {
			c.mark(o.size, m)
		}
	}
	if footer != "" {
		c.SetTextColor(110, 110, 110)
		c.text(12, o.size.Height-8, footer, fontRegular, min(7, o.size.Height/20))
	}
}

func (c *canvas) mark(page Page, m Mark) {
	x, y, w, h := m.X*page.Width, m.Y*page.Height, m.Width*page.Width, m.Height*page.Height
	switch {
	case len(m.Image) > 0:
		c.picture(m.Image, x, y, w, h)
	case m.Tick:
		c.tick(x, y, w, h)
	case m.Text != "":
		c.SetTextColor(15, 23, 70)
		c.fit(x, y, w, h, m.Text, m.font())
	}
}

func (m Mark) font() string {
	if m.Italic {
		return fontItalic
	}
	return fontRegular
}

// maxPixels is how many pixels a picture may have.
const maxPixels = 4_000_000

// picture draws a PNG image in a box.
func (c *canvas) picture(file []byte, x, y, w, h float64) {
	plain, err := plainPNG(file)
	if err != nil {
		c.SetError(fmt.Errorf("the picture of a signature: %w", err))
		return
	}
	name := fmt.Sprintf("%x", sha256.Sum256(file)) // fpdf would write the same image twice if it had two names
	info := c.RegisterImageOptionsReader(name, fpdf.ImageOptions{ImageType: "PNG"}, plain)
	if c.Err() || info.Width() <= 0 || info.Height() <= 0 {
		return
	}
	at := pictureIn(w, h, info.Width(), info.Height())
	c.ImageOptions(name, x+at.x, y+at.y, at.width, at.height, false, fpdf.ImageOptions{ImageType: "PNG"}, 0, "")
}

// plainPNG converts a PNG to 8 bits per channel without interlacing. fpdf reads no other kind of
// PNG. fpdf also copies data that unpacks to more than the image, and panics on data that unpacks
// to less.
func plainPNG(file []byte) (*bytes.Buffer, error) {
	config, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if config.Width > maxPixels/config.Height {
		return nil, fmt.Errorf("it has %d × %d pixels, and may have %d in all", config.Width, config.Height, maxPixels)
	}
	picture, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	plain := image.NewNRGBA(picture.Bounds())
	draw.Draw(plain, plain.Bounds(), picture, picture.Bounds().Min, draw.Src)
	var out bytes.Buffer
	return &out, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, plain)
}

func (c *canvas) tick(x, y, w, h float64) {
	at, line := tickIn(w, h)
	c.SetDrawColor(15, 23, 70)
	c.SetLineWidth(line)
	c.MoveTo(x+at[0][0], y+at[0][1])
	c.LineTo(x+at[1][0], y+at[1][1])
	c.LineTo(x+at[2][0], y+at[2][1])
	c.DrawPath("D")
}

// fit draws text in a box, wrapped, in the largest size from 2 to 14 points that fits.
func (c *canvas) fit(x, y, w, h float64, text, font string) {
	size := c.sizeFor(text, font, w, h)
	lines := c.wrap(text, font, size, w)
	for i, line := range lines {
		c.text(x, y+baseline(h, size, len(lines), i), line, font, size)
	}
}

// sizeFor returns the largest font size, from about 2 to 14 points, in which the text fits into a
// box. If the text fits in none of these sizes, sizeFor continues with smaller sizes. It uses a
// binary search, because wrapping a long text takes tens of milliseconds.
func (c *canvas) sizeFor(text, font string, w, h float64) float64 {
	sizes := textSizes(h)
	size := sizes[sort.Search(len(sizes)-1, func(i int) bool { return c.fits(text, font, sizes[i], w, h) })]
	for size > 0.1 && !c.fits(text, font, size, w, h) { // otherwise the text would cover the area around the box
		size /= 2
	}
	return size
}

func (c *canvas) fits(text, font string, size, w, h float64) bool {
	lines := c.wrap(text, font, size, w)
	return float64(len(lines))*size*leading <= h+0.01 && c.widest(lines, font, size) <= w
}

// fitting returns how many of the first characters of a text fit into a box in the smallest size.
func (c *canvas) fitting(text, font string, w, h float64) int {
	sizes := textSizes(h)
	runes := []rune(text)
	return sort.Search(len(runes), func(i int) bool { return !c.fits(string(runes[:i+1]), font, sizes[len(sizes)-1], w, h) })
}

func (c *canvas) widest(lines []string, font string, size float64) float64 {
	var widest float64
	for _, line := range lines {
		widest = max(widest, c.width(line, font, size))
	}
	return widest
}
