package webhook

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// normalize appends to dst exactly what JSON.stringify(JSON.parse(body)) prints in JavaScript, body taken as UTF-8 the
// way Node.js reads it. It fails where JSON.parse throws, and where more than jsonscan.MaxDepth levels are open. On
// failure it returns dst as it was.
//
// The time is linear in the body's length, but for sorting keys that are array indices. The output has at most five
// bytes for each of the body's (1e20 prints 21 digits); working memory is bounded by a like factor.
func normalize(dst, body []byte) ([]byte, error) {
	src := wellFormed(body)
	n := normalizer{src: src, scan: jsonscan.New(src), out: dst}
	n.survey()
	n.scan.End()
	if err := n.scan.Err(); err != nil {
		return dst, err
	}
	n.scan.Seek(0)
	n.value()
	return n.out, nil
}

// normalizer reads a document twice: survey checks it and finds the objects whose members JavaScript has in another
// order, value prints it. Printing members where they belong at once, and none that a later duplicate replaces,
// keeps nested disorder from costing more than flat disorder.
type normalizer struct {
	src       []byte
	scan      jsonscan.Scanner
	out       []byte
	open      []property        // of the objects being surveyed, outer ones first
	reordered map[int]reordered // by the offset of the opening brace
}

// property is one member of an object.
type property struct {
	key   []byte // as JSON.stringify prints it, without quotes: equal keys have equal bytes
	value int    // its offset
	index int64  // of a key that is an array index, else -1
}

// reordered is an object whose members are not printed in the order of the text.
type reordered struct {
	properties []property
	end        int // offset behind the closing brace
}

func (n *normalizer) survey() {
	switch n.scan.Next() {
	case '{':
		n.surveyObject()
	case '[':
		n.scan.Open()
		for first := true; n.scan.More(first); first = false {
			n.survey()
		}
	case '"':
		n.scan.String()
	default:
		n.scan.Scalar()
	}
}

func (n *normalizer) surveyObject() {
	start, outer := n.scan.Pos(), len(n.open)
	n.scan.Open()
	for t, more := n.scan.Member(true); more; t, more = n.scan.Member(false) {
		key := n.propertyKey(t)
		n.scan.Next()
		n.open = append(n.open, property{key, n.scan.Pos(), arrayIndex(key)})
		n.survey()
	}
	if ordered, changed := javaScriptOrder(n.open[outer:]); changed {
		if n.reordered == nil {
			n.reordered = make(map[int]reordered)
		}
		n.reordered[start] = reordered{ordered, n.scan.Pos()}
	}
	n.open = n.open[:outer]
}

func (n *normalizer) propertyKey(t jsonscan.Text) []byte {
	raw := n.src[t.Start:t.End]
	if !t.Escaped {
		return raw
	}
	return appendEscaped(make([]byte, 0, len(raw)), raw)
}

// value prints one value of the surveyed document.
func (n *normalizer) value() {
	switch n.scan.Next() {
	case '{':
		n.object()
	case '[':
		n.scan.Open()
		n.out = append(n.out, '[')
		for first := true; n.scan.More(first); first = false {
			n.comma(first)
			n.value()
		}
		n.out = append(n.out, ']')
	case '"':
		n.text(n.scan.String())
	default:
		t := n.scan.Scalar()
		n.out = appendScalar(n.out, n.src[t.Start:t.End])
	}
}

func (n *normalizer) object() {
	n.out = append(n.out, '{')
	if r, ok := n.reordered[n.scan.Pos()]; ok {
		for i, p := range r.properties {
			n.comma(i == 0)
			n.out = append(append(append(n.out, '"'), p.key...), '"', ':')
			n.scan.Seek(p.value)
			n.value()
		}
		n.scan.Seek(r.end)
	} else {
		n.scan.Open()
		first := true
		for t, more := n.scan.Member(true); more; t, more = n.scan.Member(false) {
			n.comma(first)
			first = false
			n.text(t)
			n.out = append(n.out, ':')
			n.value()
		}
	}
	n.out = append(n.out, '}')
}

func (n *normalizer) comma(first bool) {
	if !first {
		n.out = append(n.out, ',')
	}
}

func (n *normalizer) text(t jsonscan.Text) {
	n.out = append(n.out, '"')
	if raw := n.src[t.Start:t.End]; t.Escaped {
		n.out = appendEscaped(n.out, raw)
	} else {
		n.out = append(n.out, raw...)
	}
	n.out = append(n.out, '"')
}

// javaScriptOrder returns an object's properties in the order in which JavaScript lists them: array indices
// ascending, then the others as they first occurred; of a key that occurs twice the last value, in the first place.
// It reports whether anything changed; the slice it was given stays as it is.
func javaScriptOrder(given []property) (ordered []property, changed bool) {
	ordered, changed = dropRepeated(given)
	byIndex := func(a, b property) int { return int(sortRank(a) - sortRank(b)) }
	if slices.IsSortedFunc(ordered, byIndex) {
		return ordered, changed
	}
	var indices, others []property
	for _, p := range ordered {
		if p.index >= 0 {
			indices = append(indices, p)
		} else {
			others = append(others, p)
		}
	}
	slices.SortFunc(indices, byIndex)
	return append(indices, others...), true
}

func sortRank(p property) int64 {
	if p.index < 0 {
		return 1 << 32
	}
	return p.index
}

// repeatedLinear is up to how many properties repeated keys are found by comparing each with each.
const repeatedLinear = 12

// dropRepeated returns given itself when no key occurs twice.
func dropRepeated(given []property) (kept []property, changed bool) {
	if len(given) <= repeatedLinear && !anyRepeated(given) {
		return given, false
	}
	places := make(map[string]int, len(given))
	for i, p := range given {
		place, repeated := places[string(p.key)]
		switch {
		case repeated && !changed:
			changed = true
			kept = slices.Clone(given[:i])
			fallthrough
		case repeated:
			kept[place].value = p.value
		default:
			if changed {
				kept = append(kept, p)
				places[string(p.key)] = len(kept) - 1
			} else {
				places[string(p.key)] = i
			}
		}
	}
	if !changed {
		return given, false
	}
	return kept, true
}

func anyRepeated(given []property) bool {
	for i := range given {
		for j := range given[:i] {
			if bytes.Equal(given[i].key, given[j].key) {
				return true
			}
		}
	}
	return false
}

// arrayIndex returns the number that a key is when JavaScript sorts it before all other keys: "0" to "4294967294"
// without leading zeros; otherwise -1.
func arrayIndex(key []byte) int64 {
	if len(key) == 0 || len(key) > 10 || key[0] == '0' && len(key) > 1 {
		return -1
	}
	var n int64
	for _, c := range key {
		if c < '0' || c > '9' {
			return -1
		}
		n = 10*n + int64(c-'0')
	}
	if n > 1<<32-2 {
		return -1
	}
	return n
}

// wellFormed returns body, or where it is not UTF-8 a copy with U+FFFD for each maximal part of a character that is
// cut short and for each byte that starts none: WHATWG's rule, which Node.js follows; Go replaces byte by byte.
func wellFormed(body []byte) []byte {
	if utf8.Valid(body) {
		return body
	}
	out := make([]byte, 0, len(body)+len(body)/8)
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		if r == utf8.RuneError && size == 1 {
			size = cutShort(body)
		}
		out = utf8.AppendRune(out, r)
		body = body[size:]
	}
	return out
}

// cutShort returns how many bytes of the ill-formed sequence at the start of b are replaced by one U+FFFD.
func cutShort(b []byte) int {
	size, lo, hi := 0, byte(0x80), byte(0xBF) // of the second byte
	switch c := b[0]; {
	case 0xC2 <= c && c <= 0xDF:
		size = 2
	case 0xE0 <= c && c <= 0xEF:
		size = 3
	case 0xF0 <= c && c <= 0xF4:
		size = 4
	}
	switch b[0] {
	case 0xE0:
		lo = 0xA0
	case 0xED:
		hi = 0x9F
	case 0xF0:
		lo = 0x90
	case 0xF4:
		hi = 0x8F
	}
	n := 1
	for n < size && n < len(b) && lo <= b[n] && b[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}
