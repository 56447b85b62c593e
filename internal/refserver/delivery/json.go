package delivery

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Object is a JSON object with its members in the order in which they are set.
type Object []Member

// Member is one key of an [Object]. Value is a string, bool, int, nil, Object or Array.
type Member struct {
	Key   string
	Value any
}

// Array is a JSON array. Its elements have the types that a [Member] may have.
type Array []any

// AppendJSON appends v as JavaScript's JSON.stringify prints it after JSON.parse. The text is
// compact, nothing is escaped for HTML, and U+2028 and U+2029 are literal. Bytes that are not UTF-8
// become U+FFFD, as they do when JavaScript decodes a request. AppendJSON panics on a type that an
// [Object] may not have.
func AppendJSON(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case string:
		return appendString(dst, v)
	case Array:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, e)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.withoutTwins() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, m.Key)
			dst = append(dst, ':')
			dst = AppendJSON(dst, m.Value)
		}
		return append(dst, '}')
	}
	panic(fmt.Sprintf("delivery: %T is not a JSON value", v))
}

// withoutTwins returns o in the order of JavaScript. If a key occurs twice, the last value is at
// the position of the first. No key looks like an integer; JavaScript would put such a key first.
func (o Object) withoutTwins() (out Object) {
	for _, m := range o {
		if i := slices.IndexFunc(out, func(had Member) bool { return had.Key == m.Key }); i >= 0 {
			out[i].Value = m.Value
		} else {
			out = append(out, m)
		}
	}
	return out
}

func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r) // ill-formed input decodes to U+FFFD
			i += size
			continue
		}
		i++
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			if c < 0x20 {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
