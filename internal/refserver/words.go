package refserver

import (
	"fmt"
	"slices"
	"strings"
)

// The words of the readings of a [Profile], each at the place of its number. Flags and JSON have them.
var (
	unknownStatusWords   = words{"refused", "ignored", "empty"}
	dateFormatWords      = words{"date-or-time", "time-only", "date-only"}
	dateEndWords         = words{"included", "excluded", "at-day-start", "at-day-end"}
	noneFormWords        = words{"empty", "missing", "null"}
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
func (v UnknownStatus) MarshalText() ([]byte, error) { return unknownStatusWords.text(int(v)) }

// UnmarshalText reads what MarshalText writes.
func (v *UnknownStatus) UnmarshalText(text []byte) error { return read(unknownStatusWords, v, text) }

// MarshalText returns the word for the reading.
func (v DateFormat) MarshalText() ([]byte, error) { return dateFormatWords.text(int(v)) }

// UnmarshalText reads what MarshalText writes.
func (v *DateFormat) UnmarshalText(text []byte) error { return read(dateFormatWords, v, text) }

// MarshalText returns the word for the reading.
func (v DateEnd) MarshalText() ([]byte, error) { return dateEndWords.text(int(v)) }

// UnmarshalText reads what MarshalText writes.
func (v *DateEnd) UnmarshalText(text []byte) error { return read(dateEndWords, v, text) }

// MarshalText returns the word for the reading.
func (v NoneForm) MarshalText() ([]byte, error) { return noneFormWords.text(int(v)) }

// UnmarshalText reads what MarshalText writes.
func (v *NoneForm) UnmarshalText(text []byte) error { return read(noneFormWords, v, text) }

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
