package refserver

import (
	"fmt"
	"slices"
	"strings"
)

// The words of the readings of a [Profile], each at the place of its number. Flags and JSON have them.
var (
	errorLayoutWords     = words{"message", "error", "data-message", "data-error", "text"}
	timestampFormatWords = words{"unix-seconds", "unix-milliseconds", "rfc3339"}
)

type words []string

func (w words) text(n int) ([]byte, error) {
	if n < 0 || n >= len(w) {
		return nil, fmt.Errorf("%d is not one of its constants, which end at %d", n, len(w)-1)
	}
	return []byte(w[n]), nil
}

// read sets *v to the number of a word.
func read[T ~int](w words, v *T, text []byte) error {
	n := slices.Index(w, string(text))
	if n < 0 {
		return fmt.Errorf("%.64q is not one of %s", text, strings.Join(w, ", "))
	}
	*v = T(n)
	return nil
}

// MarshalText returns the word for the reading.
func (v ErrorLayout) MarshalText() ([]byte, error) { return errorLayoutWords.text(int(v)) }

// UnmarshalText reads what MarshalText writes.
func (v *ErrorLayout) UnmarshalText(text []byte) error { return read(errorLayoutWords, v, text) }

// MarshalText returns the word for the reading.
func (v TimestampFormat) MarshalText() ([]byte, error) { return timestampFormatWords.text(int(v)) }

// UnmarshalText reads what MarshalText writes.
func (v *TimestampFormat) UnmarshalText(text []byte) error {
	return read(timestampFormatWords, v, text)
}
