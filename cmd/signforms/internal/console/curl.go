package console

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// curl writes a request as a curl command for a POSIX shell. The API key is the variable
// SIGNFORMS_API_KEY, whatever the header contains.
//
// curl returns an empty text for a HEAD with a body, which the program curl cannot send. It also
// returns an empty text for a request that is not all text, because a terminal interprets control
// characters in pasted text.
func curl(method, address string, h http.Header, body []byte) string {
	word := method
	if strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		word = shellQuote(word)
	}
	lines := []string{"curl -X " + word + " " + shellQuote(address)}
	if method == http.MethodHead {
		if len(body) > 0 {
			return ""
		}
		lines[0] = "curl --head " + shellQuote(address) // with -X HEAD, curl would wait for a body
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
				lines = append(lines, "-H "+shellQuote(name+";")) // with a colon, curl would not send the header
			default:
				lines = append(lines, "-H "+shellQuote(name+": "+value))
			}
		}
	}
	if len(body) > 0 {
		if len(h["Content-Type"]) == 0 {
			lines = append(lines, "-H 'Content-Type:'") // otherwise curl sends the type of an HTML form
		}
		lines = append(lines, "--data-raw "+shellQuote(string(body)))
	}
	command := strings.Join(lines, " \\\n  ")
	if !utf8.ValidString(command) || strings.ContainsFunc(command, func(r rune) bool { return hides(r) && r != '\n' }) {
		return ""
	}
	return command
}

// shellQuote returns a text quoted as one word for a shell.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
