package delivery

import (
	"cmp"
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

// Array is a JSON array; its elements are of the types that a [Member] may hold.
type Array []any

// AppendJSON appends v as JavaScript's JSON.stringify prints it after JSON.parse: compact, nothing escaped for HTML,
// U+2028 and U+2029 literal, integer-like keys first. Bytes that are not UTF-8 become U+FFFD, as they do when JavaScript
// decodes a request. It panics on a type that an [Object] may not hold.
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
		for i, m := range v.inJavaScriptOrder() {
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

// inJavaScriptOrder returns o as a JavaScript object enumerates it: keys that are array indexes first and ascending,
// then the others as they were first set; of equal keys the last value wins. A receiver that signs
// JSON.stringify(JSON.parse(body)) would otherwise sign other bytes than ours.
func (o Object) inJavaScriptOrder() Object {
	plain := true
	seen := make(map[string]int, len(o))
	for i, m := range o {
		if _, twice := seen[m.Key]; twice || isIndex(m.Key) {
			plain = false
		}
		seen[m.Key] = i
	}
	if plain {
		return o
	}
	var indexes, rest Object
	for _, m := range o {
		last, first := seen[m.Key]
		if !first {
			continue
		}
		delete(seen, m.Key)
		m.Value = o[last].Value
		if isIndex(m.Key) {
			indexes = append(indexes, m)
		} else {
			rest = append(rest, m)
		}
	}
	slices.SortFunc(indexes, func(a, b Member) int {
		return cmp.Or(cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
	})
	return append(indexes, rest...)
}

// isIndex reports whether JavaScript treats key as an array index: canonical decimal, 0 to 2^32-2.
func isIndex(key string) bool {
	if key == "" || len(key) > 10 || key[0] == '0' && key != "0" {
		return false
	}
	for i := range len(key) {
		if key[i] < '0' || key[i] > '9' {
			return false
		}
	}
	return len(key) < 10 || key <= "4294967294"
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
