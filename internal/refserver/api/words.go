package api

import (
	"fmt"
	"slices"
	"strings"
)

// The words for readings, indexed by their number. Flags and JSON use them.
var (
	errorLayoutWords     = words{"message", "error", "data-message", "data-error"}
	timestampFormatWords = words{"unix-seconds", "unix-milliseconds", "rfc3339"}
	placeWords           = words{"", "query", "body", "both"}
)

type words []string

func (w words) text(n int) ([]byte, error) {
	if n < 0 || n >= len(w) {
		return nil, fmt.Errorf("%d is not one of its constants, which end at %d", n, len(w)-1)
	}
	return []byte(w[n]), nil
}

// read sets *v to the index of a word.
func read[T ~int](w words, v *T, text []byte) error {
	n := slices.Index(w, string(text))
	if n < 0 {
		return fmt.Errorf("%.64q is not one of %s", text, strings.TrimPrefix(strings.Join(w, ", "), ", "))
	}
	*v = T(n)
	return nil
}

// MarshalText returns the word for the reading.
func (l ErrorLayout) MarshalText() ([]byte, error) { return errorLayoutWords.text(int(l)) }

// UnmarshalText reads what MarshalText writes.
func (l *ErrorLayout) UnmarshalText(text []byte) error { return read(errorLayoutWords, l, text) }

// MarshalText returns the word for the reading.
func (f TimestampFormat) MarshalText() ([]byte, error) { return timestampFormatWords.text(int(f)) }

// UnmarshalText reads what MarshalText writes.
func (f *TimestampFormat) UnmarshalText(text []byte) error {
	return read(timestampFormatWords, f, text)
}

// MarshalText returns query, body or both, or nothing for the operation's default.
func (p Place) MarshalText() ([]byte, error) { return placeWords.text(int(p)) }

// UnmarshalText reads what MarshalText writes.
func (p *Place) UnmarshalText(text []byte) error {
	if err := read(placeWords, p, text); err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	return nil
}
