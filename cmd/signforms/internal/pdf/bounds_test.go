package pdf_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestCornersInAnyOrder: PDF allows any two opposite corners.
func TestCornersInAnyOrder(t *testing.T) {
	original := build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 4/Kids[3 0 R 4 0 R 5 0 R 6 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[200 300 0 0]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 300 200 0]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[7 0 R 300 0 0]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 700 900]/CropBox[210 310 10 10]>>", "200")
	pages := pagesOf(t, original)
	require.Equal(t, slices.Repeat([]pdf.Page{{Width: 200, Height: 300}}, 4), pages)
	finishedWithSquares(t, original)
}

// TestInspect_cropBox: browsers show the part of the crop box that is in the media box. If there is none, viewers disagree.
func TestInspect_cropBox(t *testing.T) {
	original := build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]/MediaBox[0 0 200 300]>>",
		"<</Type/Page/Parent 2 0 R/CropBox[-50 -50 180 400]>>", "<</Type/Page/Parent 2 0 R/CropBox[100 0 900 300]>>")
	require.Equal(t, []pdf.Page{{Width: 180, Height: 300}, {Width: 100, Height: 300}}, pagesOf(t, original))
	for _, beside := range []string{"[700 900 800 1000]", "[200 0 900 300]", "[0 0 0 0]", "[1 2 3]"} {
		_, err := pdf.Inspect(buildPage("/MediaBox[0 0 200 300]/CropBox" + beside))
		require.ErrorIs(t, err, pdf.ErrDamaged, beside)
	}
}

// TestInspect_streamLength: a stream that an update depends on ends where it says. Viewers search for the end of others.
func TestInspect_streamLength(t *testing.T) {
	const text = "BT /F1 24 Tf 72 700 Td (Hello) Tj ET"
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"right":              {stream("", []byte(text)), nil},
		"no line end":        {"<</Length 36>>\nstream\n" + text + "endstream", nil},
		"with the line end":  {"<</Length 37>>\nstream\n" + text + "\nendstream", nil},
		"by reference":       {"<</Length 6 0 R>>\nstream\n" + text + "\nendstream", nil},
		"no length":          {"<<>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"zero":               {"<</Length 0>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"one too small":      {"<</Length 35>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"its own length":     {"<</Length 4 0 R>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"wrong reference":    {"<</Length 5 0 R>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"too large":          {"<</Length 60>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"a filter of F":      {stream("/F/ASCIIHexDecode", []byte("20")), pdf.ErrDamaged},
		"a filter in a list": {stream("/F[/ASCIIHexDecode]", []byte("20")), pdf.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pdf.Inspect(buildPage("/Contents 4 0 R", c.stream, "9", "36"))
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.want, pdf.Refusal(err))
			_, err = pdf.Finish(buildPage("/Contents 4 0 R", c.stream, "9", "36"), nil, certificate(), newSealer(t))
			require.ErrorIs(t, err, c.want)
		})
	}
}
