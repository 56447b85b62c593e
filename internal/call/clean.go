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

// This file makes text from the service safe for errors and logs.

const (
	maxMessage = 200
	// MaxSearched is how much of a text is searched. Runs of blanks count as one blank. MaxSearched
	// limits the memory for the search.
	MaxSearched = 8 << 10
	// minKey is the length of the shortest API key that is redacted. Real keys are longer. A
	// shorter key, as in a test, would also match parts of ordinary words.
	minKey = 8
)

// The texts that are replaced, in this order:
//
//  1. links with a scheme
//  2. links without a scheme that begin with //
//  3. links without a scheme that begin with a host name and have a path
//  4. query strings and fragments with a parameter, even without their first character
//  5. mail addresses
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

// CleanText returns s without keys, links, query strings and mail addresses. First it removes
// invisible characters, because they could hide a key or an address from the patterns. It searches
// for the key before and after it decodes escapes, because a key may look like an escape.
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

// visible returns the beginning of s, up to the end of a word. It drops characters that cannot be
// printed, and replaces runs of blanks with one blank.
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
				s = s[:last] // the patterns would not match a word that is cut in two
			}
			return s
		}
	}
	return b.String()
}

// replaceKey replaces the key in any letter case. Most texts do not contain the key, so it compiles
// no pattern for them.
func replaceKey(s, key string) string {
	if len(key) < minKey || !strings.Contains(strings.ToLower(s), strings.ToLower(key)) {
		return s
	}
	return regexp.MustCompile("(?i)"+regexp.QuoteMeta(key)).ReplaceAllLiteralString(s, "[key]")
}

// escapes matches the escapes of JSON, JavaScript, HTML and URLs.
var escapes = regexp.MustCompile(`(?i)\\+(/|u[0-9a-f]{4}|x[0-9a-f]{2})|&#?[0-9a-z]{1,8};|%[0-9a-f]{2}`)

// decodeText decodes escapes of printable ASCII characters. Blanks, quotes and brackets stay
// encoded, because they would end a link too early.
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

// tokenText occurs in no word, so a code that contains it contains a secret.
var tokenText = regexp.MustCompile(`(?i)[0-9a-f]{32}`)

// CleanCode returns code, or "" if CleanText would change the code or the code contains a token.
func CleanCode(code string, key Secret) string {
	if CleanText(code, key) != code || tokenText.MatchString(code) {
		return ""
	}
	return code
}
