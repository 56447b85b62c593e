package pdf_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

func TestInspectRefuses(t *testing.T) {
	damaged := readFile(t, "testdata/pdftex.pdf")[:4000]
	linearized := readFile(t, "testdata/qpdf-linearized.pdf")
	cutLinearized := linearized[:len(linearized)*9/10]
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{name: "empty", data: nil, want: pdf.ErrNotPDF},
		{name: "a picture", data: redSquare(), want: pdf.ErrNotPDF},
		{name: "cut short", data: damaged, want: pdf.ErrCutShort},
		{name: "only a head", data: []byte("%PDF-1.7\n"), want: pdf.ErrCutShort},
		{name: "cut after the first of its ends", data: cutLinearized, want: pdf.ErrCutShort},
		{name: "a password", data: readFile(t, "testdata/encrypted.pdf"), want: pdf.ErrEncrypted},
		{name: "an empty password", data: readFile(t, "testdata/encrypted-empty.pdf"), want: pdf.ErrEncrypted},
		{name: "too many pages", data: emptyPages(1001), want: pdf.ErrManyPages},
		{name: "as many as may be, one without a height", data: bytes.Replace(emptyPages(1000), []byte("595 842"), []byte("595 000"), 1), want: pdf.ErrDamaged},
		{name: "too large", data: append([]byte("%PDF-1.7\n"), make([]byte, pdf.MaxSize)...), want: pdf.ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			pages, err := pdf.Inspect(c.data)
			require.ErrorIs(t, err, c.want)
			require.Empty(t, pages)
		})
	}
}

// emptyPages makes a PDF with this many empty pages.
func emptyPages(n int) []byte {
	var kids, objects strings.Builder
	for i := range n {
		fmt.Fprintf(&kids, "%d 0 R ", i+3)
		fmt.Fprintf(&objects, "%d 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>\nendobj\n", i+3)
	}
	file := fmt.Sprintf("%%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Count %d/Kids[%s]>>\nendobj\n%s", n, kids.String(), objects.String())
	table := fmt.Sprintf("xref\n0 %d\n0000000000 65535 f \n", n+3)
	for i := range n + 2 {
		table += fmt.Sprintf("%010d 00000 n \n", strings.Index(file, fmt.Sprintf("\n%d 0 obj", i+1))+1)
	}
	return []byte(file + table + fmt.Sprintf("trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", n+3, len(file)))
}

var damagedFiles = flag.Int("damaged.files", 8, "how often each file is damaged")

// Damaged files must be refused or finished. They must never crash the program, and no reason speaks of Go.
func TestDamagedFilesDoNoHarm(t *testing.T) {
	sealer := newSealer(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"testdata/pdflib-form.pdf", "testdata/mutool.pdf", "testdata/cropped-rotated.pdf"} {
		genuine := readFile(t, name)
		for range *damagedFiles {
			data := bytes.Clone(genuine)
			for range 1 + random.IntN(6) {
				data[random.IntN(len(data))] = byte(random.IntN(256))
			}
			if _, err := pdf.Inspect(data); err != nil {
				require.NotNil(t, pdf.Refusal(err), "%v", err)
				require.NotContains(t, err.Error(), "runtime error")
				continue
			}
			_, err := pdf.Finish(data, []pdf.Mark{{Page: 1, Width: 0.5, Height: 0.1, Text: "x"}}, certificate(), sealer)
			require.NoError(t, err, "what was accepted can be finished")
		}
	}
}

func TestSealerSurvivesStorage(t *testing.T) {
	sealer := newSealer(t)
	text, err := sealer.MarshalText()
	require.NoError(t, err)
	var again pdf.Sealer
	require.NoError(t, again.UnmarshalText(text))
	finished, err := pdf.Finish(readFile(t, "testdata/cairo.pdf"), nil, certificate(), &again)
	require.NoError(t, err)
	require.Contains(t, tool(t, "pdfsig", save(t, finished)), "Signature is Valid.")
	require.NotContains(t, sealer.String(), "PRIVATE")

	other, err := newSealer(t).MarshalText()
	require.NoError(t, err)
	mixed := append(bytes.Clone(text[:bytes.Index(text, []byte("-----BEGIN CERT"))]), other[bytes.Index(other, []byte("-----BEGIN CERT")):]...)
	require.ErrorContains(t, again.UnmarshalText(mixed), "another key")

	for i := range text {
		damaged := bytes.Clone(text)
		damaged[i] ^= 1
		if again.UnmarshalText(damaged) == nil {
			same, err := again.MarshalText()
			require.NoError(t, err)
			require.Equal(t, string(text), string(same), "byte %d was changed, and nothing noticed", i)
		}
	}
}

func TestMissing(t *testing.T) {
	for language, name := range map[string]string{
		"many scripts": "Zoë Łukasiewicz Ελένη Привет 田中 ひらがな カタカナ 한국어\n",
		"Vietnamese":   "Nguyễn Thị Đặng Ươ ẫ", "Yoruba": "Ọlọ́runṣọ́lá Ẹ̀", "Azerbaijani": "Əliyev Şükür ğ İ", "Hausa": "Ɓaɗo Ƙasim Ƴar",
		"German": "GROẞ", "Kazakh": "Әлихан Ғұмар Қ Ң Ө Ү Һ І", "Mongolian": "Өнөр Үүрээ", "polytonic Greek": "Ἀριστοτέλης ᾳ ὦ ῥ",
		"decomposed": "Zoe\u0308",
	} {
		require.Empty(t, string(pdf.Missing(name)), language)
	}
	require.Equal(t, []rune("مر😀"), pdf.Missing("مرم😀"))
	require.Equal(t, []rune("שלוםນᏍक"), pdf.Missing("שלוםນᏍक"), "they need shaping, or no font has them")
}

func TestFontsAreAsListed(t *testing.T) {
	list := string(readFile(t, "fonts/README.md"))
	names, err := filepath.Glob("fonts/*.gz")
	require.NoError(t, err)
	require.Len(t, names, 5)
	for _, name := range names {
		hash := sha256.Sum256(readFile(t, name))
		require.Contains(t, list, hex.EncodeToString(hash[:]), name)
	}
}

// The certificate holds the hash of the file that signers saw, so Draw must return the same bytes in each call.
func TestDrawIsTheSameEachTime(t *testing.T) {
	draw := func() []byte {
		data, err := pdf.Draw("Zoë 田中 한국", []string{"One", "Two Привет"})
		require.NoError(t, err)
		return data
	}
	first := draw()
	for range 3 {
		require.True(t, bytes.Equal(first, draw()))
	}
	require.Contains(t, string(first), "/CreationDate (D:19700101000000)")
	require.Contains(t, string(first), "/ModDate (D:19700101000000)")
}

// Viewers take long to prepare a font that declares all characters.
func TestFontsNameTheCharactersThatOccur(t *testing.T) {
	var paragraphs []string
	for r := rune(0x4e00); r < 0x4e00+250; r += 10 {
		paragraphs = append(paragraphs, "Zoë Привет 한국 "+string([]rune{r, r + 1, r + 2, r + 3, r + 4, r + 5, r + 6, r + 7, r + 8, r + 9}))
	}
	drawn, err := pdf.Draw("Title", paragraphs)
	require.NoError(t, err)
	require.False(t, bytes.Contains(drawn, []byte("<0000> <FFFF> <0000>")))
	require.True(t, bytes.Contains(drawn, []byte("\n100 beginbfchar\n")))
	file := save(t, drawn)
	require.Contains(t, tool(t, "qpdf", "--check", file), "No syntax or stream encoding errors found")
	text := tool(t, "pdftotext", "-layout", file, "-")
	for _, paragraph := range append(paragraphs, "Title") {
		require.Contains(t, text, paragraph)
	}
}
