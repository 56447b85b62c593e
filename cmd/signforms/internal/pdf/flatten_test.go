package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/hostile"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// black is an appearance of 100 × 50 points.
var black = hostile.Stream("/BBox[0 0 100 50]", []byte("0 g 0 0 100 50 re f"))

// annotated makes a page with an annotation, object 4, and an appearance, object 5.
func annotated(annotation, appearance string, more ...string) []byte {
	objects := append([]string{"<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Annots[4 0 R]>>", "<</Type/Annot" + annotation + ">>", appearance, "<</Type/OCG/Name(Off)>>"}, more...)
	return hostile.PDF(objects...)
}

// TestAnnotationsDoNotHideTheMarks: each covers the whole page.
func TestAnnotationsDoNotHideTheMarks(t *testing.T) {
	const all = "/Rect[0 0 595 842]/F 4"
	for name, annotation := range map[string]string{
		"stamp":             "/Subtype/Stamp/AP<</N 5 0 R>>" + all,
		"unknown":           "/Subtype/Other/AP<</N 5 0 R>>" + all,
		"field":             "/Subtype/Widget/FT/Tx/T(a)/AP<</N 5 0 R>>" + all,
		"link":              "/Subtype/Link/AP<</N 5 0 R>>" + all,
		"link's border":     "/Subtype/Link/Border[0 0 800]/C[0 0 0]" + all,
		"no appearance":     "/Subtype/Square/C[1 1 1]/IC[1 1 1]/BS<</W 0>>" + all,
		"field's colour":    "/Subtype/Widget/FT/Tx/T(a)/MK<</BG[1 1 1]>>" + all,
		"picture of a film": "/Subtype/Movie/Movie<</F(a.avi)>>/AP<</N 5 0 R>>" + all,
	} {
		t.Run(name, func(t *testing.T) {
			finishedWithSquare(t, annotated(annotation, black))
		})
	}
}

// TestAnnotationsLookAsBefore compares how the page is drawn before and after, for annotations of which appearance, state and place differ.
func TestAnnotationsLookAsBefore(t *testing.T) {
	const at = "/Rect[100 300 300 500]/F 4"
	quarter := hostile.Stream("/BBox[0 0 100 50]/Matrix[0 2 -1 0 7 9]", []byte("0 g 0 0 50 25 re f .5 g 50 25 50 25 re f"))
	for name, c := range map[string]struct{ annotation, appearance string }{
		"scaled":           {"/Subtype/Stamp/AP<</N 5 0 R>>" + at, black},
		"turned":           {"/Subtype/Stamp/AP<</N 5 0 R>>" + at, quarter},
		"corners":          {"/Subtype/Stamp/AP<</N 5 0 R>>/F 4/Rect[300 500 100 300]", quarter},
		"state":            {"/Subtype/Widget/FT/Btn/T(a)/AS/On/AP<</N<</On 5 0 R>>>>" + at, black},
		"other state":      {"/Subtype/Widget/FT/Btn/T(a)/AS/Off/AP<</N<</On 5 0 R>>>>" + at, black},
		"hidden":           {"/Subtype/Stamp/AP<</N 5 0 R>>/Rect[100 300 300 500]/F 2", black},
		"not on screens":   {"/Subtype/Stamp/AP<</N 5 0 R>>/Rect[100 300 300 500]/F 32", black},
		"a layer that off": {"/Subtype/Stamp/OC 6 0 R/AP<</N 5 0 R>>" + at, black},
		"an attached file": {"/Subtype/FileAttachment/FS<</F(a)>>/AP<</N 5 0 R>>" + at, black},
		"3D":               {"/Subtype/3D/3DD 6 0 R/AP<</N 5 0 R>>" + at, black},
		"rich media":       {"/Subtype/RichMedia/AP<</N 5 0 R>>" + at, black},
	} {
		t.Run(name, func(t *testing.T) {
			original := annotated(c.annotation, c.appearance)
			before, after := render(t, original, 144), render(t, stamped(t, original), 144)
			require.Equal(t, before.Bounds(), after.Bounds())
			differ := 0
			for y := range before.Bounds().Dy() {
				for x := range before.Bounds().Dx() {
					if before.At(x, y) != after.At(x, y) {
						differ++
					}
				}
			}
			require.Less(t, differ, 3000, "pixels, of which edges may have some")
		})
	}
}

func stamped(t *testing.T, original []byte) []byte {
	t.Helper()
	stamped, err := pdf.Stamp(original, nil)
	require.NoError(t, err)
	return stamped
}

// TestTextThatViewersDrawIsRefused: it would be missing from the finished file.
func TestTextThatViewersDrawIsRefused(t *testing.T) {
	for annotation, want := range map[string]error{
		"/F 4/Subtype/Widget/FT/Tx/T(a)/V(Rent 500)": pdf.ErrUndrawn,
		"/F 4/Subtype/Widget/FT/Ch/T(a)/V<FEFF0041>": pdf.ErrUndrawn,
		"/F 4/Subtype/Widget/Parent 7 0 R":           pdf.ErrUndrawn,
		"/F 4/Subtype/FreeText/Contents(Rent 500)":   pdf.ErrUndrawn,
		"/F 2/Subtype/FreeText/Contents(Rent 500)":   nil,
		"/F 4/Subtype/Widget/FT/Tx/T(a)/V()":         nil,
		"/F 4/Subtype/Widget/FT/Btn/T(a)/V/Off":      nil,
		"/F 4/Subtype/Text/Contents(A note)":         nil,
	} {
		original := annotated("/Rect[100 300 300 330]/DA(/Helv 12 Tf)"+annotation, "null", "<</FT/Tx/T(a)/V(Rent 500)>>")
		_, err := pdf.Inspect(original)
		require.ErrorIs(t, err, want, annotation)
		require.Equal(t, want, pdf.Refusal(err), annotation)
		if want != nil {
			require.True(t, strings.HasPrefix(err.Error(), want.Error()), "%v", err)
		}
	}
	field := "<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/V(Rent 500)/Rect[100 300 300 330]/F 4/DA(/Helv 12 Tf)/AP<</N 5 0 R>>>>"
	for drawnAnew, want := range map[string]error{"true": pdf.ErrUndrawn, "false": nil} {
		_, err := pdf.Inspect(hostile.PDF("<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/NeedAppearances "+drawnAnew+">>>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Annots[4 0 R]>>", field, black))
		require.ErrorIs(t, err, want)
	}
}

// TestWhatIsAnAnnotationAndMore: the page is its own annotation, and a picture of the page is an appearance.
func TestWhatIsAnAnnotationAndMore(t *testing.T) {
	picture := hostile.Stream("/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/BBox[0 0 1 1]", []byte{0})
	content := hostile.Stream("", []byte("100 0 0 100 100 300 cm /I Do"))
	annotation := "<</Type/Annot/Subtype/Stamp/Rect[0 0 9 9]/F 4/AP<</N 5 0 R>>>>"
	drawn := 0
	for _, page := range []string{"/Type/Page/Subtype/Text/Rect[0 0 9 9]/Annots[3 0 R]", "/Type/Page/Annots[6 0 R]"} {
		original := hostile.PDF("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
			"<<"+page+"/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>>>", content, picture, annotation)
		if _, err := pdf.Inspect(original); err != nil {
			require.ErrorIs(t, err, pdf.ErrDamaged)
			continue
		}
		dark, _, _, _ := render(t, stamped(t, original), 144).At(300, 2*(842-350)).RGBA()
		require.Zero(t, dark, page)
		drawn++
	}
	require.Positive(t, drawn)
}

// TestOldSignaturesAreRemoved: the stamped file is not what they signed.
func TestOldSignaturesAreRemoved(t *testing.T) {
	original := hostile.PDF("<</Type/Catalog/Pages 2 0 R/Perms<</DocMDP 5 0 R>>/AcroForm<</SigFlags 3/Fields[4 0 R]>>>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Annots[4 0 R]>>",
		"<</Type/Annot/Subtype/Widget/FT/Sig/T(old)/V 5 0 R/Lock<</Type/SigFieldLock/Action/All>>/Rect[100 300 200 350]/F 4/AP<</N 6 0 R>>>>",
		"<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/adbe.pkcs7.detached/ByteRange[0 10 20 10]/Contents<00>/Name(OLD)"+
			"/Reference[<</Type/SigRef/TransformMethod/DocMDP/TransformParams<</Type/TransformParams/P 1/V/1.2>>>>]>>", black)
	finished := finishedWithSquare(t, original)
	seals := tool(t, "pdfsig", save(t, finished))
	require.Equal(t, 1, strings.Count(seals, "Signature #"), seals)
	require.Contains(t, seals, "Signature is Valid.")
	for _, gone := range []string{"DocMDP", "/Perms", "/Lock", "(OLD)"} {
		require.NotContains(t, string(finished), gone)
	}
	require.Contains(t, tool(t, "pdftotext", save(t, finished), "-"), "signatures")
	dark, _, _, _ := render(t, finished, 144).At(300, 2*(842-325)).RGBA()
	require.Zero(t, dark, "the old signature's appearance stays")
}

// TestStreamsThatDoNotEndWhereTheySay: pdfcpu takes Length bytes, viewers look for the end.
func TestStreamsThatDoNotEndWhereTheySay(t *testing.T) {
	const text = "BT /F1 24 Tf 72 700 Td (Hello) Tj ET"
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"right":              {hostile.Stream("", []byte(text)), nil},
		"no line end":        {"<</Length 36>>\nstream\n" + text + "endstream", nil},
		"with the line end":  {"<</Length 37>>\nstream\n" + text + "\nendstream", nil},
		"no length":          {"<<>>\nstream\n" + text + "\nendstream", nil},
		"zero":               {"<</Length 0>>\nstream\n" + text + "\nendstream", nil},
		"one too small":      {"<</Length 35>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"30 too small":       {"<</Length 6>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"by reference":       {"<</Length 5 0 R>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"too large":          {"<</Length 60>>\nstream\n" + text + "\nendstream", pdf.ErrDamaged},
		"a filter of F":      {hostile.Stream("/F/ASCIIHexDecode", []byte("20")), pdf.ErrDamaged},
		"a filter in a list": {hostile.Stream("/F[/ASCIIHexDecode]", []byte("20")), pdf.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			for _, use := range []string{"/Contents 4 0 R", "/Resources<</XObject<</X 4 0 R>>>>"} {
				_, err := pdf.Inspect(hostile.Page(use, c.stream, "9"))
				require.ErrorIs(t, err, c.want)
				require.Equal(t, c.want, pdf.Refusal(err))
				_, err = pdf.Finish(hostile.Page(use, c.stream, "9"), nil, certificate(), newSealer(t))
				require.ErrorIs(t, err, c.want)
			}
		})
	}
	updated := hostile.Page("/Contents 4 0 R", hostile.Stream("", []byte(text)))
	previous := bytes.LastIndex(updated, []byte("xref\n0 "))
	object := len(updated)
	updated = fmt.Appendf(updated, "4 0 obj\n<</Length 5>>\nstream\n%s\nendstream\nendobj\n", text)
	updated = fmt.Appendf(updated, "xref\n4 1\n%010d 00000 n \ntrailer\n<</Size 5/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", object, previous, len(updated))
	_, err := pdf.Inspect(updated)
	require.ErrorContains(t, err, "the stream of object 4 is not as long as it says")
}
