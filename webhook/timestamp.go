package webhook

import (
	"bytes"
	"time"
)

// maxTimestamp bounds the X-Timestamp header; the longest known form, RFC 3339 with nanoseconds, has 30 bytes.
const maxTimestamp = 64

// parseTimestamp reads an X-Timestamp header. The signed string is timestamp + "." + body without a
// length, so one signature covers every split of that string at a full stop. The known forms permit
// only one split. A later split would put a part of the body into the timestamp, and an earlier one
// a part of the timestamp into the body.
func (v *Verifier) parseTimestamp(s string) (time.Time, error) {
	if v.custom == nil {
		t, ok := parseKnownForm(s)
		if !ok {
			return time.Time{}, errTimestampMalformed
		}
		return t, nil
	}
	if !unambiguous(s) {
		return time.Time{}, errTimestampUnsafe
	}
	t, err := v.custom(s)
	if err != nil {
		return time.Time{}, errTimestampRefused
	}
	return t, nil
}

// unambiguous reports whether ParseTimestamp may be called with s. Together with beginsDocument it
// permits only one split of the signed string, whatever ParseTimestamp accepts.
//
// Proof: suppose that there are two splits, T1.B1 and T2.B2, and that T2 is longer. Then T2 = T1 +
// "." + X and B1 = X + "." + B2 for some text X. If X has a character other than JSON white space,
// B1 begins with that character, so the character is a bracket or a brace. But T2 contains X and
// has neither. If X has no such character, B1 begins with the full stop, which is neither a bracket
// nor a brace.
func unambiguous(s string) bool {
	if s == "" || len(s) > maxTimestamp {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '[' || c == '{' {
			return false
		}
	}
	return true
}

// beginsDocument reports whether a signed body begins with a bracket or a brace, after JSON white space.
func beginsDocument(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && (body[0] == '[' || body[0] == '{')
}

// parseKnownForm reads 10-digit Unix seconds (2001 to 2286), 13-digit Unix milliseconds (the same
// years), and RFC 3339 in UTC with T, Z and up to nine digits of a fraction. The service does not
// document which form it sends.
func parseKnownForm(s string) (time.Time, bool) {
	switch len(s) {
	case 10:
		n, ok := digits(s)
		return time.Unix(n, 0).UTC(), ok && s[0] != '0'
	case 13:
		n, ok := digits(s)
		return time.UnixMilli(n).UTC(), ok && s[0] != '0'
	}
	return parseRFC3339(s)
}

// parseRFC3339 is stricter than time.Parse, which accepts a comma in place of the full stop, and
// one-digit hours. In both cases the text after the fixed length is not a fraction.
func parseRFC3339(s string) (time.Time, bool) {
	const shape = "0000-00-00T00:00:00"
	if len(s) < len(shape)+1 || len(s) > len(shape)+len(".123456789Z") || s[len(s)-1] != 'Z' {
		return time.Time{}, false
	}
	if fraction := s[len(shape) : len(s)-1]; fraction != "" {
		if _, ok := digits(fraction[1:]); !ok || fraction[0] != '.' {
			return time.Time{}, false
		}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t, err == nil
}

// digits reads s, of at most 18 bytes, as a decimal number. ok is false when a byte is not a digit.
func digits(s string) (n int64, ok bool) {
	for i := range len(s) {
		d := s[i] - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + int64(d)
	}
	return n, true
}
