package jsjson

import (
	"bytes"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// appendEscaped appends what JSON.stringify prints between the quotes for a string whose JSON text
// is raw. It escapes only the characters that need an escape, in lower-case hexadecimal. Half a
// surrogate pair needs an escape.
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
