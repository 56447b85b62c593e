package pdf

import (
	"bytes"
	"cmp"
	"fmt"
)

// file is a PDF that was opened for reading. Its bytes are never changed. file repairs nothing.
// After an error the whole file is unusable, and the results of its methods have no meaning.
type file struct {
	data     []byte
	err      error // the first error
	start    int   // offset of the last section of the cross-reference table
	classic  bool  // the last section is a table, not a stream
	trailer  dict  // trailer of the last section
	table    map[int]place
	referred map[int]bool  // the numbers of the objects that the file refers to, defined or not
	packed   map[int]value // the objects in object streams, by their numbers
	opened   map[int]bool  // the object streams whose objects are in packed
	left     int           // how many bytes may still be unpacked
	lengths  int           // how many lookups of the Length of a stream are nested
}

// place is the position of an object according to the table. The zero value means that the object
// does not exist.
type place struct {
	at         int // offset in the file; -1 for an object in use whose offset in the table is 0
	generation int
	container  int // the number of the object stream that holds the object, if positive
}

// object is an indirect object of a file.
type object struct {
	number, generation int
	value              value
	packed             []byte // for a stream: its bytes as they are in the file
	isStream           bool
}

// tail is how many bytes may follow the last startxref of a file. Viewers search for startxref in
// this range.
const tail = 2048

// open reads the cross-reference table of a file, and checks that each object that the file refers
// to is at its position.
func open(data []byte) *file {
	f := &file{data: data, table: map[int]place{}, packed: map[int]value{}, opened: map[int]bool{}, referred: map[int]bool{}, left: maxUnpacked}
	end := bytes.LastIndex(data, []byte("startxref"))
	switch {
	case !bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")):
		f.err = ErrNotPDF
	case !bytes.HasPrefix(data, []byte("%PDF-")):
		f.fail("bytes stand before %%PDF")
	case end < max(len(data)-tail, 0):
		f.err = ErrCutShort
	default:
		s := scanner{data: data, at: end + len("startxref")}
		if f.start = s.natural(); s.bad {
			f.fail("startxref has no number")
		}
		f.readTable()
		f.note(data)
		f.check()
	}
	return f
}

// fail records an error of the file, unless it already has one.
func (f *file) fail(format string, args ...any) { f.refuse(ErrDamaged, format, args...) }

func (f *file) refuse(reason error, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%w (%s)", reason, fmt.Sprintf(format, args...))
	}
}

// readTable reads all sections of the table, the last one first.
func (f *file) readTable() {
	seen := map[int]bool{}
	for at, more := f.start, true; more && f.err == nil; {
		if seen[at] {
			f.fail("a section of the cross-reference table refers to itself")
		}
		seen[at] = true
		trailer := f.section(at)
		if f.trailer == nil {
			f.trailer = trailer
		}
		prev := trailer.get("Prev")
		if more = prev != nil; more {
			at = f.natural(prev)
		}
	}
}

// section reads one section of the table, with the stream that a hybrid section refers to. It returns its trailer.
func (f *file) section(at int) dict {
	s := f.scan(at)
	if s.skip(); !s.ahead("xref") {
		return f.streamSection(at)
	}
	f.classic = f.classic || f.trailer == nil
	free := f.subsections(&s)
	content := s.value()
	if s.bad || !content.isDict() {
		f.fail("the cross-reference table cannot be read at %d", s.at)
		return nil
	}
	trailer := content.dict()
	f.encrypted(trailer)
	if hidden := trailer.get("XRefStm"); hidden != nil {
		f.streamSection(f.natural(hidden))
	}
	for _, number := range free { // unless the object is in the stream
		f.define(number, place{})
	}
	return trailer
}

// scan returns a scanner at an offset. It is at the end if the file has no such offset.
func (f *file) scan(at int) scanner {
	if at < 0 || at > len(f.data) {
		at = len(f.data)
	}
	return scanner{data: f.data, at: at}
}

// subsections reads the entries of a section up to its trailer. It returns the numbers of free entries.
func (f *file) subsections(s *scanner) (free []int) {
	for {
		word := s.token()
		first, ok := natural(word)
		if word == "trailer" {
			return free
		}
		last := first + s.natural()
		s.bad = s.bad || !ok
		for number := first; number < last && !s.bad && f.err == nil; number++ {
			p := place{at: cmp.Or(s.natural(), -1), generation: s.natural()}
			switch s.token() {
			case "n":
				f.define(number, p)
			case "f":
				free = append(free, number)
			default:
				s.bad = true
			}
		}
		if s.bad || f.err != nil {
			return nil
		}
	}
}

// define records the position of an object, unless a later section of the table has recorded it.
func (f *file) define(number int, p place) {
	if number > maxObjects {
		f.refuse(ErrTooHeavy, "object %d has a number above %d", number, maxObjects)
	} else if _, there := f.table[number]; !there {
		f.table[number] = p
	}
}

func (f *file) encrypted(trailer dict) {
	if f.err == nil && trailer.get("Encrypt") != nil {
		f.err = ErrEncrypted
	}
}

// streamSection reads a section of the table that is a stream.
func (f *file) streamSection(at int) dict {
	before := f.err
	o := f.objectAt(at)
	if !o.isStream || o.value.dict().get("Type").name() != "XRef" {
		f.err = before // keeps the earlier error, not an error of the object at this offset
		f.fail("no cross-reference table is at %d, where the file says it is", at)
		return nil
	}
	d := o.value.dict()
	f.encrypted(d)
	content := f.unpack(o)
	var widths [3]int
	for i, w := range f.array(d.get("W")) {
		widths[min(i, 2)] = f.natural(w)
	}
	if max(widths[0], widths[1], widths[2]) > 8 || widths[1] == 0 {
		f.fail("the cross-reference stream at %d has no widths", at)
	}
	index := f.array(d.get("Index"))
	if index == nil {
		index = []value{value("0"), d.get("Size")}
	}
	for ; len(index) >= 2; index = index[2:] {
		first, count := f.natural(index[0]), f.natural(index[1])
		for number := first; f.err == nil && number < first+count; number++ {
			content = f.streamEntry(content, widths, number)
		}
	}
	return d
}

// streamEntry reads the entry of an object, and returns the content after it.
func (f *file) streamEntry(content []byte, widths [3]int, number int) []byte {
	fields := [3]int{1, 0, 0}
	if len(content) < widths[0]+widths[1]+widths[2] {
		f.fail("the cross-reference stream is too short")
		return nil
	}
	for i, width := range widths {
		for j, b := range content[:width] {
			if j == 0 {
				fields[i] = 0
			}
			fields[i] = fields[i]<<8 | int(b)
		}
		content = content[width:]
	}
	switch fields[0] {
	case 1:
		f.define(number, place{at: cmp.Or(fields[1], -1), generation: fields[2]})
	case 2:
		f.define(number, place{container: fields[1]})
	default:
		f.define(number, place{})
	}
	return content
}

// note records the numbers of the objects to which a text refers.
func (f *file) note(text []byte) {
	for at := 0; ; at++ {
		next := bytes.IndexByte(text[at:], 'R')
		if next < 0 {
			return
		}
		at += next
		generation := digitsBefore(text, at)
		numberAt := digitsBefore(text, generation)
		if generation < at && numberAt < generation {
			if number, _, ok := value(text[numberAt:min(at+2, len(text))]).reference(); ok {
				f.referred[number] = true
			}
		}
	}
}

// digitsBefore returns the offset where the digits before end begin. White space may follow the
// digits. If there are no digits, digitsBefore returns end.
func digitsBefore(text []byte, end int) int {
	blank := len(bytes.TrimRight(text[:end], "\x00\t\n\f\r "))
	at := blank
	for at > 0 && text[at-1] >= '0' && text[at-1] <= '9' {
		at--
	}
	if blank == end || at == blank {
		return end
	}
	return at
}

// check checks that each object that the file refers to is at its position. To do so, it opens the
// object streams.
func (f *file) check() {
	for _, p := range f.table {
		if p.container > 0 && f.err == nil {
			f.openStream(p.container)
		}
	}
	for number, p := range f.table {
		s := f.scan(p.at)
		switch {
		case !f.referred[number] || p == place{}:
		case p.container > 0 && f.packed[number] == nil,
			p.container == 0 && (s.natural() != number || s.natural() != p.generation || s.bad || s.token() != "obj"):
			f.fail("object %d is not where the cross-reference table says", number)
		}
	}
}

// objectAt reads the object at an offset, which ends with its own endobj.
func (f *file) objectAt(at int) (o object) {
	s := f.scan(at)
	o.number, o.generation = s.natural(), s.natural()
	if s.skip(); s.bad || !s.ahead("obj") {
		f.fail("no object is at %d", at)
		return object{}
	}
	if o.value = s.value(); s.bad {
		f.fail("object %d has a syntax error", o.number)
		return object{}
	}
	word := s.token()
	if word == "stream" && o.value.isDict() {
		o.packed, o.isStream = f.streamData(o, &s), true
		word = s.token()
	}
	if word != "endobj" {
		f.fail("object %d does not end with endobj", o.number)
	}
	return o
}

// streamData returns the bytes of a stream, whose end is determined by its Length.
func (f *file) streamData(o object, s *scanner) []byte {
	if f.lengths++; f.lengths > maxDepth {
		f.fail("the Length of the stream of object %d leads to itself", o.number)
		return nil
	}
	if !s.ahead("\r\n") && !s.ahead("\n") {
		s.ahead("\r")
	}
	length := f.natural(o.value.dict().get("Length"))
	f.lengths--
	start := s.at
	s.at = min(start+length, len(s.data))
	content := s.data[start:s.at]
	s.at += len(s.data[s.at:]) - len(bytes.TrimLeft(s.data[s.at:], "\x00\t\n\f\r "))
	if !s.ahead("endstream") {
		f.fail("the stream of object %d is not as long as it says", o.number)
	}
	return content
}

// get returns an object to which the file refers. Its value is nil if the object does not exist.
func (f *file) get(number, generation int) object {
	p := f.table[number]
	if p == (place{}) || f.err != nil {
		return object{number: number}
	}
	if p.container > 0 {
		f.openStream(p.container)
		s := scanner{data: f.packed[number]}
		o := object{number: number, value: s.value()}
		if s.bad {
			f.fail("object %d has a syntax error", number)
		}
		return o
	}
	o := f.objectAt(p.at)
	if o.number != number || o.generation != p.generation || generation != p.generation {
		f.fail("object %d is not where the cross-reference table says", number)
	}
	return o
}

// openStream records the objects of an object stream.
func (f *file) openStream(number int) {
	if f.opened[number] {
		return
	}
	f.opened[number] = true
	o := f.objectAt(f.table[number].at)
	if o.number != number || !o.isStream || o.value.dict().get("Type").name() != "ObjStm" {
		f.fail("object %d is no object stream", number)
		return
	}
	content := f.unpack(o)
	f.note(content)
	d := o.value.dict()
	n, first := f.natural(d.get("N")), f.natural(d.get("First"))
	head := scanner{data: content[:min(first, len(content))]}
	for range min(n, len(content)) {
		inner, at := head.natural(), head.natural()
		if head.bad || first+at > len(content) {
			f.fail("object stream %d has fewer objects than it says", number)
			return
		}
		if f.table[inner].container == number {
			f.packed[inner] = content[first+at:]
		}
	}
}

// resolve returns the value to which a reference refers. It returns any other value unchanged. It
// returns nil for null.
func (f *file) resolve(v value) value {
	for range maxDepth {
		number, generation, ok := v.reference()
		if !ok {
			if string(v) == "null" {
				return nil
			}
			return v
		}
		v = f.get(number, generation).value
	}
	f.fail("a reference leads to itself")
	return nil
}

// present is like resolve, but a reference to a missing object is an error, because some viewers
// search for such an object.
func (f *file) present(v value) value {
	found := f.resolve(v)
	if found == nil && v != nil {
		f.fail("%.20q refers to an object that does not exist", v)
	}
	return found
}

// dict returns the dictionary that a value is or refers to, or nil if there is none.
func (f *file) dict(v value) dict {
	if v = f.present(v); v == nil {
		return nil
	}
	if !v.isDict() {
		f.fail("%.20q is no dictionary", v)
		return nil
	}
	d := v.dict()
	if key := d.repeats(); key != "" {
		f.fail("an object has the key %q twice", key)
	}
	return d
}

// array returns the elements of the array that a value is or refers to.
func (f *file) array(v value) []value {
	if v = f.present(v); v == nil {
		return nil
	}
	if v[0] != '[' {
		f.fail("%.20q is no array", v)
		return nil
	}
	return v.elements()
}

// number returns the number that a value is or refers to.
func (f *file) number(v value) float64 {
	n, ok := number(string(f.resolve(v)))
	if !ok {
		f.fail("%.20q is no number", v)
	}
	return n
}

// natural returns the number of at least 0 that a value is or refers to.
func (f *file) natural(v value) int {
	n, ok := natural(string(f.resolve(v)))
	if !ok {
		f.fail("%.20q is no number", v)
	}
	return n
}
