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
	pages, err := pdf.Inspect(original)
	require.NoError(t, err)
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

// TestContentCannotReachTheMarks: each content ends in a way that would hide or move what follows in the same stream. It is a page's whole
// content, and the second part of another's.
func TestContentCannotReachTheMarks(t *testing.T) {
	ends := []string{
		"% a comment", "Q Q Q", "Q Q .1 0 0 .1 0 0 cm", "q q .1 0 0 .1 0 0 cm", "0 0 9 9 re W n", "BT 3 Tr ET", "BT 3 Tr", "(open", "<41", "[", "<<",
		"BI /W 9 /H 9 /BPC 8 /CS /G ID ab", "/OC /L BDC", "BX", "0 0 m 9 9 l",
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
	require.Equal(t, len(ends), strings.Count(tool(t, "qpdf", "--qdf", "--stream-data=uncompress", finished, "-"), "q\nBT /F1"),
		"viewers guess what qBT means")
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

// TestTagsGo: the text of a tagged file stays, without the structure that led to it.
func TestTagsGo(t *testing.T) {
	original := build("<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/StructParents 0/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		stream("", []byte("/P <</MCID 0>> BDC BT /F1 24 Tf 72 700 Td (Hello) Tj ET EMC")), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[7 0 R]]>>>>", "<</Type/StructElem/S/P/P 6 0 R/Pg 3 0 R/K 0>>")
	finished := save(t, finishedWithSquares(t, original))
	require.Regexp(t, `Tagged: +no`, tool(t, "pdfinfo", finished))
	require.Contains(t, tool(t, "pdftotext", finished, "-"), "Hello")
}
