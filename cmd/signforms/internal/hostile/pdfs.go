package hostile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Files returns 200 files: 160 PDFs and 40 pictures.
func Files() (all []File) {
	for _, more := range [][]File{streams(), structures(), pages(), loops(), numbers()} {
		all = append(all, more...)
	}
	all = append(all, mutations(160-len(all))...)
	return append(all, Pictures()...)
}

// streams unpack to much more than they are.
func streams() (all []File) {
	add := func(name string, data []byte) { all = append(all, File{Name: name, Data: data}) }
	bomb := func(megabytes int) []byte { return Zeros(megabytes, ' ') }
	content := func(entries string, data []byte) []byte { return Page("/Contents 4 0 R", Stream(entries, data)) }
	for _, megabytes := range []int{10, 150, 400, 1000, 4000} {
		add(fmt.Sprintf("content of %d MB", megabytes), content("/Filter/FlateDecode", bomb(megabytes)))
		add(fmt.Sprintf("content of %d MB, packed twice", megabytes), content("/Filter[/FlateDecode/FlateDecode]", pack(bomb(megabytes))))
	}
	add("content packed with run lengths", content("/Filter[/FlateDecode/RunLengthDecode]", Zeros(16, 0x81)))
	add("content of hexadecimal digits", content("/Filter[/FlateDecode/ASCIIHexDecode]", Zeros(300, '0')))
	add("content of base 85", content("/Filter[/FlateDecode/ASCII85Decode]", Zeros(300, 'z')))
	add("content with LZW", content("/Filter[/FlateDecode/LZWDecode]", Zeros(200, 0)))
	for _, columns := range []string{"1", "1000000", "1073741824", "-1", "4294967296"} {
		add("predictor of "+columns, content("/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns "+columns+">>", bomb(20)))
	}
	add("one content, 20,000 times", Page("/Contents["+strings.Repeat("4 0 R ", 20_000)+"]", Stream("/Filter/FlateDecode", bomb(1))))
	add("1,000 contents of 5 MB", many(1000, Stream("/Filter/FlateDecode", bomb(5))))
	add("filters, 10,000 times", content("/Filter["+strings.Repeat("/FlateDecode", 10_000)+"]", bomb(1)))
	for _, n := range []string{"1", "1000", "1000000", "1000000000", "-5"} {
		add("object stream of "+n, objectStream(n, "10", bomb(300)))
		add("object stream from "+n, objectStream("5", n, bomb(300)))
	}
	for _, size := range []string{"10", "1000000", "1000000000", "9223372036854775807"} {
		add("cross-reference stream of "+size, crossReferences("/Size "+size+"/W[1 2 1]/Index[0 "+size+"]", bomb(300)))
		add("cross-reference stream with widths of "+size, crossReferences("/Size 10/W["+size+" "+size+" "+size+"]", bomb(5)))
	}
	font := "/Resources<</Font<</F 4 0 R>>>>"
	for _, kind := range []string{"FontFile", "FontFile2", "FontFile3"} {
		add("font of 1 GB in "+kind, Page(font, "<</Type/Font/Subtype/TrueType/BaseFont/A/FontDescriptor 5 0 R>>",
			"<</Type/FontDescriptor/FontName/A/Flags 4/"+kind+" 6 0 R>>", Stream("/Filter/FlateDecode", bomb(1000))))
	}
	add("font with a map of 1 GB", Page(font, "<</Type/Font/Subtype/Type0/BaseFont/A/ToUnicode 5 0 R>>", Stream("/Filter/FlateDecode", bomb(1000))))
	picture := "/Resources<</XObject<</I 4 0 R>>>>"
	add("picture of 60,000 × 60,000", Page(picture, Stream("/Type/XObject/Subtype/Image/Width 60000/Height 60000/ColorSpace/DeviceGray/BitsPerComponent 8/Filter/FlateDecode", bomb(3500))))
	return all
}

// many makes a page with n contents of its own.
func many(n int, content string) []byte {
	var refs strings.Builder
	objects := make([]string, n)
	for i := range n {
		fmt.Fprintf(&refs, "%d 0 R ", i+4)
		objects[i] = content
	}
	return Page("/Contents["+refs.String()+"]", objects...)
}

// objectStream makes a file whose page is in an object stream that claims n objects from first on.
func objectStream(n, first string, data []byte) []byte {
	return PDF(catalog, onePage, Stream("/Type/ObjStm/N "+n+"/First "+first+"/Filter/FlateDecode", data))
}

func crossReferences(entries string, data []byte) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n1 0 obj\n" + catalog + "\nendobj\n")
	start := out.Len()
	fmt.Fprintf(&out, "2 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", Stream("/Type/XRef/Root 1 0 R/Filter/FlateDecode"+entries, data), start)
	return out.Bytes()
}

// structures nest.
func structures() (all []File) {
	add := func(name string, data []byte) { all = append(all, File{Name: name, Data: data}) }
	for _, deep := range []int{90, 1000, 100_000, 3_000_000} {
		for _, pair := range [][2]string{{"[", "]"}, {"<</A", ">>"}, {"(", ")"}} {
			if deep < 1_000_000 || len(pair[0]) == 1 {
				add(fmt.Sprintf("%d %s", deep, pair[0]), Page("/X "+strings.Repeat(pair[0], deep)+" 1 "+strings.Repeat(pair[1], deep)))
			}
		}
	}
	for _, deep := range []int{100, 20_000} {
		objects := []string{catalog}
		for i := range deep {
			objects = append(objects, fmt.Sprintf("<</Type/Pages/Count 1/Kids[%d 0 R]>>", i+3))
		}
		add(fmt.Sprintf("pages %d deep", deep), PDF(append(objects, "<</Type/Page/MediaBox[0 0 595 842]>>")...))
	}
	add("30,000 empty objects", PDF(append([]string{catalog, onePage, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"}, make([]string, 30_000)...)...))
	add("a name of 10 MB", Page("/"+strings.Repeat("A", 10*megabyte)+" 1"))
	add("a text of 10 MB", Page("/X("+strings.Repeat("A", 10*megabyte)+")"))
	add("an array of a million", Page("/X["+strings.Repeat("1 ", 1_000_000)+"]"))
	return all
}

// pages lie about their number and size.
func pages() (all []File) {
	add := func(name string, data []byte) { all = append(all, File{Name: name, Data: data}) }
	for _, count := range []string{"0", "-1", "1001", "1000000000", "9223372036854775807"} {
		add("count "+count, PDF(catalog, "<</Type/Pages/Count "+count+"/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"))
	}
	for _, box := range []string{
		"0 0 1000000000 1000000000", "0 0 0 0", "595 842 0 0", "-1e9 0 595 842", "0 0 1e308 1e308", "0 0 595", "0 0 99999999999999999999 1", "(a) (b) (c) (d)",
		"0 0 0.0000001 0.0000001", "0 0 14401 100",
	} {
		add("box "+box, Page("/MediaBox["+box+"]"))
	}
	wide := []string{catalog, "<</Type/Pages/Count 1000000000/Kids[" + strings.Repeat("3 0 R ", 10) + "]>>"}
	for i := range 9 {
		wide = append(wide, "<</Type/Pages/Count 100000000/Kids["+strings.Repeat(fmt.Sprintf("%d 0 R ", i+4), 10)+"]>>")
	}
	add("a billion pages of one", PDF(append(wide, "<</Type/Page/MediaBox[0 0 595 842]>>")...))
	add("one page, 100,000 times", PDF(catalog, "<</Type/Pages/Count 100000/Kids["+strings.Repeat("3 0 R ", 100_000)+"]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>"))
	return all
}

// loops lead back to where they come from.
func loops() (all []File) {
	add := func(name string, data []byte) { all = append(all, File{Name: name, Data: data}) }
	add("pages of themselves", PDF(catalog, "<</Type/Pages/Count 1/Kids[2 0 R]>>"))
	add("pages of each other", PDF(catalog, "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Pages/Parent 2 0 R/Count 1/Kids[2 0 R]>>"))
	add("a parent of itself", PDF(catalog, onePage, "<</Type/Page/Parent 3 0 R/MediaBox[0 0 595 842]>>"))
	add("a reference to itself", Page("/Contents 4 0 R", "4 0 R"))
	add("references to each other", Page("/Contents 4 0 R", "5 0 R", "4 0 R"))
	add("a length of itself", Page("/Contents 4 0 R", "<</Length 4 0 R>>\nstream\nq Q\nendstream"))
	add("outlines", PDF("<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>", onePage, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
		"<</First 5 0 R/Last 5 0 R/Count 1>>", "<</Title(a)/Parent 4 0 R/Next 5 0 R/First 4 0 R>>"))
	add("names", PDF("<</Type/Catalog/Pages 2 0 R/Names<</Dests 4 0 R>>>>", onePage, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>", "<</Kids[4 0 R 4 0 R]>>"))
	add("fields", PDF("<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>", onePage, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Annots[4 0 R]>>", "<</T(a)/FT/Tx/Kids[4 0 R 4 0 R]/Parent 4 0 R>>"))
	add("structure", PDF("<</Type/Catalog/Pages 2 0 R/StructTreeRoot 4 0 R>>", onePage, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>", "<</Type/StructTreeRoot/K[4 0 R 4 0 R]>>"))
	add("a form in itself", Page("/Resources 5 0 R/Contents 6 0 R", Stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources 5 0 R", []byte("/X Do")), "<</XObject<</X 4 0 R>>>>", Stream("", []byte("/X Do"))))
	add("a font in itself", Page("/Resources<</Font<</F 4 0 R>>>>", "<</Type/Font/Subtype/Type0/BaseFont/A/DescendantFonts[4 0 R]>>"))
	add("a script after itself", PDF("<</Type/Catalog/Pages 2 0 R/OpenAction 4 0 R>>", onePage, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>", "<</S/JavaScript/JS(1)/Next 4 0 R>>"))
	for _, previous := range []string{"0", "9", "-1", "999999999999"} {
		data := bytes.Replace(Page(""), []byte("/Root"), []byte("/Prev "+previous+"/Root"), 1)
		add("earlier table at "+previous, data)
	}
	itself := Page("")
	at := bytes.Index(itself, []byte("xref\n0"))
	add("a table before itself", bytes.Replace(itself, []byte("/Root"), fmt.Appendf(nil, "/Prev %d/Root", at), 1))
	return all
}

// numbers do not fit.
func numbers() (all []File) {
	add := func(name string, data []byte) { all = append(all, File{Name: name, Data: data}) }
	good := Page("/Rotate 90")
	for _, n := range []string{"99999999999999999999999", "-90", "1e400", "0x5A", "90.5", "+-9"} {
		add("rotated by "+n, bytes.Replace(good, []byte("/Rotate 90"), []byte("/Rotate "+n), 1))
	}
	for _, n := range []string{"2147483648", "99999999999999999999999", "-3"} {
		add("object "+n, bytes.Replace(good, []byte("\n3 0 obj"), []byte("\n"+n+" 0 obj"), 1))
		add("start "+n, bytes.Replace(good, []byte("startxref\n"), []byte("startxref\n"+n), 1))
		add("size "+n, bytes.Replace(good, []byte("/Size 4"), []byte("/Size "+n), 1))
		add("table "+n, bytes.Replace(good, []byte("xref\n0 4"), []byte("xref\n0 "+n), 1))
	}
	return all
}

// mutations are a small file with bytes changed at random, cut and doubled.
func mutations(n int) (all []File) {
	random := rand.New(rand.NewPCG(22, 1))
	good := Page("/Contents 4 0 R/Annots[5 0 R]", Stream("/Filter/FlateDecode", pack([]byte("0 0 m 100 100 l S"))), "<</Type/Annot/Subtype/Link/Rect[0 0 9 9]>>")
	for i := range n {
		data := bytes.Clone(good)
		for range 1 + random.IntN(8) {
			data[random.IntN(len(data))] = byte(random.IntN(256))
		}
		if i%3 == 0 {
			data = data[:random.IntN(len(data))]
		}
		if i%5 == 0 {
			data = append(data, data...)
		}
		all = append(all, File{Name: fmt.Sprintf("mutation %d", i), Data: data})
	}
	return all
}
