package pdf_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
			original := readFile(t, name)
			pages, err := pdf.Inspect(original)
			require.NoError(t, err)
			finished, err := pdf.Finish(original, []pdf.Mark{
				{Page: 1, X: 0.3, Y: 0.5, Width: 0.4, Height: 0.06, Text: "Stamped Zoë Привет 田中 한국"}, squareOn(t, pages[0]),
			}, certificate(), sealer)
			require.NoError(t, err)
			requireSquare(t, finished, pages[0])
			file := save(t, finished)
			require.Contains(t, tool(t, "qpdf", "--check", file), "No syntax or stream encoding errors found")
			seal := tool(t, "pdfsig", file)
			require.Contains(t, seal, "Signature is Valid.")
			require.Contains(t, seal, "Total document signed")
			text := tool(t, "pdftotext", file, "-")
			hash := sha256.Sum256(original)
			for _, want := range []string{hex.EncodeToString(hash[:]), "Zoë", "Привет", "田中", "한국", "Document 0d8e3a4c", "192.0.2.7", "SHA-256"} {
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
func redSquare(t *testing.T) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 40, 40))
	for x := range 40 {
		for y := range 40 {
			picture.Set(x, y, color.RGBA{R: 255, A: 255})
		}
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, picture))
	return out.Bytes()
}

// squareOn is a mark that draws a red square of 59.5 points on the first page.
func squareOn(t *testing.T, page pdf.Page) pdf.Mark {
	t.Helper()
	return pdf.Mark{Page: 1, X: 0.62, Y: 0.17, Width: 59.5 / page.Width, Height: 59.5 / page.Height, Image: redSquare(t)}
}

// requireSquare requires that the square is drawn where it was placed, and the page as large as it was.
func requireSquare(t *testing.T, finished []byte, page pdf.Page) {
	t.Helper()
	drawn := render(t, finished)
	left, top, right, bottom := redBounds(drawn)
	require.InDeltaSlice(t, []float64{0.62 * page.Width, 0.17 * page.Height, 0.62*page.Width + 59.5, 0.17*page.Height + 59.5, page.Width, page.Height},
		[]float64{left, top, right, bottom, float64(drawn.Bounds().Dx()), float64(drawn.Bounds().Dy())}, 2)
}

// render draws the first page as a viewer shows it, a pixel for each point.
func render(t *testing.T, data []byte) image.Image {
	t.Helper()
	file := save(t, data)
	prefix := strings.TrimSuffix(file, ".pdf")
	tool(t, "pdftoppm", "-cropbox", "-png", "-singlefile", "-r", "72", file, prefix)
	drawn, err := png.Decode(bytes.NewReader(readFile(t, prefix+".png")))
	require.NoError(t, err)
	return drawn
}

// redBounds returns the edges of the red pixels, in pixels.
func redBounds(drawn image.Image) (left, top, right, bottom float64) {
	left, top = math.Inf(1), math.Inf(1)
	for y := range drawn.Bounds().Dy() {
		for x := range drawn.Bounds().Dx() {
			r, g, b, _ := drawn.At(x, y).RGBA()
			if r > 0xc000 && g < 0x4000 && b < 0x4000 {
				left, top = min(left, float64(x)), min(top, float64(y))
				right, bottom = max(right, float64(x+1)), max(bottom, float64(y+1))
			}
		}
	}
	return left, top, right, bottom
}

func TestFinishAddsToTheForm(t *testing.T) {
	finished, err := pdf.Finish(readFile(t, "testdata/pdflib-form.pdf"), nil, certificate(), newSealer(t))
	require.NoError(t, err)
	require.Contains(t, string(finished), "/SigFlags 3")
	require.Contains(t, tool(t, "pdftotext", save(t, finished), "-"), "in a form")
}

func TestCertificateOfManySigners(t *testing.T) {
	cert := certificate()
	long := strings.Repeat("Maximiliane-Wilhelmine ", 12)
	for range 40 {
		cert.Signers = append(cert.Signers, pdf.CertificateSigner{Name: long, Email: strings.Repeat("x", 200) + "@example.com", Role: "Witness", Status: "SIGNED"})
		cert.Events = append(cert.Events, pdf.CertificateEvent{At: day, Who: long, What: "signed", Address: "2001:db8::1"})
	}
	finished, err := pdf.Finish(readFile(t, "testdata/cairo.pdf"), nil, cert, newSealer(t))
	require.NoError(t, err)
	text := tool(t, "pdftotext", save(t, finished), "-")
	require.Equal(t, 80, strings.Count(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(long), " ")))
}

func TestCertificateNamesWhatTheFontsLack(t *testing.T) {
	cert := certificate()
	cert.Signers[0].Name = "مريم"
	finished, err := pdf.Finish(readFile(t, "testdata/cairo.pdf"), nil, cert, newSealer(t))
	require.NoError(t, err)
	require.Contains(t, tool(t, "pdftotext", save(t, finished), "-"), "U+0645")
}

func TestFinishRefusesWhatInspectRefuses(t *testing.T) {
	_, err := pdf.Finish(readFile(t, "testdata/encrypted.pdf"), nil, certificate(), newSealer(t))
	require.ErrorIs(t, err, pdf.ErrEncrypted)
}

// A value that has no page is not left out in silence.
func TestMarkOnAPageThatIsNotThere(t *testing.T) {
	original := readFile(t, "testdata/cairo.pdf")
	pages, err := pdf.Inspect(original)
	require.NoError(t, err)
	marks := []pdf.Mark{{Page: len(pages) + 1, Width: 0.1, Height: 0.1, Text: "Rome"}}
	_, err = pdf.Finish(original, marks, certificate(), newSealer(t))
	require.ErrorContains(t, err, "the PDF has too few pages: a value is to be on page 2, and the last is 1")
	_, err = pdf.Stamp(original, marks)
	require.ErrorContains(t, err, "the PDF has too few pages")
}

func TestTextOfAMarkStaysInItsBox(t *testing.T) {
	original := readFile(t, "testdata/cairo.pdf")
	pages, err := pdf.Inspect(original)
	require.NoError(t, err)
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

// The certificate names the characters of values that the page shows as boxes too. A letter with an accent of its own is one character.
func TestCertificateNamesMissingCharactersOfValues(t *testing.T) {
	mark := pdf.Mark{Page: 1, X: 0.3, Y: 0.5, Width: 0.4, Height: 0.06, Text: "Stampede\u0301 ש"}
	finished, err := pdf.Finish(readFile(t, "testdata/pdftex.pdf"), []pdf.Mark{mark}, certificate(), newSealer(t))
	require.NoError(t, err)
	text := tool(t, "pdftotext", save(t, finished), "-")
	require.Contains(t, text, "Stampedé □")
	require.Contains(t, text, "shown as □: U+05E9\n")
}
