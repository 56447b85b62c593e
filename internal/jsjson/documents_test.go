package jsjson

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
)

// documents makes JSON that is rich in what JavaScript treats in its own way, and damaged copies of it.
type documents struct{ *rand.Rand }

func newDocuments(seed uint64) documents {
	return documents{rand.New(rand.NewPCG(seed, 0))}
}

// next returns a document, two times in five a damaged one. It is never more than 20 levels deep.
func (d documents) next() []byte {
	var b strings.Builder
	d.value(&b, 1+d.IntN(6))
	doc := []byte(b.String())
	if d.IntN(5) < 2 {
		for range 1 + d.IntN(3) {
			doc = d.damage(doc)
		}
	}
	return doc
}

func (d documents) value(b *strings.Builder, depth int) {
	d.space(b)
	defer d.space(b)
	kind := d.IntN(10)
	if depth == 0 {
		kind = 4 + d.IntN(6)
	}
	switch {
	case kind < 3:
		d.object(b, depth)
	case kind == 3:
		b.WriteByte('[')
		for i := range d.IntN(5) {
			if i > 0 {
				b.WriteByte(',')
			}
			d.value(b, depth-1)
		}
		b.WriteByte(']')
	case kind < 6:
		b.WriteString(d.number())
	case kind < 9:
		d.str(b, d.IntN(8))
	default:
		b.WriteString(pick(d, "true", "false", "null"))
	}
}

func (d documents) object(b *strings.Builder, depth int) {
	b.WriteByte('{')
	n := d.IntN(6)
	if d.IntN(20) == 0 {
		n = 10 + d.IntN(20)
	}
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		d.space(b)
		d.key(b)
		d.space(b)
		b.WriteByte(':')
		d.value(b, depth-1)
	}
	d.space(b)
	b.WriteByte('}')
}

// key prefers few different names, so that they repeat, and numbers.
func (d documents) key(b *strings.Builder) {
	switch d.IntN(6) {
	case 0:
		b.WriteString(pick(d, `"a"`, `"b"`, `"\u0061"`, `"\u0062"`, `"c"`, `""`, `"A"`))
	case 1:
		b.WriteString(pick(d, `"0"`, `"1"`, `"10"`, `"9"`, `"2"`, `"\u0031"`, `"01"`, `"-1"`, `"1.0"`, `"1e1"`, `"00"`))
	case 2:
		b.WriteString(`"` + strconv.FormatUint(4294967290+d.Uint64N(10), 10) + `"`)
	case 3:
		b.WriteString(`"` + strconv.FormatUint(d.Uint64()>>(d.IntN(64)), 10) + `"`)
	case 4:
		b.WriteString(pick(d, `"__proto__"`, `"constructor"`, `"toJSON"`, `"length"`, `"documentName"`, `"contact_field(page1)[a]"`))
	default:
		d.str(b, d.IntN(3))
	}
}

func (d documents) str(b *strings.Builder, parts int) {
	b.WriteByte('"')
	for range parts {
		switch d.IntN(12) {
		case 0:
			b.WriteString(pick(d, `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`))
		case 1:
			b.WriteString(`\u` + d.hex(d.Uint32N(0x10000)))
		case 2:
			b.WriteString(`\u` + d.hex(d.Uint32N(0x100)))
		case 3:
			b.WriteString(`\u` + d.hex(0xD800+d.Uint32N(0x800)))
		case 4:
			b.WriteString(`\u` + d.hex(0xD800+d.Uint32N(0x400)) + `\u` + d.hex(0xDC00+d.Uint32N(0x400)))
		case 5:
			b.WriteString(pick(d, "é", "€", "😀", "\u2028", "\u2029", "\ufeff", "\u007f", "\u0080", "\uffff", "\U0010ffff", "<", ">", "&", "'"))
		case 6:
			b.WriteRune(rune(d.IntN(0x110000))) // U+FFFD for a surrogate
		case 7:
			for range 1 + d.IntN(4) {
				b.WriteByte(pick[byte](d, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff))
			}
		default:
			b.WriteString(pick(d, "a", "plain text", "1234567", "12345678", "123456789", " ", "A & B <c>", strings.Repeat("long ", 1+d.IntN(5))))
		}
	}
	b.WriteByte('"')
}

func (d documents) hex(n uint32) string {
	h := strconv.FormatUint(uint64(n)|0x10000, 16)[1:]
	if d.IntN(2) == 0 {
		return strings.ToUpper(h)
	}
	return h
}

func (d documents) space(b *strings.Builder) {
	if d.IntN(8) == 0 {
		b.WriteString(pick(d, " ", "\n", "\t", "\r\n", "  "))
	}
}

// damage changes a document in one place, mostly so that it is no longer JSON.
func (d documents) damage(doc []byte) []byte {
	at := d.IntN(len(doc) + 1)
	head, tail := doc[:at:at], doc[at:]
	if len(tail) == 0 || d.IntN(3) == 0 {
		more := pick(d, "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "1", " ", "\x00", "\x1f", "\n", "\xff", "\xc3", "\xe2\x82", "\\u", "\\ud8", "\u2028", "\ufeff", "null", "//")
		return append(append(head, more...), tail...)
	}
	switch d.IntN(4) {
	case 0:
		return append(head, tail[1:]...)
	case 1:
		return append(append(head, byte(d.IntN(256))), tail[1:]...)
	case 2:
		return append(append(head, tail[0]), tail...)
	default:
		n := 1 + d.IntN(len(tail))
		return append(append(head, tail[n:]...), tail[:n]...)
	}
}

// number returns a number by JSON's grammar, near a place where printing or rounding changes.
func (d documents) number() string {
	sign := pick(d, "", "-")
	switch d.IntN(11) {
	case 0:
		return sign + strconv.Itoa(d.IntN(1000))
	case 1:
		return sign + strconv.FormatUint(d.Uint64()>>d.IntN(64), 10)
	case 2:
		return sign + d.digits(1+d.IntN(3)) + pick(d, "", "."+d.zeroed(1+d.IntN(25))) + pick(d, "e", "E") + pick(d, "", "+", "-") + d.zeroed(1+d.IntN(3))
	case 3:
		return sign + "0." + strings.Repeat("0", d.IntN(12)) + d.zeroed(1+d.IntN(20))
	case 4:
		return sign + d.digits(15+d.IntN(12)) + pick(d, "", ".0", "e0", "e-3", "."+d.zeroed(3))
	case 5:
		return sign + d.halfway()
	case 6:
		f := pick(d, 1e21, 1e-6, 1e-7, 1<<53, math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308)
		for range d.IntN(3) {
			f = math.Nextafter(f, pick(d, 0, math.MaxFloat64))
		}
		return sign + strconv.FormatFloat(f, pick[byte](d, 'e', 'f', 'g'), -1, 64)
	case 7:
		return sign + pick(d, "0", "0.0", "0e7", "0E-400", "1e400", "1e308", "1.8e308", "5e-324", "2e-324", "1e-400", "1e999999999999")
	case 8:
		n := d.IntN(1000)
		return sign + pick(d, d.digits(1+n)+pick(d, "", ".", ".0")+d.zeroed(1+n), "0."+strings.Repeat("0", n)+d.digits(1+n/9)) + "e" + strconv.Itoa(pick(d, -n, n, -2*n)+d.IntN(700)-350)
	default:
		f := math.Abs(math.Float64frombits(d.Uint64() &^ (1 << 62))) // below 2, so finite
		if d.IntN(2) == 0 {
			f = math.Ldexp(1+d.Float64(), d.IntN(200)-100)
		}
		return sign + strconv.FormatFloat(f, pick[byte](d, 'e', 'f', 'g'), pick(d, -1, 0, 5, 16, 17, 18, 25), 64)
	}
}

// halfway returns the exact decimal between two neighbouring floats, or a decimal next to it.
func (d documents) halfway() string {
	f := math.Ldexp(1+d.Float64(), d.IntN(300)-150)
	sum := new(big.Float).SetPrec(2000).SetFloat64(f)
	sum.Add(sum, new(big.Float).SetFloat64(math.Nextafter(f, math.Inf(1))))
	sum.Quo(sum, big.NewFloat(2))
	text := sum.Text('e', 400)
	mantissa, exponent, _ := strings.Cut(text, "e")
	return strings.TrimRight(mantissa, "0") + pick(d, "0", "1", "00000000000000000000001", "") + "e" + exponent
}

func (d documents) digits(n int) string {
	return string(append([]byte{byte('1' + d.IntN(9))}, d.zeroed(n-1)...))
}

// zeroed returns n digits, some of which are runs of 0 or 9.
func (d documents) zeroed(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = pick[byte](d, '0', '9', byte('0'+d.IntN(10)), byte('0'+d.IntN(10)))
	}
	return string(b)
}

func pick[T any](d documents, of ...T) T { return of[d.IntN(len(of))] }
