// Package jsjson prints JSON as JavaScript does. [Normalize] is exactly
// JSON.stringify(JSON.parse(text)). The service signs the output of JSON.stringify, so a body that
// a proxy has reformatted can still be verified.
package jsjson

import (
	"bytes"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// Normalize appends to dst the text that JSON.stringify(JSON.parse(body)) prints in JavaScript.
// body is read as UTF-8, as Node.js reads it.
//
// Normalize returns an error, and dst unchanged, in these cases:
//
//   - JSON.parse throws.
//   - More than jsonscan.MaxDepth levels are open.
//   - More than maxCostly numbers are costly to read.
//   - The body has more than 2 GiB.
//
// The time is linear in the length of the body, except for sorting keys that are array indices. The
// output is at most five times as long as the body, plus one byte (1e20 prints 21 digits).
func Normalize(dst, body []byte) ([]byte, error) {
	src := wellFormed(body)
	if len(src) > math.MaxInt32 {
		return dst, errTooLong
	}
	n := normalizer{src: src, scan: jsonscan.New(src), out: dst}
	n.open = make([]property, 0, bytes.Count(src, []byte{':'})) // the number of colons is an upper limit
	n.survey()
	n.scan.End()
	if err := n.scan.Err(); err != nil {
		return dst, err
	}
	n.scan.Seek(0)
	n.value()
	if n.err != nil {
		return dst, n.err
	}
	return n.out, nil
}

var (
	errTooLong   = errors.New("more than 2 GiB")
	errTooCostly = errors.New("too many numbers of many digits or at the limits of the range")
)

// normalizer reads a document twice. The first pass, survey, checks the document and finds the
// objects whose members have a different order in JavaScript. The second pass, value, prints the
// document. Each member is printed once, in its final position, so that nested disorder costs no
// more than flat disorder.
type normalizer struct {
	src     []byte
	scan    jsonscan.Scanner
	out     []byte
	open    []property // properties of the objects being surveyed, outer objects first
	objects []int32    // for each object, in the order of the text: 0, or 1 + its index in orders
	orders  []order
	sorted  []property // properties of the objects in orders
	keys    []byte     // keys with escapes, as JSON.stringify prints them
	next    int        // used by value: the index in objects of the next object
	repeats repeats
	digits  []byte // used by value: the digits of the number being read
	costly  int    // used by value: how many costly numbers there were
	err     error
}

// property is one member of an object. It is small because a document can have one for every five bytes.
type property struct {
	keyStart, keyEnd int32  // offsets in src; when keyStart is negative, it is the complement of an offset in keys
	value            int32  // the value's offset in src
	object           int32  // how many objects start before the value
	index            uint32 // the key as an array index, or notIndex
}

// order describes how to print an object whose members are not printed in the order of the text.
// Its members are sorted[from:to]. After the object, the text continues at offset end, and the next
// object has the index objects.
type order struct{ from, to, end, objects int }

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
	object, outer := len(n.objects), len(n.open)
	n.objects = append(n.objects, 0)
	n.scan.Open()
	for t, more := n.scan.Member(true); more; t, more = n.scan.Member(false) {
		p := n.property(t)
		n.scan.Next()
		p.value, p.object = int32(n.scan.Pos()), int32(len(n.objects))
		n.open = append(n.open, p)
		n.survey()
	}
	from := len(n.sorted)
	if n.sorted = n.appendSorted(n.sorted, n.open[outer:]); len(n.sorted) > from {
		n.orders = append(n.orders, order{from, len(n.sorted), n.scan.Pos(), len(n.objects)})
		n.objects[object] = int32(len(n.orders))
	}
	n.open = n.open[:outer]
}

// property returns a property with the key at t.
func (n *normalizer) property(t jsonscan.Text) property {
	p := property{keyStart: int32(t.Start), keyEnd: int32(t.End)}
	if t.Escaped {
		p.keyStart = ^int32(len(n.keys))
		n.keys = appendEscaped(n.keys, n.src[t.Start:t.End])
		p.keyEnd = int32(len(n.keys))
	}
	p.index = arrayIndex(n.key(p))
	return p
}

// key returns a key as JSON.stringify prints it, without quotes. Equal keys have equal bytes.
func (n *normalizer) key(p property) []byte {
	if p.keyStart < 0 {
		return n.keys[^p.keyStart:p.keyEnd]
	}
	return n.src[p.keyStart:p.keyEnd]
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
		n.scalar(n.src[t.Start:t.End])
	}
}

func (n *normalizer) object() {
	i := n.objects[n.next]
	n.next++
	n.out = append(n.out, '{')
	if i > 0 {
		n.inOrder(n.orders[i-1])
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

func (n *normalizer) inOrder(o order) {
	for i, p := range n.sorted[o.from:o.to] {
		n.comma(i == 0)
		n.out = append(append(append(n.out, '"'), n.key(p)...), '"', ':')
		n.next = int(p.object)
		n.scan.Seek(int(p.value))
		n.value()
	}
	n.next = o.objects
	n.scan.Seek(o.end)
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

// wellFormed returns body if it is UTF-8. Otherwise it returns a copy in which U+FFFD replaces each
// maximal part of an incomplete character, and each byte that starts no character. This is the rule
// of WHATWG, which Node.js follows; Go replaces byte by byte.
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

// cutShort returns how many bytes of the ill-formed sequence at the start of b become one U+FFFD.
func cutShort(b []byte) int {
	size, lo, hi := 0, byte(0x80), byte(0xBF) // lo and hi are the range of the second byte
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
