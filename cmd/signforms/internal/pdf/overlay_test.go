package pdf_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// finishedWithSquare stamps a red square of 59.5 points on the first page and requires that it is drawn where it was placed.
func finishedWithSquare(t *testing.T, original []byte) []byte {
	t.Helper()
	pages, err := pdf.Inspect(original)
	require.NoError(t, err)
	finished, err := pdf.Finish(original, []pdf.Mark{squareOn(t, pages[0])}, certificate(), newSealer(t))
	require.NoError(t, err)
	requireSquare(t, finished, pages[0])
	require.Contains(t, tool(t, "qpdf", "--check", save(t, finished)), "No syntax or stream encoding errors found")
	return finished
}

// TestContentCannotReachTheMarks: each content ends in a way that would hide or move what follows in the same stream.
func TestContentCannotReachTheMarks(t *testing.T) {
	const text = "BT /F1 24 Tf 72 700 Td (Hello) Tj ET "
	resources := "/Resources<</Font<</F1 5 0 R>>/Properties<</L 6 0 R>>>>"
	ends := []string{
		"% a comment", "Q Q Q", "Q Q .1 0 0 .1 0 0 cm", "q q .1 0 0 .1 0 0 cm", "0 0 9 9 re W n", "BT 3 Tr ET", "BT 3 Tr", "(open", "<41", "[", "<<",
		"BI /W 9 /H 9 /BPC 8 /CS /G ID ab", "/OC /L BDC", "BX", "0 0 m 9 9 l",
	}
	for i, end := range ends {
		t.Run(end, func(t *testing.T) {
			all := []struct{ contents, first, second string }{{"4 0 R", text + end, ""}, {"[4 0 R 7 0 R]", "q", text + end}}
			for _, c := range all[i%2 : i%2+1] { // rendering takes long
				original := build("<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
					"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents "+c.contents+resources+">>", stream("", []byte(c.first)),
					"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", "<</Type/OCG/Name(Layer)>>", stream("", []byte(c.second)))
				finished := finishedWithSquare(t, original)
				require.Contains(t, tool(t, "pdftotext", save(t, finished), "-"), "Hello")
				if c.first == "q" { // viewers guess what qBT means
					require.Contains(t, tool(t, "qpdf", "--qdf", "--stream-data=uncompress", save(t, finished), "-"), "q\nBT /F1")
				}
			}
		})
	}
}

// TestMarksStandUpright: the rotation may be inherited and may go round more than once.
func TestMarksStandUpright(t *testing.T) {
	for where, rotations := range map[string][]string{"page": {"0", "180", "-90", "-270"}, "tree": {"90", "270", "450", "720"}} {
		for _, rotate := range rotations {
			t.Run(where+" "+rotate, func(t *testing.T) {
				page, tree := "", "/Rotate "+rotate
				if where == "page" {
					page, tree = tree, ""
				}
				finishedWithSquare(t, build("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]"+tree+">>",
					"<</Type/Page/Parent 2 0 R/MediaBox[10 20 605 862]"+page+">>"))
			})
		}
	}
}

// TestTagsGo: the text of a tagged file stays, without the structure that led to it.
func TestTagsGo(t *testing.T) {
	original := build("<</Type/Catalog/Pages 2 0 R/MarkInfo<</Marked true>>/StructTreeRoot 6 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/StructParents 0/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		stream("", []byte("/P <</MCID 0>> BDC BT /F1 24 Tf 72 700 Td (Hello) Tj ET EMC")), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<</Type/StructTreeRoot/K 7 0 R/ParentTree<</Nums[0[7 0 R]]>>>>", "<</Type/StructElem/S/P/P 6 0 R/Pg 3 0 R/K 0>>")
	finished := save(t, finishedWithSquare(t, original))
	require.Regexp(t, `Tagged: +no`, tool(t, "pdfinfo", finished))
	require.Contains(t, tool(t, "pdftotext", finished, "-"), "Hello")
}
