package pdf_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

const (
	catalog = "<</Type/Catalog/Pages 2 0 R>>"
	tree    = "<</Type/Pages/Count 1/Kids[3 0 R]>>"
	lease   = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
)

var leaseText = stream("", []byte("BT /F 24 Tf 72 700 Td (Lease) Tj ET"))

// finishTwice finishes a file, and the finished file again. It requires that each is a prefix of the next, that both
// seals are valid, and that the text of the original is there.
func finishTwice(t *testing.T, original []byte) {
	t.Helper()
	once, err := pdf.Finish(original, nil, certificate(), newSealer(t))
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(once, original))
	content, err := pdf.Inspect(once)
	require.NoError(t, err)
	require.True(t, content.Signed)
	twice, err := pdf.Finish(once, nil, certificate(), newSealer(t))
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(twice, once))
	file := save(t, twice)
	require.Equal(t, 2, strings.Count(tool(t, "pdfsig", file), "Signature is Valid."))
	require.Contains(t, tool(t, "pdftotext", file, "-"), "Lease")
	require.Contains(t, tool(t, "qpdf", "--check", file), "No syntax or stream encoding errors found")
}

func TestFinish_kindsOfTables(t *testing.T) {
	plain := build(catalog, tree, lease, leaseText)
	file := save(t, plain)
	tool(t, "qpdf", "--object-streams=generate", file, file+".stream")
	tool(t, "qpdf", "--linearize", file, file+".linear")
	hybrid := build(catalog, tree, "null", leaseText)
	packed := fmt.Sprintf("3 0 %s", lease)
	container := len(hybrid)
	hybrid = fmt.Appendf(hybrid, "5 0 obj\n%s\nendobj\n", stream("/Type/ObjStm/N 1/First 4", []byte(packed)))
	hidden := len(hybrid)
	hybrid = fmt.Appendf(hybrid, "6 0 obj\n%s\nendobj\n", stream("/Type/XRef/W[1 2 1]/Index[3 1]/Size 7", []byte{2, 0, 5, 0}))
	last := len(hybrid)
	previous := bytes.LastIndex(hybrid[:container], []byte("xref\n0 "))
	hybrid = fmt.Appendf(hybrid, "xref\n3 1\n0000000000 00001 f \n5 1\n%010d 00000 n \ntrailer\n<</Size 7/Root 1 0 R/Prev %d/XRefStm %d>>\nstartxref\n%d\n%%%%EOF\n", container, previous, hidden, last)
	for name, original := range map[string][]byte{
		"classic": plain, "stream": readFile(t, file+".stream"), "linearized": readFile(t, file+".linear"), "hybrid": hybrid,
	} {
		t.Run(name, func(t *testing.T) { finishTwice(t, original) })
	}
}

// TestFinish_accepts: errors that change nothing, and what earlier versions refused.
func TestFinish_accepts(t *testing.T) {
	plain := build(catalog, tree, lease, leaseText)
	for name, original := range map[string][]byte{
		"version 2.0":        bytes.Replace(plain, []byte("%PDF-1.7"), []byte("%PDF-2.0"), 1),
		"version 1.8":        bytes.Replace(plain, []byte("%PDF-1.7"), []byte("%PDF-1.8"), 1),
		"wrong Size":         bytes.Replace(plain, []byte("/Size 5"), []byte("/Size 3"), 1),
		"one ID":             bytes.Replace(plain, []byte("/Root 1 0 R"), []byte("/Root 1 0 R/ID[<00>]"), 1),
		"no object 0":        bytes.Replace(plain, []byte("xref\n0 5\n0000000000 65535 f \n"), []byte("xref\n1 4\n"), 1),
		"viewer's names":     build("<</Type/Catalog/Pages 2 0 R/PageMode/Odd/ViewerPreferences<</PrintPageRange[1 1]>>>>", tree, lease, leaseText),
		"real Rotate":        build(catalog, tree, strings.Replace(lease, "/Contents", "/Rotate 90.0/Contents", 1), leaseText),
		"a place of a seal":  build(catalog, tree, lease, leaseText, "<</ByteRange[0 9999999999 9999999999 9999999999]/Contents<"+strings.Repeat("0", 16384)+">>>"),
		"text after the end": append(bytes.Clone(plain), "\n\n"...),
		"a name in the way":  build(catalog, tree, strings.Replace(lease, "/Font", "/XObject<</Marks 4 0 R/M#61rks_ 4 0 R>>/Font", 1), leaseText),
	} {
		t.Run(name, func(t *testing.T) { finishTwice(t, original) })
	}
}

// TestFinish_numbers: a new object gets no number that the file refers to, also if it does not define that.
func TestFinish_numbers(t *testing.T) {
	original := build(catalog, tree, strings.Replace(lease, "/Contents", "/Odd[6 0 R 30 0 R]/Contents", 1), leaseText)
	finished, err := pdf.Finish(original, nil, certificate(), newSealer(t))
	require.NoError(t, err)
	for _, found := range regexp.MustCompile(`(?m)^(\d+) 0 obj$`).FindAllSubmatch(finished[len(original):], -1) {
		require.Contains(t, append([]string{"1", "2", "3"}, strings.Fields("31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59")...), string(found[1]))
	}
}

// TestInspect_errors: viewers repair these errors, each in its own way.
func TestInspect_errors(t *testing.T) {
	plain := build(catalog, tree, lease, leaseText)
	edit := func(from, to string) []byte { return bytes.Replace(plain, []byte(from), []byte(to), 1) }
	gone := bytes.Clone(plain)
	copy(gone[bytes.LastIndex(gone, []byte("trailer"))-20:], "0000000000 00001 f")
	older := fmt.Appendf(bytes.Clone(edit("/Root 1 0 R", "/Encrypt<</V 1>>/Root 1 0 R")), "xref\n0 0\ntrailer\n<</Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n",
		bytes.LastIndex(plain, []byte("xref\n0 ")), len(plain)+len("/Encrypt<</V 1>>"))
	for name, c := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"bytes before the header": {append([]byte("\n"), plain...), pdf.ErrDamaged, "bytes stand before %PDF"},
		"page without endobj":     {edit("F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>\nendobj", "F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>\n%ndobj"), pdf.ErrDamaged, "object 3 does not end with endobj"},
		"another place":           {edit("0000000009 00000 n", "0000000010 00000 n"), pdf.ErrDamaged, "object 1 is not where"},
		"place 0":                 {bytes.Replace(plain, []byte("0000000009 00000 n"), []byte("0000000000 00000 n"), 1), pdf.ErrDamaged, "object 1 is not where"},
		"startxref elsewhere":     {edit("startxref\n", "startxref\n1"), pdf.ErrDamaged, "no cross-reference table is at 1"},
		"another Parent":          {edit("/Parent 2 0 R", "/Parent 1 0 R"), pdf.ErrDamaged, "another Parent"},
		"another Count":           {edit("/Count 1", "/Count 2"), pdf.ErrDamaged, "another number of pages"},
		"a page twice":            {build(catalog, "<</Type/Pages/Count 2/Kids[3 0 R 3 0 R]>>", lease, leaseText), pdf.ErrDamaged, "in the page tree twice"},
		"a key twice":             {build(catalog, tree, strings.Replace(lease, "/Contents", "/Rotate 0/Rotat#65 90/Contents", 1), leaseText), pdf.ErrDamaged, `has the key "Rotate" twice`},
		"no page":                 {build(catalog, tree, strings.Replace(lease, "/Type/Page/", "/Type/Pag/", 1), leaseText), pdf.ErrDamaged, "object 3 is no [Page Pages]"},
		"Rotate 45":               {build(catalog, tree, strings.Replace(lease, "/Contents", "/Rotate 45/Contents", 1), leaseText), pdf.ErrDamaged, "no multiple of 90"},
		"content that is no text": {build(catalog, tree, lease, stream("/Filter/DCTDecode", []byte("x"))), pdf.ErrDamaged, `"DCTDecode" is no filter for text`},
		"content cut short":       {build(catalog, tree, lease, stream("/Filter/FlateDecode", []byte("x\x9c\x4a"))), pdf.ErrDamaged, "unexpected EOF"},
		"resources of two":        {build(catalog, "<</Type/Pages/Count 1/Kids[3 0 R]/Resources<</XObject<</A 4 0 R>>>>>>", lease, leaseText), pdf.ErrDamaged, "merge in different ways"},
		"content that is gone":    {gone, pdf.ErrDamaged, "does not exist"},
		"encrypted once":          {older, pdf.ErrEncrypted, ""},
		"certified":               {build("<</Type/Catalog/Pages 2 0 R/Perms<</DocMDP 5 0 R>>>>", tree, lease, leaseText, "<<>>"), pdf.ErrCertified, ""},
		"XFA to be rendered":      {build("<</Type/Catalog/Pages 2 0 R/NeedsRendering true>>", tree, lease, leaseText), pdf.ErrDynamicForm, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pdf.Inspect(c.data)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
			require.Contains(t, err.Error(), "upload")
		})
	}
}

// TestFinish_userUnit: a page is as large as viewers show it, and the footer has its size in points.
func TestFinish_userUnit(t *testing.T) {
	original := buildPage("/UserUnit 10/MediaBox[0 0 59.5 84.2]")
	require.Equal(t, []pdf.Page{{Width: 595, Height: 842}}, pagesOf(t, original))
	finished, err := pdf.Finish(original, nil, certificate(), newSealer(t))
	require.NoError(t, err)
	var left, top, right, bottom float64
	for line := range strings.Lines(tool(t, "pdftotext", "-l", "1", "-bbox", save(t, finished), "-")) {
		if _, err := fmt.Sscanf(strings.TrimSpace(line), `<word xMin="%f" yMin="%f" xMax="%f" yMax="%f">Document`, &left, &top, &right, &bottom); err == nil {
			break
		}
	}
	require.InDelta(t, 0.7, bottom-top, 0.3, "poppler counts in units of the page")
}
