package pdf

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// wrap splits text into lines of at most width w. It breaks lines at spaces and between Chinese and Japanese
// characters. It breaks inside a word only when the word is wider than a line.
func (c *canvas) wrap(text, font string, size, w float64) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(norm.NFC.String(text), "\n") { // the fonts have é, but no combining accent for an e
		lines = append(lines, c.wrapLine(strings.TrimRight(paragraph, "\r"), font, size, w)...)
	}
	return lines
}

func (c *canvas) wrapLine(text, font string, size, w float64) []string {
	var lines []string
	line := ""
	for _, word := range words(text) {
		switch {
		case c.width(line+word, font, size) <= w:
			line += word
			continue
		case strings.TrimSpace(line) != "":
			lines = append(lines, strings.TrimSpace(line))
		}
		line = strings.TrimLeft(word, " ")
		for head := c.prefix(line, font, size, w); head != line; head = c.prefix(line, font, size, w) {
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	return append(lines, strings.TrimSpace(line))
}

// prefix returns as many characters of text as fit, at least one. It measures each character once, because the fonts
// have no kerning.
func (c *canvas) prefix(text, font string, size, w float64) string {
	var wide float64
	for i, r := range text {
		wide += c.width(string(r), font, size)
		if i > 0 && wide > w {
			return text[:i]
		}
	}
	return text
}

// words splits text before each space and before each character that may begin a line.
func words(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		if i > start && (r == ' ' || breaksAnywhere(r)) {
			out = append(out, text[start:i])
			start = i
		}
	}
	return append(out, text[start:])
}

func breaksAnywhere(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
