package jsonscan

import "encoding/json"

// PassOver continues behind the value at start, inside of depth objects and arrays, although a mistake was found in it. It does so
// only if the value is JSON all the same, which other readers would accept: nested too deep, though not more than 10,000
// levels, or not in UTF-8. Otherwise it changes nothing and returns false.
func (s *Scanner) PassOver(start, depth int) bool {
	if s.fault != faultDepth && s.fault != faultUTF8 {
		return false
	}
	end := valueEnd(s.src, start)
	if end < 0 || !json.Valid(s.src[start:end]) {
		return false
	}
	s.fault, s.pos, s.depth = 0, end, depth
	return true
}

// valueEnd returns the offset behind the string, array or object at start, or -1. It looks at quotes, brackets and braces only.
func valueEnd(src []byte, start int) int {
	depth, text := 0, false
	for i := start; i < len(src); i++ {
		switch c := src[i]; {
		case text && c == '\\':
			i++
			continue
		case c == '"':
			text = !text
		case text:
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth <= 0 && !text {
			return i + 1
		}
	}
	return -1
}
