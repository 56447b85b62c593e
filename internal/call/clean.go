package call

import (
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file makes foreign text safe for errors and logs.

const (
	maxMessage = 200
	// MaxSearched is how much of a text is searched, without runs of blanks. It bounds the memory that this takes.
	MaxSearched = 8 << 10
	// minKey is the length of the shortest API key that is redacted. Real keys are longer. A shorter one, in a test, would
	// also match parts of ordinary words.
	minKey = 8
)

// What is replaced, in this order: links with a scheme, of the same scheme or with a host's name and a path; query
// strings and fragments with a parameter, even without their first character; and mail addresses.
var foreignTexts = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"<>]+`), "[url]"},
	{regexp.MustCompile(`//[^\s"<>]+`), "[url]"},
	{regexp.MustCompile(`(?i)\b([a-z0-9-]+\.)+[a-z]{2,}(:\d+)?/[^\s"<>]+`), "[url]"},
	{regexp.MustCompile(`([?#])[^\s"<>?#=]+=[^\s"<>]*`), "$1[query]"},
	{regexp.MustCompile(`(?i)[\w.~%-]+=[^\s"<>&]*&[\w.~%-]+=[^\s"<>]*|\b\w*(token|secret)=[^\s"<>]+`), "[query]"},
	{regexp.MustCompile(`[^\s@"<>(),:;]+@[^\s@"'<>(),:;]+`), "[email]"},
}

// CleanText removes invisible characters first, because they could hide a key or an address from the patterns. It looks
// for the key before and after the one decoding, as a key may look like an escape.
func CleanText(s string, key Secret) string {
	s = replaceKey(visible(s), key.Reveal())
	s = replaceKey(decodeText(s), key.Reveal())
	for _, f := range foreignTexts {
		s = f.pattern.ReplaceAllString(s, f.replacement)
	}
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// visible returns the beginning of s, up to the end of a word, without what cannot be printed and with single blanks.
func visible(s string) string {
	var b strings.Builder
	blank := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
			continue
		case r == utf8.RuneError || !unicode.IsPrint(r):
			continue
		case blank:
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
		if b.Len() > MaxSearched {
			s = b.String()[:MaxSearched]
			if last := strings.LastIndexByte(s, ' '); last > 0 {
				s = s[:last] // a word that is cut in two would not be found
			}
			return s
		}
	}
	return b.String()
}

// replaceKey finds the key in any case of its letters. Most texts do not have it, and are spared the pattern.
func replaceKey(s, key string) string {
	if len(key) < minKey || !strings.Contains(strings.ToLower(s), strings.ToLower(key)) {
		return s
	}
	return regexp.MustCompile("(?i)"+regexp.QuoteMeta(key)).ReplaceAllLiteralString(s, "[key]")
}

// escapes are those of JSON and JavaScript, HTML and URLs.
var escapes = regexp.MustCompile(`(?i)\\+(/|u[0-9a-f]{4}|x[0-9a-f]{2})|&#?[0-9a-z]{1,8};|%[0-9a-f]{2}`)

// decodeText decodes escapes of printable ASCII. Blanks, quotes and brackets stay encoded: they would cut a link short.
func decodeText(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(escape string) string {
		decoded := escape
		switch rest := strings.TrimLeft(escape, `\`); {
		case rest == "/":
			return rest
		case escape[0] == '\\':
			if n, err := strconv.ParseUint(rest[1:], 16, 16); err == nil {
				decoded = string(rune(n))
			}
		case escape[0] == '&':
			decoded = html.UnescapeString(escape)
		default:
			decoded, _ = url.PathUnescape(escape)
		}
		if len(decoded) != 1 || decoded[0] <= ' ' || decoded[0] > '~' || strings.Contains(`"'<>(),;`, decoded) {
			return escape
		}
		return decoded
	})
}

// tokenText is in no word: a code that has it holds a secret.
var tokenText = regexp.MustCompile(`(?i)[0-9a-f]{32}`)

// CleanCode drops a code that CleanText would change, or that holds a token.
func CleanCode(code string, key Secret) string {
	if CleanText(code, key) != code || tokenText.MatchString(code) {
		return ""
	}
	return code
}
