package pdf_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestCornersInAnyOrder: PDF allows any two opposite corners.
func TestCornersInAnyOrder(t *testing.T) {
	original := build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 4/Kids[3 0 R 4 0 R 5 0 R 6 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[200 300 0 0]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 300 200 0]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[7 0 R 300 0 0]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 700 900]/CropBox[210 310 10 10]>>", "200")
	pages, err := pdf.Inspect(original)
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]pdf.Page{{Width: 200, Height: 300}}, 4), pages)
	finishedWithSquares(t, original)
}

// TestCropBoxBesideThePage: what a viewer shows is the part of the crop box that is in the media box, or the media box.
func TestCropBoxBesideThePage(t *testing.T) {
	original := build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 3/Kids[3 0 R 4 0 R 5 0 R]/MediaBox[0 0 200 300]>>",
		"<</Type/Page/Parent 2 0 R/CropBox[700 900 800 1000]>>", "<</Type/Page/Parent 2 0 R/CropBox[-50 -50 180 400]>>",
		"<</Type/Page/Parent 2 0 R/CropBox[200 0 900 300]>>")
	pages, err := pdf.Inspect(original)
	require.NoError(t, err)
	require.Equal(t, []pdf.Page{{Width: 200, Height: 300}, {Width: 180, Height: 300}, {Width: 200, Height: 300}}, pages)
	finishedWithSquares(t, original)
}

// TestWhatStandsBeforeTheHeader: viewers look for the header in the first 1,024 bytes, and count from there.
func TestWhatStandsBeforeTheHeader(t *testing.T) {
	good := readFile(t, "testdata/cairo.pdf")
	for _, before := range []string{"\n", "<!DOCTYPE html><script>alert(1)</script>\n", strings.Repeat("x", 1024-len("%PDF-"))} {
		junk := append([]byte(before), good...)
		pages, err := pdf.Inspect(junk)
		require.NoError(t, err, "%.20q", before)
		require.NotEmpty(t, pages)
		finished, err := pdf.Finish(junk, nil, certificate(), newSealer(t))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(finished), "%PDF-"), "what stood before it is gone")
		require.Contains(t, tool(t, "pdfsig", save(t, finished)), "Total document signed")
		tool(t, "pdftotext", save(t, junk), "-") // a viewer takes it, too
	}
	_, err := pdf.Inspect(append([]byte(strings.Repeat("x", 1025-len("%PDF-"))), good...))
	require.ErrorIs(t, err, pdf.ErrNotPDF)
}

// TestStreamsThatDoNotEndWhereTheySay: pdfcpu takes Length bytes, viewers look for the end.
func TestStreamsThatDoNotEndWhereTheySay(t *testing.T) {
	const text = "BT /F1 24 Tf 72 700 Td (Hello) Tj ET"
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"right":              {stream("", []byte(text)), nil},
		"no line end":        {"<</Length 36>>\nstream\n" + text + "endstream", nil},
		"with the line end":  {"<</Length 37>>\nstream\n" + text + "\nendstream", nil},
		"no length":          {"<<>>\nstream\n" + text + "\nendstream", nil},
		"zero":               {"<</Length 0>>\nstream\n" + text + "\nendstream", nil},
		"one too small":      {"<</Length 35>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"30 too small":       {"<</Length 6>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"by reference":       {"<</Length 5 0 R>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"too large":          {"<</Length 60>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"a filter of F":      {stream("/F/ASCIIHexDecode", []byte("20")), pdf.ErrDamaged},
		"a filter in a list": {stream("/F[/ASCIIHexDecode]", []byte("20")), pdf.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			for _, use := range []string{"/Contents 4 0 R", "/Resources<</XObject<</X 4 0 R>>>>"} {
				_, err := pdf.Inspect(buildPage(use, c.stream, "9"))
				require.ErrorIs(t, err, c.want)
				require.Equal(t, c.want, pdf.Refusal(err))
			}
			_, err := pdf.Stamp(buildPage("/Contents 4 0 R", c.stream, "9"), nil)
			require.ErrorIs(t, err, c.want)
		})
	}
	updated := buildPage("/Contents 4 0 R", stream("", []byte(text)))
	previous := bytes.LastIndex(updated, []byte("xref\n0 "))
	object := len(updated)
	updated = fmt.Appendf(updated, "4 0 obj\n<</Length 5>>\nstream\n%s\nendstream\nendobj\n", text)
	updated = fmt.Appendf(updated, "xref\n4 1\n%010d 00000 n \ntrailer\n<</Size 5/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", object, previous, len(updated))
	_, err := pdf.Inspect(updated)
	require.ErrorContains(t, err, "the stream of object 4 is not as long as it says")
}
