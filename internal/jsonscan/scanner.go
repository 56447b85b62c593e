// Package jsonscan reads JSON text in one pass without allocations. The caller moves the scanner through the members
// and elements that it needs and skips the others. The scanner is strict: RFC 8259 grammar, valid UTF-8, bounded depth,
// nothing after the value. It accepts duplicate keys.
//
// The webhook decoder and package jsjson share it, so both accept the same documents. Package jsonfill uses it too.
package jsonscan

import "fmt"

// MaxDepth is how many objects and arrays may be open at the same time. Deeper documents are refused.
const MaxDepth = 512

// Scanner reads one document. After an error in the document, Next returns 0, More returns false,
// and Err returns the error. The zero Scanner reads an empty document.
type Scanner struct {
	src   []byte
	pos   int
	depth int
	fault fault
	at    int // offset of the fault
}

// fault is the reason why a document was refused; zero means that there is no fault.
type fault uint8

const (
	_ fault = iota
	faultEnd
	faultValue
	faultKey
	faultColon
	faultComma
	faultDepth
	faultString
	faultEscape
	faultUTF8
	faultNumber
	faultTrailing
)

var faultTexts = [...]string{
	faultEnd:      "unexpected end",
	faultValue:    "expected a value",
	faultKey:      "expected a key in double quotes",
	faultColon:    "expected a colon",
	faultComma:    "expected a comma or the end of the object or array",
	faultDepth:    "nested more than 512 levels deep",
	faultString:   "control character in a string",
	faultEscape:   "unknown escape in a string",
	faultUTF8:     "text is not UTF-8",
	faultNumber:   "malformed number",
	faultTrailing: "text after the value",
}

// New returns a Scanner at the start of src, which must not change while the Scanner is in use.
func New(src []byte) Scanner { return Scanner{src: src} }

// Err returns the first error of the document, or nil. Its text contains the offset and the kind of
// the error, and never a part of the document.
func (s *Scanner) Err() error {
	if s.fault == 0 {
		return nil
	}
	return fmt.Errorf("byte %d: %s", s.at, faultTexts[s.fault])
}

// Failed reports whether the document has an error.
func (s *Scanner) Failed() bool { return s.fault != 0 }

// Pos returns the offset of the next byte to be read.
func (s *Scanner) Pos() int { return s.pos }

// Seek moves to the start of a value in a document that was read before. It does not change the depth.
func (s *Scanner) Seek(pos int) { s.pos = pos }

// Next skips white space and returns the next byte without reading it: the first byte of a value, or 0 at the end.
func (s *Scanner) Next() byte {
	if s.pos < len(s.src) {
		if c := s.src[s.pos]; c > ' ' {
			return c
		}
	}
	return s.skipSpace()
}

func (s *Scanner) skipSpace() byte {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// End reports whether only white space remains; anything else is an error.
func (s *Scanner) End() bool {
	s.Next()
	if s.pos < len(s.src) {
		s.fail(faultTrailing, s.pos)
	}
	return s.fault == 0
}

// Open reads the brace or bracket that Next returned. Call Member or More before each member or element.
func (s *Scanner) Open() {
	if s.depth == MaxDepth {
		s.fail(faultDepth, s.pos)
		return
	}
	s.depth++
	s.pos++
}

// More moves to the next element of the innermost open array and reports whether there is one. If
// there is none, More has read the closing bracket. first is true for the first call after Open.
func (s *Scanner) More(first bool) bool { return s.more(']', first) }

func (s *Scanner) more(end byte, first bool) bool {
	c := s.Next()
	if c == end {
		s.pos++
		s.depth--
		return false
	}
	if first {
		return c != 0 || s.fail(faultEnd, s.pos)
	}
	if c != ',' {
		return s.fail(faultComma, s.pos)
	}
	s.pos++
	return true
}

// Member is like More, but for objects. It moves to the next member and reads its key and colon.
func (s *Scanner) Member(first bool) (key Text, more bool) {
	// Fast path: compact JSON with a plain key, which is the usual case.
	src, i := s.src, s.pos
	if !first {
		if i >= len(src) || src[i] != ',' {
			return s.member(first)
		}
		i++
	}
	if i < len(src) && src[i] == '"' {
		key.Start = i + 1
		key.End = plain(src, key.Start)
		if i = key.End; i+1 < len(src) && src[i] == '"' && src[i+1] == ':' {
			s.pos = i + 2
			return key, true
		}
	}
	return s.member(first)
}

func (s *Scanner) member(first bool) (key Text, more bool) {
	if !s.more('}', first) {
		return Text{}, false
	}
	if s.Next() != '"' {
		return Text{}, s.fail(faultKey, s.pos)
	}
	key = s.String()
	if s.Next() != ':' {
		return Text{}, s.fail(faultColon, s.pos)
	}
	s.pos++
	return key, true
}

// Skip reads one value of any kind and checks it. MaxDepth limits its use of the stack.
func (s *Scanner) Skip() {
	switch s.Next() {
	case '"':
		s.String()
	case '{':
		s.Open()
		for first := true; ; first = false {
			if _, more := s.Member(first); !more {
				return
			}
			s.Skip()
		}
	case '[':
		s.Open()
		for first := true; s.More(first); first = false {
			s.Skip()
		}
	default:
		s.Scalar()
	}
}

// fail records the first error and makes the rest of the document unreadable. It returns false.
func (s *Scanner) fail(f fault, at int) bool {
	if s.fault == 0 {
		if at >= len(s.src) {
			f = faultEnd
		}
		s.fault, s.at = f, at
	}
	s.pos = len(s.src)
	return false
}
