package cli

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
)

// Plain makes foreign text safe for one line of a terminal. Control characters could move the cursor or hide text.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != joiner && r != nonJoiner {
			return ' '
		}
		return r
	}, s)
}

// The joiners have no width. They choose shapes of letters, and make one emoji of several.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// width returns how many cells of a terminal a text takes: two for wide characters, none for combining ones.
func width(s string) int { return uniseg.StringWidth(s) }

// cut returns as much of a text as fits into so many cells, with an ellipsis if that is not all.
func cut(s string, cells int) string {
	if width(s) <= cells {
		return s
	}
	kept, free := "", cells-1
	for rest, state := s, -1; rest != ""; {
		var cluster string
		var n int
		cluster, rest, n, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if free -= n; free < 0 {
			break
		}
		kept += cluster
	}
	return kept + "…"
}

// padded fills a text with blanks up to so many cells.
func padded(s string, cells int) string { return s + strings.Repeat(" ", max(cells-width(s), 0)) }

// Wrapped fills the lines of a text up to so many cells. Empty lines and those that are set in stay as they are.
func Wrapped(text string, cells int) string {
	var lines []string
	open := false // the last line takes more words
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			lines, open = append(lines, line), false
			continue
		}
		for word := range strings.FieldsSeq(line) {
			last := len(lines) - 1
			if open && width(lines[last])+1+width(word) <= cells {
				lines[last] += " " + word
				continue
			}
			lines, open = append(lines, word), true
		}
	}
	return strings.Join(lines, "\n")
}

// broken breaks those lines of a text that take more than so many cells, between words. Lines that are set in stay as they are.
func broken(text string, cells int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		column := 0
		for i, word := range strings.Split(line, " ") {
			long := column+1+width(strings.TrimSuffix(word, "\n")) > cells
			switch {
			case i == 0:
			case long && word != "" && word != "\n" && !strings.ContainsAny(line[:1], " \t"):
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += width(word)
		}
	}
	return b.String()
}

// FlagsWrapped fills the descriptions of flags in a text of help up to so many cells. Where little would be left beside the flags, they
// stand below them.
func FlagsWrapped(help string, cells int) string {
	lines := strings.Split(help, "\n")
	for i, line := range lines {
		flag, description, found := strings.Cut(strings.TrimLeft(line, " "), "   ")
		if !found || flag[0] != '-' {
			continue
		}
		description = strings.TrimLeft(description, " ")
		column, between := len(line)-len(description), ""
		head := line[:column]
		if cells-column < 24 {
			column, head, between = 10, strings.TrimRight(head, " "), "\n"+strings.Repeat(" ", 10)
		}
		lines[i] = head + between + strings.ReplaceAll(Wrapped(description, cells-column), "\n", "\n"+strings.Repeat(" ", column))
	}
	return strings.Join(lines, "\n")
}

// Count returns a number with its word, as in 1 document or 2 documents.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// Time returns a time as commands print it, in UTC; "" for a time that is not known.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// ShownURL returns an address without its password.
func ShownURL(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	return text
}
