package console

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// curl writes a request as a command for a POSIX shell. The API key is the variable SIGNFORMS_API_KEY, whatever the header has. What
// somebody else wrote stays data: the command has no control character of it, which a terminal would obey while it is pasted, and none
// that turns the direction of the text. It is empty for a HEAD with a body, which curl cannot send.
func curl(method, address string, h http.Header, body []byte) string {
	lines := []string{"curl -X " + word(method) + " " + shellQuote(address)}
	if method == http.MethodHead {
		if len(body) > 0 {
			return ""
		}
		lines[0] = "curl --head " + shellQuote(address) // -X HEAD waits for a body
	}
	if strings.ContainsAny(address, "[]{}") {
		lines = append(lines, "--globoff")
	}
	if strings.Contains(address, "/.") {
		lines = append(lines, "--path-as-is")
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			switch {
			case name == "Content-Length" || name == "Accept-Encoding" || name == "Connection" || value == hidden && name != "X-Api-Key":
			case name == "X-Api-Key":
				lines = append(lines, `-H "x-api-key: $SIGNFORMS_API_KEY"`)
			case value == "":
				lines = append(lines, "-H "+shellQuote(name+";")) // with a colon curl would send none
			default:
				lines = append(lines, "-H "+shellQuote(name+": "+value))
			}
		}
	}
	before := ""
	if len(body) > 0 {
		if len(h["Content-Type"]) == 0 {
			lines = append(lines, "-H 'Content-Type:'") // that of an HTML form otherwise
		}
		if text := string(body); printable(text) {
			lines = append(lines, "--data-raw "+shellQuote(text))
		} else {
			before, lines = "printf %b '"+octal(text)+"' |\n", append(lines, "--data-binary @-")
		}
	}
	return before + strings.Join(lines, " \\\n  ")
}

// word returns a text as one word for a shell, as it is if it has letters only.
func word(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' }) {
		return shellQuote(text)
	}
	return text
}

// shellQuote returns a text as one word for a shell. The text must not end with a line break unless it is printable.
func shellQuote(text string) string {
	if !printable(text) {
		return `"$(printf %b '` + octal(text) + `')"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// printable reports whether a text has no characters that hide how it is spelt, but for line breaks.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return hides(r) && r != '\n' })
}

// octal writes a text for printf %b. It escapes everything that printf or a shell could read as something else.
func octal(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte(" _-.,:/", b) >= 0 {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, `\0%03o`, b)
		}
	}
	return out.String()
}
