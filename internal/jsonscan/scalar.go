package jsonscan

// Scalar reads a number, true, false or null.
func (s *Scanner) Scalar() Text {
	switch c := s.Next(); {
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	s.fail(faultValue, s.pos)
	return Text{}
}

func (s *Scanner) literal(word string) Text {
	start := s.pos
	end := start + len(word)
	if end > len(s.src) || string(s.src[start:end]) != word {
		s.fail(faultValue, start)
		return Text{}
	}
	s.pos = end
	return Text{Start: start, End: end}
}

func (s *Scanner) number() Text {
	src, i := s.src, s.pos
	if src[i] == '-' {
		i++
	}
	whole := i
	if i < len(src) && src[i] == '0' {
		i++ // no digit may follow a leading 0
	} else {
		i = digits(src, i)
	}
	ok := i > whole
	if ok && i < len(src) && src[i] == '.' {
		fraction := i + 1
		i = digits(src, fraction)
		ok = i > fraction
	}
	if ok && i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		exponent := i
		i = digits(src, exponent)
		ok = i > exponent
	}
	if !ok {
		s.fail(faultNumber, i)
		return Text{}
	}
	text := Text{Start: s.pos, End: i}
	s.pos = i
	return text
}

// digits returns the offset after the digits at i.
func digits(src []byte, i int) int {
	for i < len(src) && src[i]-'0' <= 9 {
		i++
	}
	return i
}
