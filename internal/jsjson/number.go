package jsjson

import (
	"bytes"
	"math"
	"strconv"
)

// scalar prints a number, true, false or null.
func (n *normalizer) scalar(raw []byte) {
	if c := raw[0]; c != '-' && (c < '0' || c > '9') || isPlainInteger(raw) {
		n.out = append(n.out, raw...)
		return
	}
	d := parseDecimal(n.digits[:0], raw)
	n.digits = d.digits
	if d.costly() {
		if n.costly++; n.costly > maxCostly {
			n.err = errTooCostly
			return
		}
	}
	n.out = appendNumber(n.out, d.float())
}

// isPlainInteger reports whether a number is an integer of at most 15 digits, which is printed
// unchanged.
func isPlainInteger(raw []byte) bool {
	if raw[0] == '-' {
		raw = raw[1:]
		if raw[0] == '0' {
			return false
		}
	}
	if len(raw) > 15 {
		return false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// decimal is ±0.digits × 10^point. The first digit and the last digit are not 0; the number zero
// has no digits.
type decimal struct {
	negative bool
	digits   []byte
	point    int64
}

// maxDigits is how many digits can decide which double is nearest. For further digits, it only
// matters whether all of them are 0. strconv.ParseFloat gets at most maxDigits digits, because in
// Go 1.26 it counts wrongly from the 801st digit of an integer on, and exponents of six digits.
const maxDigits = 768

// parseDecimal parses a valid number. It appends the digits to dst.
func parseDecimal(dst, raw []byte) decimal {
	d := decimal{digits: dst}
	if raw[0] == '-' {
		d.negative = true
		raw = raw[1:]
	}
	if e := bytes.IndexAny(raw, "eE"); e >= 0 {
		d.point = exponent(raw[e+1:])
		raw = raw[:e]
	}
	whole, more := int64(1), false // 0 after the full stop, 1 before it
	for _, c := range raw {
		switch {
		case c == '.':
			whole = 0
		case c == '0' && len(d.digits) == 0:
			d.point += whole - 1
		case len(d.digits) < maxDigits:
			d.digits = append(d.digits, c)
			d.point += whole
		default:
			more = more || c != '0'
			d.point += whole
		}
	}
	if more {
		d.digits = append(d.digits, '1')
	}
	d.digits = bytes.TrimRight(d.digits, "0")
	return d
}

// exponent reads the text after the e of a number. It stops counting at a value for which no
// document has enough digits to compensate.
func exponent(raw []byte) (n int64) {
	negative := raw[0] == '-'
	if negative || raw[0] == '+' {
		raw = raw[1:]
	}
	for _, c := range raw {
		n = min(10*n+int64(c-'0'), 1<<40)
	}
	if negative {
		return -n
	}
	return n
}

// tiny reports that the nearest double is 0, if the magnitude of the number alone shows it. huge
// reports that the nearest double is infinite.
func (d *decimal) tiny() bool { return len(d.digits) == 0 || d.point < -323 }
func (d *decimal) huge() bool { return len(d.digits) > 0 && d.point > 309 }

// maxCostly is how many numbers of one document may be costly to read. Each takes 15 microseconds,
// a thousand times as long as other numbers. JSON.stringify prints no such number between 1e-307
// and 1e308.
const maxCostly = 100

// costly reports whether strconv.ParseFloat may have to read the number with arithmetic on all its
// digits.
func (d *decimal) costly() bool {
	return !d.tiny() && !d.huge() && (len(d.digits) > 19 || d.point < -306 || d.point > 308)
}

// float returns the nearest double. It overwrites the memory after the digits.
func (d *decimal) float() float64 {
	switch {
	case d.tiny():
		return 0
	case d.huge():
		return math.Inf(1)
	}
	text := strconv.AppendInt(append(d.digits, 'e'), d.point-int64(len(d.digits)), 10)
	// The only remaining error is a number out of range, for which ParseFloat returns infinity.
	f, _ := strconv.ParseFloat(string(text), 64)
	if d.negative {
		f = -f
	}
	return f
}

// appendNumber appends f as JSON.stringify prints it: by JavaScript's Number::toString, or as null
// if f is not finite.
func appendNumber(dst []byte, f float64) []byte {
	switch abs := math.Abs(f); {
	case math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0') // also for -0
	case 1e-6 <= abs && abs < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// JavaScript has no leading zero in the exponent: 1e-7, not 1e-07.
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
