package pdf

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// fpdf declares for each font that all 65,536 characters of the basic plane may occur. Viewers such
// as pdf.js prepare for all of them, which takes several times as long as drawing a page. slim
// replaces the declaration by the characters that really occur.
var (
	toUnicode = regexp.MustCompile(`(?s)/BaseFont /utf8(\w+)\n/Encoding /Identity-H.*?(<</Length \d+>>\nstream\n(.*?)\nendstream)`)
	everyRune = []byte("1 beginbfrange\n<0000> <FFFF> <0000>\nendbfrange")
	entry     = regexp.MustCompile(`\n(\d{10}) 00000 n `)
	startXref = regexp.MustCompile(`startxref\n(\d+)\n`)
)

// slim returns a file of fpdf in which each font declares only its used characters. used has these
// characters by the name of the font.
func slim(file []byte, used map[string]map[rune]bool) []byte {
	var parts []part
	for _, at := range toUnicode.FindAllSubmatchIndex(file, -1) {
		cmap := bytes.Replace(file[at[6]:at[7]], everyRune, characters(used[string(file[at[2]:at[3]])]), 1)
		stream := fmt.Appendf(nil, "<</Length %d>>\nstream\n%s\nendstream", len(cmap), cmap)
		parts = append(parts, part{start: at[4], end: at[5], text: stream})
	}
	table := bytes.LastIndex(file, []byte("\nxref\n"))
	for _, at := range slices.Concat(entry.FindAllSubmatchIndex(file[table:], -1), startXref.FindAllSubmatchIndex(file[table:], -1)) {
		offset, err := strconv.Atoi(string(file[table+at[2] : table+at[3]]))
		if err != nil {
			continue // cannot happen: the expressions match only digits
		}
		parts = append(parts, part{start: table + at[2], end: table + at[3], text: fmt.Appendf(nil, "%0*d", at[3]-at[2], moved(offset, parts))})
	}
	return replace(file, parts)
}

// part is a piece of a file and its replacement.
type part struct {
	start, end int
	text       []byte
}

// moved returns the new value of an offset after the parts before the offset were replaced.
func moved(offset int, parts []part) int {
	to := offset
	for _, p := range parts {
		if p.end <= offset {
			to += len(p.text) - (p.end - p.start)
		}
	}
	return to
}

func replace(file []byte, parts []part) []byte {
	var out bytes.Buffer
	done := 0
	for _, p := range parts {
		out.Write(file[done:p.start])
		out.Write(p.text)
		done = p.end
	}
	out.Write(file[done:])
	return out.Bytes()
}

// characters returns a mapping of each character to itself, in lists of at most 100 as PDF requires.
func characters(used map[rune]bool) []byte {
	var sorted []rune
	for r := range used {
		sorted = append(sorted, r)
	}
	slices.Sort(sorted)
	var out bytes.Buffer
	for some := range slices.Chunk(sorted, 100) {
		fmt.Fprintf(&out, "%d beginbfchar\n", len(some))
		for _, r := range some {
			fmt.Fprintf(&out, "<%04X> <%04X>\n", r, r)
		}
		out.WriteString("endbfchar\n")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
