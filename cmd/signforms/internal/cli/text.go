package cli

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Plain makes foreign text safe for one line of a terminal. Control characters could move the cursor or hide text.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != zeroWidthJoiner && r != zeroWidthNonJoiner {
			return ' '
		}
		return r
	}, s)
}

// The joiners choose shapes of letters, and make one emoji of several.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

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
