package signforms

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file makes foreign text safe for errors and logs.

const (
	maxMessage = 200
	// maxSearched is how much of a text is searched, without runs of blanks. It bounds the memory that this takes.
	maxSearched = 8 << 10
	// minKey is the length of the shortest API key that is redacted. Real keys are longer. A shorter one, in a test, would
	// also match parts of ordinary words.
	minKey = 8
)

// What is replaced, in this order: links with a scheme, of the same scheme or with a host's name and a path; query strings and
// fragments with a parameter, even without their first character; and mail addresses.
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

// maxDecodings is how often a text is decoded: a text in JSON in a query has two layers.
const maxDecodings = 3

// cleanText removes invisible characters first, because they could hide a key or an address from the patterns. It looks for the
// key before each decoding, as a key may look like an escape.
func cleanText(s, apiKey string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxSearched {
		s = s[:maxSearched]
		if blank := strings.LastIndexByte(s, ' '); blank > 0 {
			s = s[:blank] // a word that is cut in two would not be found
		}
	}
	keys := keyForms(apiKey)
	for decoded := range 1 + maxDecodings {
		if decoded > 0 {
			s = decodeText(s)
		}
		if holdsAny(s, keys) {
			s = keyPattern(keys).ReplaceAllLiteralString(s, "[key]")
		}
	}
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

// keyForms returns the key, in hexadecimal, and the parts of it that are the same in base64 wherever in a text it begins. There
// are none for a key that is too short to look for.
func keyForms(key string) (forms []string) {
	if len(key) < minKey {
		return nil
	}
	forms = []string{key, hex.EncodeToString([]byte(key))}
	for shift := range 3 {
		whole := []byte(key[shift:])
		whole = whole[:len(whole)/3*3]
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			forms = append(forms, encoding.EncodeToString(whole))
		}
	}
	return forms
}

// holdsAny spares most texts the pattern, which takes much more to make than they have.
func holdsAny(s string, forms []string) bool {
	lower := strings.ToLower(s)
	return slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(lower, strings.ToLower(form)) })
}

// keyPattern finds the forms in any case, those in base64 with what stands around them.
func keyPattern(forms []string) *regexp.Regexp {
	pattern := "(?i)" + regexp.QuoteMeta(forms[0]) + "|" + forms[1]
	for _, form := range forms[2:] {
		pattern += `|[\w+/-]*` + regexp.QuoteMeta(form) + `[\w+/-]*=*`
	}
	return regexp.MustCompile(pattern)
}

// escapes are those of JSON and JavaScript, HTML and URLs.
var escapes = regexp.MustCompile(`(?i)\\+(/|u[0-9a-f]{4}|x[0-9a-f]{2})|&#?[0-9a-z]{1,8};|%[0-9a-f]{2}`)

// decodeText decodes the escapes of printable ASCII. Blanks, quotes and brackets stay encoded: they would end a link in the middle.
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

// cleanCode drops a code that cleanText would change, or that holds a token.
func cleanCode(code, apiKey string) string {
	if cleanText(code, apiKey) != code || tokenText.MatchString(code) {
		return ""
	}
	return code
}
