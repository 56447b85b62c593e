package pdf_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

var day = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// foreign returns the names of test files that other programs made and that Inspect accepts.
func foreign(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*.pdf")
	require.NoError(t, err)
	var names []string
	for _, name := range all {
		if !strings.HasPrefix(filepath.Base(name), "encrypted") {
			names = append(names, name)
		}
	}
	require.GreaterOrEqual(t, len(names), 12)
	return names
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

// pagesOf returns the pages of a file that Inspect accepts.
func pagesOf(t *testing.T, data []byte) []pdf.Page {
	t.Helper()
	content, err := pdf.Inspect(data)
	require.NoError(t, err)
	return content.Pages
}

func newSealer(t testing.TB) *pdf.Sealer {
	t.Helper()
	sealer, err := pdf.NewSealer(day)
	require.NoError(t, err)
	return sealer
}

func certificate() pdf.Certificate {
	return pdf.Certificate{
		DocumentID:   "0d8e3a4c-5a4e-4c55-9a2b-3f1f0c6d7e88",
		DocumentName: "Offer for Zoë",
		Finished:     day,
		Signers:      []pdf.CertificateSigner{{Name: "Zoë Łukasiewicz", Email: "zoe@example.com", Role: "Buyer", Status: "SIGNED"}},
		Events: []pdf.CertificateEvent{
			{At: day.Add(-time.Hour), What: "sent to zoe@example.com"},
			{At: day, Who: "Zoë Łukasiewicz", What: "signed", Address: "192.0.2.7"},
		},
	}
}

// tool runs a program of poppler or qpdf and returns what it printed.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v (packages poppler-utils and qpdf): %s", name, args, out)
	return string(out)
}

// save writes data into a file of the test.
func save(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file.pdf")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	return name
}

func TestFinishForeignFiles(t *testing.T) {
	sealer := newSealer(t)
	for _, name := range foreign(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			original := readFile(t, name)
			pages := pagesOf(t, original)
			stamped := "Stamped Zoë Привет"
			if name == "testdata/pdftex.pdf" { // drawing with these fonts takes long
				stamped += " 田中 한국"
			}
			finished, err := pdf.Finish(original, []pdf.Mark{
				{Page: 1, X: 0.3, Y: 0.5, Width: 0.4, Height: 0.06, Text: stamped}, squareOn(1, pages[0]),
			}, certificate(), sealer)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(finished, original))
			requireSquares(t, finished, pages[:1])
			require.Contains(t, string(finished), "/SigFlags 3")
			file := save(t, finished)
			require.Contains(t, tool(t, "qpdf", "--check", file), "No syntax or stream encoding errors found")
			seal := tool(t, "pdfsig", file)
			require.Contains(t, seal, "Signature is Valid.")
			require.Contains(t, seal, "Total document signed")
			text := tool(t, "pdftotext", file, "-")
			hash := sha256.Sum256(original)
			for _, want := range append(strings.Fields(stamped), hex.EncodeToString(hash[:]), "Document 0d8e3a4c", "192.0.2.7", "SHA-256") {
				require.Contains(t, text, want)
			}
			for _, word := range strings.Fields(tool(t, "pdftotext", name, "-")) {
				require.Contains(t, text, word)
			}
		})
	}
}

func TestChangedByteBreaksTheSeal(t *testing.T) {
	finished, err := pdf.Finish(readFile(t, "testdata/pdftex.pdf"), nil, certificate(), newSealer(t))
	require.NoError(t, err)
	at := bytes.Index(finished, []byte("/Producer"))
	require.Positive(t, at)
	finished[at+len("/Producer(")+2] ^= 1
	require.Contains(t, tool(t, "pdfsig", save(t, finished)), "Digest Mismatch")
}

// redSquare is a picture that is on no page of the test files.
var redSquare = sync.OnceValue(func() []byte {
	picture := image.NewRGBA(image.Rect(0, 0, 40, 40))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(color.RGBA{R: 255, A: 255}), image.Point{}, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		panic(err)
	}
	return out.Bytes()
})

// squareOn is a mark that draws a red square of 59.5 points on page n.
func squareOn(n int, page pdf.Page) pdf.Mark {
	return pdf.Mark{Page: n, X: 0.62, Y: 0.17, Width: 59.5 / page.Width, Height: 59.5 / page.Height, Image: redSquare()}
}

// requireSquares requires that on each page the square is drawn where it was placed, and the page as large as it was.
func requireSquares(t *testing.T, finished []byte, pages []pdf.Page) {
	t.Helper()
	for i, drawn := range render(t, finished, len(pages)) {
		page := pages[i]
		left, top, right, bottom := drawn.redBounds()
		require.InDeltaSlice(t, []float64{0.62 * page.Width, 0.17 * page.Height, 0.62*page.Width + 59.5, 0.17*page.Height + 59.5, page.Width, page.Height},
			[]float64{left, top, right, bottom, float64(drawn.width), float64(drawn.height)}, 2, "page %d", i+1)
	}
}

// drawnPage is a page as a viewer shows it, a pixel for each point. A pixel is three bytes: red, green and blue.
type drawnPage struct {
	width, height int
	pixels        []byte
}

// render draws the first pages.
func render(t *testing.T, data []byte, pages int) []drawnPage {
	t.Helper()
	file := save(t, data)
	tool(t, "pdftoppm", "-cropbox", "-r", "72", "-l", strconv.Itoa(pages), file, file)
	names, err := filepath.Glob(file + "-*.ppm")
	require.NoError(t, err)
	require.Len(t, names, pages)
	drawn := make([]drawnPage, pages)
	for i, name := range names {
		d := &drawn[i]
		d.pixels = readFile(t, name)
		_, err := fmt.Sscanf(string(d.pixels[:min(len(d.pixels), 30)]), "P6\n%d %d\n255\n", &d.width, &d.height)
		require.NoError(t, err)
		d.pixels = d.pixels[len(d.pixels)-3*d.width*d.height:]
	}
	return drawn
}

// redBounds returns the edges of the red pixels.
func (d drawnPage) redBounds() (left, top, right, bottom float64) {
	left, top = math.Inf(1), math.Inf(1)
	for y := range d.height {
		for x := range d.width {
			if p := d.pixels[3*(y*d.width+x):]; p[0] > 0xc0 && p[1] < 0x40 && p[2] < 0x40 {
				left, top = min(left, float64(x)), min(top, float64(y))
				right, bottom = max(right, float64(x+1)), max(bottom, float64(y+1))
			}
		}
	}
	return left, top, right, bottom
}

func TestCertificateOfManySigners(t *testing.T) {
	cert := certificate()
	long := strings.Repeat("Maximiliane-Wilhelmine ", 12)
	for range 10 {
		cert.Signers = append(cert.Signers, pdf.CertificateSigner{Name: long, Email: strings.Repeat("x", 200) + "@example.com", Role: "Witness", Status: "SIGNED"})
		cert.Events = append(cert.Events, pdf.CertificateEvent{At: day, Who: long, What: "signed", Address: "2001:db8::1"})
	}
	finished, err := pdf.Finish(readFile(t, "testdata/cairo.pdf"), nil, cert, newSealer(t))
	require.NoError(t, err)
	text := tool(t, "pdftotext", save(t, finished), "-")
	require.Equal(t, 20, strings.Count(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(long), " ")))
}

func TestFinishRefusesWhatInspectRefuses(t *testing.T) {
	_, err := pdf.Finish(readFile(t, "testdata/encrypted.pdf"), nil, certificate(), newSealer(t))
	require.ErrorIs(t, err, pdf.ErrEncrypted)
}

// A value that has no page is not left out in silence.
func TestMarkOnAPageThatIsNotThere(t *testing.T) {
	original := readFile(t, "testdata/cairo.pdf")
	pages := pagesOf(t, original)
	marks := []pdf.Mark{{Page: len(pages) + 1, Width: 0.1, Height: 0.1, Text: "Rome"}}
	_, err := pdf.Finish(original, marks, certificate(), newSealer(t))
	require.ErrorContains(t, err, "the PDF has too few pages: a value is to be on page 2, and the last is 1")
	_, err = pdf.Stamp(original, marks)
	require.ErrorContains(t, err, "the PDF has too few pages")
}

func TestTextOfAMarkStaysInItsBox(t *testing.T) {
	original := readFile(t, "testdata/cairo.pdf")
	pages := pagesOf(t, original)
	long := strings.Repeat("much too long for the box ", 20)
	mark := pdf.Mark{Page: 1, X: 0.3, Y: 0.5, Width: 0.2, Height: 0.02, Text: long}
	finished, err := pdf.Finish(original, []pdf.Mark{mark}, certificate(), newSealer(t))
	require.NoError(t, err)

	words := 0
	for word := range strings.Lines(tool(t, "pdftotext", "-l", "1", "-bbox", save(t, finished), "-")) {
		var left, top, right, bottom float64
		if _, err := fmt.Sscanf(strings.TrimSpace(word), `<word xMin="%f" yMin="%f" xMax="%f" yMax="%f">`, &left, &top, &right, &bottom); err != nil || bottom-top > 4 {
			continue // the page's own words are larger
		}
		words++
		require.GreaterOrEqual(t, left, mark.X*pages[0].Width-1)
		require.LessOrEqual(t, right, (mark.X+mark.Width)*pages[0].Width+1)
		require.GreaterOrEqual(t, top, mark.Y*pages[0].Height-1)
		require.LessOrEqual(t, bottom, (mark.Y+mark.Height)*pages[0].Height+1)
	}
	require.Equal(t, len(strings.Fields(long)), words)
}

// The certificate names the characters of names and values that are shown as boxes. A letter with an accent of its own is one character.
func TestCertificateNamesWhatTheFontsLack(t *testing.T) {
	cert := certificate()
	cert.Signers[0].Name = "مريم"
	mark := pdf.Mark{Page: 1, X: 0.3, Y: 0.5, Width: 0.4, Height: 0.06, Text: "Stampede\u0301 ש"}
	finished, err := pdf.Finish(readFile(t, "testdata/pdftex.pdf"), []pdf.Mark{mark}, cert, newSealer(t))
	require.NoError(t, err)
	text := tool(t, "pdftotext", save(t, finished), "-")
	require.Contains(t, text, "Stampedé □")
	require.Contains(t, text, "shown as □: U+0645 U+0631 U+064A U+05E9\n")
}
