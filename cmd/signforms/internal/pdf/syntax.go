package pdf

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// maxDepth bounds how deeply arrays, dictionaries and the nodes of a page tree are nested.
const maxDepth = 200

// value is the source text of one object. An update copies it byte for byte.
type value []byte

// scanner reads the syntax of PDF. scanner repairs nothing: text that it does not understand sets
// bad.
type scanner struct {
	data []byte
	at   int
	bad  bool
}

func isSpace(c byte) bool { return strings.IndexByte("\x00\t\n\f\r ", c) >= 0 }

func isRegular(c byte) bool { return !isSpace(c) && strings.IndexByte("()<>[]{}/%", c) < 0 }

// skip skips white space and comments.
func (s *scanner) skip() {
	comment := false
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '\n' || c == '\r':
			comment = false
		case c == '%':
			comment = true
		case !comment && !isSpace(c):
			return
		}
	}
}

// ahead reports whether text follows. If it does, ahead skips it.
func (s *scanner) ahead(text string) bool {
	if !bytes.HasPrefix(s.data[s.at:], []byte(text)) {
		return false
	}
	s.at += len(text)
	return true
}

// word reads the next regular characters and returns them.
func (s *scanner) word() string {
	start := s.at
	for s.at < len(s.data) && isRegular(s.data[s.at]) {
		s.at++
	}
	return string(s.data[start:s.at])
}

// token skips white space and returns the word after it.
func (s *scanner) token() string {
	s.skip()
	return s.word()
}

// natural returns the next token as a number of at least 0.
func (s *scanner) natural() int {
	n, ok := natural(s.token())
	s.bad = s.bad || !ok
	return n
}

func natural(word string) (int, bool) {
	n, err := strconv.ParseUint(word, 10, 53)
	return int(n), err == nil
}

// value returns the next object, or nil if it has an error.
func (s *scanner) value() value {
	s.skip()
	start := s.at
	if s.pass(0); s.bad {
		return nil
	}
	return s.data[start:s.at]
}

// pass skips one object.
func (s *scanner) pass(depth int) {
	switch {
	case depth > maxDepth:
		s.bad = true
	case s.ahead("<<"):
		for s.skip(); !s.bad && !s.ahead(">>"); s.skip() {
			s.bad = !s.ahead("/")
			s.word()
			s.skip()
			s.pass(depth + 1)
		}
	case s.ahead("["):
		for s.skip(); !s.bad && !s.ahead("]"); s.skip() {
			s.pass(depth + 1)
		}
	default:
		s.scalar()
	}
}

// scalar skips a string, a name, a number, a keyword or a reference.
func (s *scanner) scalar() {
	switch {
	case s.ahead("("):
		s.text()
	case s.ahead("<"):
		end := bytes.IndexByte(s.data[s.at:], '>')
		if end < 0 || len(bytes.Trim(s.data[s.at:s.at+end], "0123456789abcdefABCDEF\x00\t\n\f\r ")) > 0 {
			s.bad = true
			return
		}
		s.at += end + 1
	case s.ahead("/"):
		s.word()
	default:
		word := s.word()
		if _, ok := natural(word); ok {
			second := scanner{data: s.data, at: s.at}
			if second.natural(); !second.bad && second.token() == "R" {
				s.at = second.at
			}
		} else if _, ok := number(word); !ok && word != "true" && word != "false" && word != "null" {
			s.bad = true
		}
	}
}

// text skips a string after its opening parenthesis.
func (s *scanner) text() {
	for open := 1; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case '\\':
			s.at++
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				s.at++
				return
			}
		}
	}
	s.at, s.bad = len(s.data), true
}

// number returns a number of PDF, which has neither an exponent nor names such as NaN.
func number(word string) (float64, bool) {
	n, err := strconv.ParseFloat(word, 64)
	return n, err == nil && strings.Trim(word, "+-.0123456789") == ""
}

// reference returns the number and the generation of the object to which a value refers.
func (v value) reference() (number, generation int, ok bool) {
	s := scanner{data: v}
	number, generation = s.natural(), s.natural()
	return number, generation, !s.bad && s.token() == "R"
}

func referenceTo(number, generation int) value {
	return fmt.Appendf(nil, "%d %d R", number, generation)
}

// name returns a name without its escapes, such as #20.
func (v value) name() string {
	var out []byte
	for i := 1; i < len(v); i++ {
		if v[i] == '#' && i+2 < len(v) {
			if c, err := strconv.ParseUint(string(v[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(c))
				i += 2
				continue
			}
		}
		out = append(out, v[i])
	}
	return string(out)
}

func (v value) isDict() bool { return bytes.HasPrefix(v, []byte("<<")) }

// elements returns the elements of an array, or nil if the value is not an array.
func (v value) elements() (all []value) {
	if !bytes.HasPrefix(v, []byte("[")) {
		return nil
	}
	s := scanner{data: v, at: 1}
	for s.skip(); !s.bad && !s.ahead("]"); s.skip() {
		all = append(all, s.value())
	}
	return all
}

// array returns an array of elements.
func array(elements ...value) value { return append(append(value("["), spaced(elements)...), ']') }

func spaced(elements []value) (out value) {
	for _, e := range elements {
		out = append(append(out, ' '), e...)
	}
	return out
}

// dict is a dictionary, with its entries in their order.
type dict []dictEntry

type dictEntry struct{ key, value value }

// dict returns the entries of a dictionary, or nil if the value is not a dictionary.
func (v value) dict() dict {
	if !v.isDict() {
		return nil
	}
	d := dict{}
	s := scanner{data: v, at: len("<<")}
	for s.skip(); !s.bad && !s.ahead(">>"); s.skip() {
		start := s.at
		s.at++
		s.word()
		d = append(d, dictEntry{key: s.data[start:s.at], value: s.value()})
	}
	return d
}

// repeats returns a key that the dictionary has twice, or "". Viewers do not agree on which of the
// two values counts.
func (d dict) repeats() string {
	seen := make(map[string]bool, len(d))
	for _, e := range d {
		key := e.key.name()
		if seen[key] {
			return key
		}
		seen[key] = true
	}
	return ""
}

// get returns the value of a key, or nil if there is none. In PDF, null is equal to a missing
// value.
func (d dict) get(key string) value {
	for _, e := range d {
		if e.key.name() == key && string(e.value) != "null" {
			return e.value
		}
	}
	return nil
}

// with returns a copy of the dictionary in which the key has the value content. If content is nil,
// the copy does not have the key.
func (d dict) with(key string, content value) dict {
	out := dict{}
	for _, e := range d {
		if e.key.name() != key {
			out = append(out, e)
		}
	}
	if content != nil {
		out = append(out, dictEntry{key: value("/" + key), value: content})
	}
	return out
}

func (d dict) text() value {
	out := value("<<")
	for _, e := range d {
		out = append(append(append(append(out, e.key...), ' '), e.value...), '\n')
	}
	return append(out, ">>"...)
}
