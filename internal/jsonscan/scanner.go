// Package jsonscan reads JSON text in one pass, without allocations and without building values: the caller drives
// the scanner through the members and elements it wants and skips the rest. It is strict: RFC 8259 grammar, valid
// UTF-8, bounded depth, nothing after the value. Duplicate keys are the caller's business.
//
// Webhook decoding and the JavaScript normaliser share it, so both accept the same documents.
package jsonscan

import "fmt"

// MaxDepth is how many objects and arrays may be open at the same time; deeper documents are refused.
const MaxDepth = 512

// Scanner walks over one document. A mistake in the document ends the walk: from then on Next returns 0, More
// returns false, and Err says what was wrong. The zero Scanner reads an empty document.
type Scanner struct {
	src   []byte
	pos   int
	depth int
	fault fault
	at    int // where the fault is
}

// fault is the reason why a document was refused; zero when it was not.
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

// Err returns nil, or the first mistake: its place and its kind, never any of the document's text.
func (s *Scanner) Err() error {
	if s.fault == 0 {
		return nil
	}
	return fmt.Errorf("byte %d: %s", s.at, faultTexts[s.fault])
}

// Pos returns the offset of the next byte to be read.
func (s *Scanner) Pos() int { return s.pos }

// Seek moves to an offset at which a value of a document that was already walked starts. The depth stays as it is.
func (s *Scanner) Seek(pos int) { s.pos = pos }

// Next skips white space and returns the byte behind it without reading it: the first of a value, or 0 at the end.
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

// End reports whether nothing but white space is left, and makes anything else a mistake.
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

// More moves to the next element of the array that was opened last and reports whether there is one; if not, the
// closing bracket has been read. first is true for the first call after Open.
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

// Member is More for objects: it moves to the next member and reads its key and colon.
func (s *Scanner) Member(first bool) (key Text, more bool) {
	// Compact JSON with a plain key, which is nearly all there is, without a call.
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

// Skip reads one value of any kind and checks it.
func (s *Scanner) Skip() {
	switch s.Next() {
	case '"':
		s.String()
	case '{', '[':
		s.skipNested()
	default:
		s.Scalar()
	}
}

// skipNested reads an object or array with a loop, so that no document can exhaust the goroutine's stack.
func (s *Scanner) skipNested() {
	var objects [MaxDepth / 64]uint64 // a bit per open level: set for an object
	outer := s.depth
	for {
		first := false
		switch c := s.Next(); c {
		case '"':
			s.String()
		case '{', '[':
			first = true
			s.Open()
			level := uint(s.depth - 1)
			objects[level/64] &^= 1 << (level % 64)
			if c == '{' {
				objects[level/64] |= 1 << (level % 64)
			}
		default:
			s.Scalar()
		}
		if !s.nextNested(&objects, outer, first) {
			return
		}
	}
}

// nextNested moves to the next value inside the levels above outer, closing those that end.
func (s *Scanner) nextNested(objects *[MaxDepth / 64]uint64, outer int, first bool) bool {
	for s.depth > outer && s.fault == 0 {
		level := uint(s.depth - 1)
		object := objects[level/64]>>(level%64)&1 == 1
		if object {
			if _, more := s.Member(first); more {
				return true
			}
		} else if s.More(first) {
			return true
		}
		first = false
	}
	return false
}

// fail notes the first mistake and makes the rest of the document unreadable. It returns false.
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
