package pdf_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/hostile"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// active is a file that does something in each way that PDF knows. Its texts begin with EVIL where they must not stay.
func active() []byte {
	return hostile.PDF(
		"<</Type/Catalog/Pages 2 0 R/OpenAction 5 0 R/AA<</WC 5 0 R>>/Names<</JavaScript<</Names[(EVIL) 5 0 R]>>/EmbeddedFiles<</Names[(EVIL) 8 0 R]>>>>"+
			"/AF[8 0 R]/AcroForm<</Fields[10 0 R]/XFA[(EVIL) 9 0 R]>>/Outlines 11 0 R>>",
		"<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/AA<</O<</S/Named/N/EVIL>>>>/Contents 4 0 R/Annots[6 0 R 7 0 R 10 0 R 13 0 R 14 0 R]/Resources<</Font<</AA 15 0 R>>>>>>",
		hostile.Stream("", []byte("BT /AA 12 Tf 50 700 Td (Lease) Tj ET")),
		"<</S/JavaScript/JS(EVIL)/Next[<</S/GoTo/D[3 0 R/Fit]>><</S/URI/URI(http://EVIL.test)>>]>>",
		"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://EVIL.test)>>/PA<</S/URI/URI(http://EVIL.test)>>>>",
		"<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/FS 8 0 R/Contents(EVIL)>>",
		"<</Type/Filespec/F(EVIL.exe)/UF(EVIL.exe)/EF<</F 9 0 R>>>>",
		hostile.Stream("/Type/EmbeddedFile", []byte("EVIL")),
		"<</Type/Annot/Subtype/Widget/FT/Btn/T(push)/Rect[9 9 20 20]/A<</S/SubmitForm/F(http://EVIL.test)>>/AA<</K<</S/JavaScript/JS(EVIL)>>>>>>",
		"<</Type/Outlines/First 12 0 R/Last 12 0 R/Count 1>>",
		"<</Title(Outline)/Parent 11 0 R/A<</S/Launch/F(EVIL.exe)>>>>",
		"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/GoTo/D[3 0 R/Fit]>>>>",
		"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/NewInPDF3/JS(EVIL)>>>>",
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	)
}

func TestNothingActiveIsSealed(t *testing.T) {
	original := active()
	_, err := pdf.Inspect(original)
	require.NoError(t, err)
	finished, err := pdf.Finish(original, nil, certificate(), newSealer(t))
	require.NoError(t, err)
	file := save(t, finished)
	plain := filepath.Join(t.TempDir(), "plain.pdf")
	tool(t, "qpdf", "--qdf", "--object-streams=disable", file, plain)
	content, err := os.ReadFile(plain)
	require.NoError(t, err)
	for _, gone := range []string{"EVIL", "/JavaScript", "/URI", "/Launch", "/SubmitForm", "/EmbeddedFile", "/XFA", "/Named", "/FileAttachment", "NewInPDF3"} {
		require.NotContains(t, string(content), gone)
	}
	for _, stays := range []string{"/GoTo", "(Outline)", "/Helvetica"} {
		require.Contains(t, string(content), stays)
	}
	require.Contains(t, tool(t, "pdfsig", file), "Signature is Valid.")
	text := strings.Join(strings.Fields(tool(t, "pdftotext", file, "-")), " ")
	require.Contains(t, text, "Lease")
	require.Contains(t, text, "Removed")
	require.Contains(t, text, "FileAttachment, JavaScript, Launch, Named, SubmitForm, URI, Widget, XFA, attached files, unknown action")
}

// TestActionsInDisguise: each file says EVIL where a viewer would carry it out or load it.
func TestActionsInDisguise(t *testing.T) {
	const evil = "/JS(EVIL)/URI(http://EVIL.test)/F(EVIL.exe)/D(EVIL)"
	link := "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A 6 0 R>>"
	stream := hostile.Stream("", []byte("BT ET"))
	for name, c := range map[string]struct{ catalog, page, content, annotation, action, more string }{
		"type by reference":         {action: "<</S 7 0 R" + evil + ">>", more: "/JavaScript"},
		"type by two references":    {action: "<</S 7 0 R" + evil + ">>", more: "8 0 R"},
		"type that is no name":      {action: "<</S(JavaScript)" + evil + ">>"},
		"no type":                   {action: "<</Type/Action" + evil + ">>"},
		"unknown type by reference": {action: "<</S 7 0 R" + evil + ">>", more: "/Other"},
		"a stream":                  {action: hostile.Stream("/S/JavaScript/JS(EVIL)", []byte("x"))},
		"a stream of unknown type":  {action: hostile.Stream("/S/Other/JS(EVIL)", []byte("x"))},
		"more than a place":         {action: "<</S/GoTo/D[3 0 R/Fit]/JS(EVIL)/URI(http://EVIL.test)/F(EVIL.exe)>>"},
		"the next one":              {action: "<</S/GoTo/D[3 0 R/Fit]/Next<</S 7 0 R" + evil + ">>>>", more: "/JavaScript"},
		"one of the next":           {action: "<</S/GoTo/D[3 0 R/Fit]/Next 7 0 R>>", more: "[<</S/GoTo/D[3 0 R/Fit]>> <</S/Other" + evil + ">>]"},
		"when the page opens":       {page: "/AA 7 0 R", more: "<</O<</S/Other" + evil + ">>/C<</Type/Action" + evil + ">>>>"},
		"subtype by reference":      {annotation: "<</Type/Annot/Subtype 7 0 R/Rect[0 0 9 9]/Contents(EVIL)>>", more: "/FileAttachment"},
		"content of another file":   {content: "<</Length 0/F(EVIL.pdf)/FFilter/FlateDecode>>\nstream\n\nendstream"},
		"content from the web":      {content: "<</Length 0/F<</FS/URL/F(http://EVIL.test)>>>>\nstream\n\nendstream"},
		"catalog":                   {catalog: "/URI<</Base(http://EVIL.test)>>/SpiderInfo<</V 1.0/C[<</URL(EVIL)>>]>>/Extensions<</X<</URL(EVIL)>>>>/DPartRoot<</X(EVIL)>>"},
		"a place with more":         {action: "<</S/GoTo/D[3 0 R/Fit]/SD(EVIL)/Other<</Type/Other/V(EVIL)>>>>"},
		"files of no content":       {page: "/AF[<</Type/Filespec/F(EVIL)/EF<</F 4 0 R>>>>]/AA<</O<</S/JavaScript/JS(EVIL)>>>>"},
		"rich text":                 {annotation: "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/RC(<body><p><a href=\"http://EVIL.test\"/></p></body>)>>"},
		"a tagged note": {catalog: "/StructTreeRoot 7 0 R", annotation: "<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/RC(EVIL)>>",
			more: "<</Type/StructTreeRoot/K<</Type/StructElem/S/Form/P 7 0 R/K<</Type/OBJR/Obj 5 0 R/Pg 3 0 R>>>>>>"},
		"layers by occasion":         {catalog: "/OCProperties<</OCGs[7 0 R]/D<</AS[<</Event/View/Category[/View]/OCGs[7 0 R]/X(EVIL)>>]>>>>", more: "<</Type/OCG/Name(Layer)>>"},
		"PostScript":                 {page: "/Resources<</XObject<</X 7 0 R>>>>", more: hostile.Stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Subtype2/PS/PS(EVIL)", nil)},
		"a script that is required":  {catalog: "/Requirements[<</S/EnableJavaScripts/RH[<</S/JS/Script(EVIL)>>]>>]"},
		"a page of another document": {page: "/Resources<</XObject<</X 7 0 R>>>>", more: hostile.Stream("/Type/XObject/Subtype/Form/FormType 1/BBox[0 0 9 9]/Ref<</F(EVIL.pdf)/Page 0>>", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			original := hostile.PDF("<</Type/Catalog/Pages 2 0 R"+c.catalog+">>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
				"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Annots[5 0 R]"+c.page+">>",
				cmp.Or(c.content, stream), cmp.Or(c.annotation, link), cmp.Or(c.action, "null"), cmp.Or(c.more, "null"), "/JavaScript")
			finished, err := pdf.Finish(original, nil, certificate(), newSealer(t))
			require.NoError(t, err)
			plain := filepath.Join(t.TempDir(), "plain.pdf")
			tool(t, "qpdf", "--qdf", "--object-streams=disable", save(t, finished), plain)
			for _, gone := range []string{"EVIL", "/AA", "/AF", "/AS", "/PS", "/SD", "/DPartRoot", "/Extensions"} {
				require.NotContains(t, string(readFile(t, plain)), gone)
			}
			require.Contains(t, tool(t, "pdfsig", save(t, finished)), "Signature is Valid.")
		})
	}
}

func TestCertificateOfAFileThatDoesNothing(t *testing.T) {
	drawn, err := pdf.Draw("Lease", []string{"This document was made without a PDF."})
	require.NoError(t, err)
	for _, original := range [][]byte{readFile(t, "testdata/pdflib-form.pdf"), drawn} {
		finished, err := pdf.Finish(original, nil, certificate(), newSealer(t))
		require.NoError(t, err)
		require.NotContains(t, tool(t, "pdftotext", save(t, finished), "-"), "Removed")
	}
}

// TestCornersInAnyOrder: PDF allows any two opposite corners.
func TestCornersInAnyOrder(t *testing.T) {
	for _, box := range []string{"/MediaBox[595 842 0 0]", "/MediaBox[0 842 595 0]", "/MediaBox[4 0 R 842 0 0]", "/MediaBox[0 0 700 900]/CropBox[605 852 10 10]"} {
		original := hostile.Page(box, "595")
		pages, err := pdf.Inspect(original)
		require.NoError(t, err, box)
		require.Equal(t, []pdf.Page{{Width: 595, Height: 842}}, pages, box)
		mark := pdf.Mark{Page: 1, X: 0.62, Y: 0.17, Width: 0.1, Height: 59.5 / 842, Image: redSquare(t)}
		finished, err := pdf.Finish(original, []pdf.Mark{mark}, certificate(), newSealer(t))
		require.NoError(t, err, box)
		left, top, _, _ := redBounds(render(t, finished, 144))
		require.InDelta(t, 0.62*595, left/2, 2, box)
		require.InDelta(t, 0.17*842, top/2, 2, box)
	}
}

// TestCropBoxBesideThePage: what a viewer shows is the part of the crop box that is in the media box, or the media box.
func TestCropBoxBesideThePage(t *testing.T) {
	for box, want := range map[string]pdf.Page{
		"[700 900 800 1000]": {Width: 595, Height: 842},
		"[-50 -50 400 900]":  {Width: 400, Height: 842},
		"[595 0 900 842]":    {Width: 595, Height: 842},
	} {
		original := hostile.Page("/CropBox" + box)
		pages, err := pdf.Inspect(original)
		require.NoError(t, err, box)
		require.Equal(t, []pdf.Page{want}, pages, box)
		finishedWithSquare(t, original)
	}
}

// TestWhatStandsBeforeTheHeader: viewers look for the header in the first 1,024 bytes, and count from there.
func TestWhatStandsBeforeTheHeader(t *testing.T) {
	good := readFile(t, "testdata/cairo.pdf")
	for _, before := range []string{"\n", "%!PS-Adobe-3.0\n", "<!DOCTYPE html><script>alert(1)</script>\n", strings.Repeat("x", 1024-len("%PDF-"))} {
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
