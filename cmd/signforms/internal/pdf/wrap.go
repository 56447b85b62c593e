package pdf

import (
	"strings"
	"unicode"
)

// wrap cuts text into lines that are at most w wide, at spaces where there are any, between Chinese and Japanese
// characters, and else inside a word.
func (c *canvas) wrap(text, font string, size, w float64) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
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

// prefix returns as many characters of text as fit, at least one. It measures each once: the fonts have no kerning.
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

// words cuts text before each space and around each character after which a line may end.
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
