package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is the position of a string's content or of a scalar in the document: src[Start:End],
// without quotes.
type Text struct {
	Start, End int
	Escaped    bool // a string with at least one backslash: Unescape gives its content
}

const (
	ones   = 0x0101010101010101
	highs  = 0x80 * ones
	quotes = '"' * ones
	slants = '\\' * ones
	spaces = ' ' * ones
)

// String reads the string whose opening quote Next returned.
func (s *Scanner) String() Text {
	start := s.pos + 1
	if i := plain(s.src, start); i < len(s.src) && s.src[i] == '"' {
		s.pos = i + 1
		return Text{Start: start, End: i}
	}
	return s.mixedString(start)
}

// plain returns the offset, from i on, of the first byte that is a quote, a backslash, a control
// character or not ASCII. It may stop earlier, if fewer than eight bytes remain.
func plain(src []byte, i int) int {
	for i >= 0 && i <= len(src)-8 { // in this form the compiler needs no further bounds check
		// A high bit in special marks such a byte. Borrows may mark higher bytes too, so only the
		// lowest mark counts. A byte that is not ASCII keeps its high bit in at least one of the
		// first two terms.
		w := binary.LittleEndian.Uint64(src[i : i+8])
		if special := ((w ^ quotes - ones) | (w ^ slants - ones) | (w - spaces)) & highs; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
		i += 8
	}
	return i
}

func (s *Scanner) mixedString(start int) Text {
	src, i := s.src, start
	text := Text{Start: start}
	for {
		i = plain(src, i)
		if i >= len(src) {
			s.fail(faultEnd, i)
			return Text{}
		}
		switch c := src[i]; {
		case c == '"':
			text.End = i
			s.pos = i + 1
			return text
		case c == '\\':
			text.Escaped = true
			n := escapeLen(src[i:])
			if n == 0 {
				s.fail(faultEscape, i)
				return Text{}
			}
			i += n
		case c < ' ':
			s.fail(faultString, i)
			return Text{}
		case c < utf8.RuneSelf:
			i++
		default:
			n := runeLen(src[i:])
			if n == 0 {
				s.fail(faultUTF8, i)
				return Text{}
			}
			i += n
		}
	}
}

// runeLen returns the length of the character at the start of b, which is not ASCII, or 0 if it is
// not UTF-8.
func runeLen(b []byte) int {
	if b[0]-0xC2 < 0xE0-0xC2 && len(b) > 1 && b[1]&0xC0 == 0x80 {
		return 2
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		return 0
	}
	return n
}

// escapeLen returns the length of the escape at the start of b, or 0 when there is no such escape.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the code unit of the \u escape at the start of b, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

// Unescape appends the content of a string to dst. body is src[Start:End] of the string's Text.
// Half a surrogate pair becomes U+FFFD, as in encoding/json. The result is at most as long as body.
func Unescape(dst, body []byte) []byte {
	for len(body) > 0 {
		if n := bytes.IndexByte(body, '\\'); n != 0 {
			if n < 0 {
				n = len(body)
			}
			dst = append(dst, body[:n]...)
			body = body[n:]
			continue
		}
		r, n := Escape(body)
		dst = utf8.AppendRune(dst, r)
		body = body[n:]
	}
	return dst
}

// Escape returns the character of the escape at the start of body, and the escape's length. A
// surrogate pair is one escape. Half a pair is returned unchanged (0xD800 to 0xDFFF, which is not a
// valid rune). String must have accepted the escape.
func Escape(body []byte) (r rune, n int) {
	switch body[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hex4(body)
		if utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, hex4(body[6:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6
	}
	return rune(body[1]), 2
}
