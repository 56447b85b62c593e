package pdf_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestFinish_keeps: scripts, forms, tags, attached files, annotations and old signatures are in the finished file as they
// were. Usage rights go, because any change voids them.
func TestFinish_keeps(t *testing.T) {
	original := build(
		"<</Type/Catalog/Pages 2 0 R/OpenAction 5 0 R/Names<</EmbeddedFiles<</Names[(KEPT) 8 0 R]>>>>/Perms<</UR3 13 0 R>>/AcroForm<</NeedAppearances true/Fields[10 0 R 12 0 R]>>/MarkInfo<</Marked true>>/StructTreeRoot 14 0 R>>",
		"<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Annots[6 0 R 7 0 R 10 0 R 12 0 R]/Resources<</Font<</AA 11 0 R>>>>>>",
		stream("", []byte("BT /AA 12 Tf 50 700 Td (Lease) Tj ET")),
		"<</S/JavaScript/JS(KEPT)/Next[<</S/GoTo/D[3 0 R/Fit]>><</S/URI/URI(http://KEPT.test)>>]>>",
		"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://KEPT.test)>>>>",
		"<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/FS 8 0 R/Contents(KEPT)>>",
		"<</Type/Filespec/F(KEPT.exe)/UF(KEPT.exe)/EF<</F 9 0 R>>>>",
		stream("/Type/EmbeddedFile", []byte("KEPT")),
		"<</Type/Annot/Subtype/Widget/FT/Tx/T(text)/V(KEPT)/Rect[9 9 90 20]/DA(/Helv 12 Tf)>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<</Type/Annot/Subtype/Widget/FT/Sig/T(old)/V 13 0 R/Rect[100 300 200 350]/F 4>>",
		"<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached/ByteRange[0 10 20 10]/Contents<00>/Name(KEPT)>>",
		"<</Type/StructTreeRoot/K[]>>",
	)
	content, err := pdf.Inspect(original)
	require.NoError(t, err)
	require.True(t, content.Signed)
	finished := finishedWithSquares(t, original)
	require.True(t, bytes.HasPrefix(finished, original))
	update := string(finished[len(original):])
	require.Contains(t, update, "/NeedAppearances true")
	require.Contains(t, update, "/Fields [ 10 0 R 12 0 R")
	require.Contains(t, update, "/StructTreeRoot 14 0 R")
	require.NotContains(t, update, "/UR3")
	require.Contains(t, tool(t, "pdfsig", save(t, finished)), "Total document signed")
	require.Contains(t, tool(t, "pdftotext", save(t, finished), "-"), "Lease")
}

// TestAnnotationsStandOverTheMarks: a mark is drawn on the page, and annotations are drawn over the page.
func TestAnnotationsStandOverTheMarks(t *testing.T) {
	original := buildPage("/Annots[4 0 R]", "<</Type/Annot/Subtype/Stamp/Rect[0 0 595 842]/F 4/AP<</N 5 0 R>>>>",
		stream("/Type/XObject/Subtype/Form/BBox[0 0 100 50]", []byte("0 g 0 0 100 50 re f")))
	mark := pdf.Mark{Page: 1, X: 0.5, Y: 0.5, Width: 0.1, Height: 0.1, Image: redSquare()}
	finished, err := pdf.Finish(original, []pdf.Mark{mark}, certificate(), newSealer(t))
	require.NoError(t, err)
	drawn := render(t, finished, 1)[0]
	require.Equal(t, []byte{0, 0, 0}, drawn.pixels[3*(450*drawn.width+330):][:3])
}
