package cli

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Plain makes text from elsewhere safe for one line of a terminal. Control characters could move
// the cursor or hide text.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != zeroWidthJoiner && r != zeroWidthNonJoiner {
			return ' '
		}
		return r
	}, s)
}

// The joiners select the shapes of letters, and combine several emoji into one.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// Count returns a number with its noun, such as 1 document or 2 documents.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// Time returns a time in the format of commands, in UTC. An unknown time is "".
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// ShownURL returns a URL without its password.
func ShownURL(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	return text
}
