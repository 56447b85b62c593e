package cli

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// plain makes foreign text safe for one line of a terminal. Control characters could move the cursor or hide text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// countOf returns a number with its word, as in 1 document or 2 documents.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// shownURL returns an address without its password.
func shownURL(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	return text
}
