package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// finishedWithSquares stamps a red square of 59.5 points on each page and requires that it is drawn where it was placed.
func finishedWithSquares(t *testing.T, original []byte) []byte {
	t.Helper()
	pages := pagesOf(t, original)
	var marks []pdf.Mark
	for i, page := range pages {
		marks = append(marks, squareOn(i+1, page))
	}
	finished, err := pdf.Finish(original, marks, certificate(), newSealer(t))
	require.NoError(t, err)
	requireSquares(t, finished, pages)
	require.Contains(t, tool(t, "qpdf", "--check", save(t, finished)), "No syntax or stream encoding errors found")
	return finished
}

// TestFinish_openContent: each content ends in a way that would hide or move what follows in the same stream. It is the
// whole content of a page, and the second part of another's.
func TestFinish_openContent(t *testing.T) {
	ends := []string{
		"% a comment", "q .1 0 0 .1 0 0 cm", "q .1 0 0 .1 0 0 cm q", ".1 0 0 .1 0 0 cm", "0 0 9 9 re W n", "BT 3 Tr ET",
		"q (Q) <51> /Q Q q .1 0 0 .1 0 0 cm % Q", "q [(Q)] TJ 9 0 0 9 0 0 cm BI /W 9 /H 9 /BPC 8 /CS /G ID a\nQ Q\nEI Q\nb EI",
		"/OC /L BDC", "/OC /L BDC /A BMC EMC", "BX", "0 0 m 9 9 l",
	}
	objects := []string{"<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[4 0 R]/D<</OFF[4 0 R]>>>>>>", "",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", "<</Type/OCG/Name(Layer)>>", stream("", []byte("q"))}
	var kids string
	for _, end := range ends {
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R %d 0 R ", n+1, n+2)
		objects = append(objects, stream("", []byte("BT /F1 24 Tf 20 150 Td (Hello) Tj ET "+end)),
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>", n), fmt.Sprintf("<</Type/Page/Parent 2 0 R/Contents[5 0 R %d 0 R]>>", n))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 200 200]/Resources<</Font<</F1 3 0 R>>/Properties<</L 4 0 R>>>>>>", 2*len(ends), kids)
	finished := save(t, finishedWithSquares(t, build(objects...)))
	require.Equal(t, 2*len(ends), strings.Count(tool(t, "pdftotext", finished, "-"), "Hello"))
}

// TestInspect_content: viewers repair these contents in different ways, or would draw the marks in another place.
func TestInspect_content(t *testing.T) {
	for content, want := range map[string]string{
		"Q":                                "restores a state of graphics",
		"q Q Q":                            "restores a state of graphics",
		"BT 3 Tr":                          "ends inside a text",
		"(open":                            "a string without an end",
		"<41":                              "a string without an end",
		"[":                                "ends inside a list",
		"<<":                               "ends inside a list",
		"BI /W 9 /H 9 /BPC 8 /CS /G ID ab": "ends inside a picture",
		"qBT ET":                           "split in different ways",
	} {
		t.Run(content, func(t *testing.T) {
			_, err := pdf.Inspect(buildPage("/Contents 4 0 R", stream("", []byte(content))))
			require.ErrorIs(t, err, pdf.ErrDamaged)
			require.ErrorContains(t, err, want)
		})
	}
}

// TestMarksStandUpright: the rotation may be inherited and may go round more than once.
func TestMarksStandUpright(t *testing.T) {
	original := build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 8/Kids[3 0 R 4 0 R 5 0 R 6 0 R 7 0 R 9 0 R 11 0 R 13 0 R]/MediaBox[10 20 310 220]>>",
		"<</Type/Page/Parent 2 0 R/Rotate 0>>", "<</Type/Page/Parent 2 0 R/Rotate 180>>",
		"<</Type/Page/Parent 2 0 R/Rotate -90>>", "<</Type/Page/Parent 2 0 R/Rotate -270>>",
		"<</Type/Pages/Parent 2 0 R/Count 1/Kids[8 0 R]/Rotate 90>>", "<</Type/Page/Parent 7 0 R>>",
		"<</Type/Pages/Parent 2 0 R/Count 1/Kids[10 0 R]/Rotate 270>>", "<</Type/Page/Parent 9 0 R>>",
		"<</Type/Pages/Parent 2 0 R/Count 1/Kids[12 0 R]/Rotate 450>>", "<</Type/Page/Parent 11 0 R>>",
		"<</Type/Pages/Parent 2 0 R/Count 1/Kids[14 0 R]/Rotate 720>>", "<</Type/Page/Parent 13 0 R>>")
	finishedWithSquares(t, original)
}
