package webhook

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// appendEscaped appends what JSON.stringify prints between the quotes for a string that was written as raw, escapes
// and all: escapes only where it must, in lower-case hexadecimal, half a surrogate pair among them.
func appendEscaped(dst, raw []byte) []byte {
	for len(raw) > 0 {
		plain := bytes.IndexByte(raw, '\\')
		if plain < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:plain]...)
		r, n := jsonscan.Escape(raw[plain:])
		dst = appendRune(dst, r)
		raw = raw[plain+n:]
	}
	return dst
}

func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if r < ' ' || 0xD800 <= r && r <= 0xDFFF {
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// appendScalar appends what JSON.stringify prints for a number, true, false or null.
func appendScalar(dst, raw []byte) []byte {
	if c := raw[0]; c != '-' && (c < '0' || c > '9') || isPlainInteger(raw) {
		return append(dst, raw...)
	}
	// The grammar has been checked. The only error left is a number out of range, which comes with the infinity.
	f, _ := strconv.ParseFloat(string(raw), 64)
	return appendNumber(dst, f)
}

// isPlainInteger reports whether a number is printed as it was written, judged by its first 15 digits at most.
func isPlainInteger(raw []byte) bool {
	if raw[0] == '-' {
		raw = raw[1:]
		if raw[0] == '0' {
			return false
		}
	}
	if len(raw) > 15 {
		return false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// appendNumber appends f as JavaScript's Number::toString does, and null for what is not finite, as JSON.stringify does.
func appendNumber(dst []byte, f float64) []byte {
	switch abs := math.Abs(f); {
	case math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0') // also for -0
	case 1e-6 <= abs && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// JavaScript has no leading zero in the exponent: 1e-7, not 1e-07.
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
