package pdf

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// update is a file under construction: the bytes of a document, then new and changed objects (ISO 32000, 7.5.6).
type update struct {
	*document
	out     []byte
	changed map[int]place
	last    int // the largest number of an object so far
}

// newUpdate returns an update that changes nothing. New objects get numbers above all numbers to
// which the file refers.
func newUpdate(d *document) *update {
	const room = 256 << 10 // enough for most updates, so that a large file is not copied again
	out := append(make([]byte, 0, len(d.data)+room), d.data...)
	u := &update{document: d, out: append(out, '\n'), changed: map[int]place{}}
	for number := range d.table {
		u.last = max(u.last, number)
	}
	for number := range d.referred {
		if number <= maxObjects { // a larger number may be part of image data
			u.last = max(u.last, number)
		}
	}
	return u
}

// number returns a number for a new object.
func (u *update) number() int {
	for u.last++; u.referred[u.last]; {
		u.last++
	}
	return u.last
}

func (u *update) begin(o object) {
	u.changed[o.number] = place{at: len(u.out), generation: o.generation}
	u.out = fmt.Appendf(u.out, "%d %d obj\n", o.number, o.generation)
}

// put writes an object with new content.
func (u *update) put(o object, content value) {
	u.begin(o)
	u.out = append(append(u.out, content...), "\nendobj\n"...)
}

// putStream writes a new stream, with the entries of its dictionary except Length.
func (u *update) putStream(number int, entries dict, content []byte) {
	u.begin(object{number: number})
	u.out = append(u.out, entries.with("Length", fmt.Appendf(nil, "%d", len(content))).text()...)
	u.out = append(append(append(u.out, "\nstream\n"...), content...), "\nendstream\nendobj\n"...)
}

// add writes a new stream and returns a reference to it.
func (u *update) add(entries dict, content []byte) value {
	number := u.number()
	u.putStream(number, entries, content)
	return referenceTo(number, 0)
}

// end writes the table of the changed objects, of the same kind as the last section of the document.
func (u *update) end() {
	start := len(u.out)
	if !u.classic {
		u.changed[u.number()] = place{at: start}
	}
	var index, table, stream []byte
	numbers := slices.Sorted(maps.Keys(u.changed))
	for len(numbers) > 0 {
		run := 1
		for run < len(numbers) && numbers[run] == numbers[0]+run {
			run++
		}
		index = fmt.Appendf(index, "%d %d ", numbers[0], run)
		table = fmt.Appendf(table, "%d %d\n", numbers[0], run)
		for _, number := range numbers[:run] {
			p := u.changed[number]
			table = fmt.Appendf(table, "%010d %05d n \n", p.at, p.generation)
			stream = binary.BigEndian.AppendUint32(append(stream, 1), uint32(p.at))
			stream = binary.BigEndian.AppendUint16(stream, uint16(p.generation))
		}
		numbers = numbers[run:]
	}
	trailer := dict{}.with("Size", fmt.Appendf(nil, "%d", u.last+1)).with("Prev", fmt.Appendf(nil, "%d", u.start)).
		with("Root", u.trailer.get("Root")).with("Info", u.trailer.get("Info")).with("ID", u.id())
	if u.classic {
		u.out = append(append(append(append(u.out, "xref\n"...), table...), "trailer\n"...), trailer.text()...)
	} else {
		index = append(append([]byte("["), index...), ']')
		u.putStream(u.last, trailer.with("Type", value("/XRef")).with("W", value("[1 4 2]")).with("Index", index), stream)
	}
	u.out = fmt.Appendf(u.out, "\nstartxref\n%d\n%%%%EOF\n", start)
}

// id returns the identifier of the file. Its first half stays unchanged, and its second half is new
// in this update.
func (u *update) id() value {
	hash := sha256.Sum256(u.out)
	own := value(fmt.Appendf(nil, "<%x>", hash[:16]))
	if halves := u.array(u.trailer.get("ID")); len(halves) > 0 {
		return array(halves[0], own)
	}
	return array(own, own)
}

// graft copies objects of another file into an update. moved has their new numbers by the old ones.
type graft struct {
	from  *file
	to    *update
	moved map[int]int
}

// copy returns a value whose references refer to copies, and writes the copies.
func (g graft) copy(v value) (out value) {
	s := scanner{data: v}
	for s.skip(); s.at < len(v) && !s.bad; s.skip() {
		start := s.at
		if !s.ahead("<<") && !s.ahead(">>") && !s.ahead("[") && !s.ahead("]") {
			s.scalar()
		}
		part := v[start:s.at]
		if number, _, ok := part.reference(); ok {
			part = referenceTo(g.object(number), 0)
		}
		out = append(append(out, part...), ' ')
	}
	return out
}

// object copies an object once, and returns the number of the copy.
func (g graft) object(number int) int {
	if moved, done := g.moved[number]; done {
		return moved
	}
	moved := g.to.number()
	g.moved[number] = moved
	o := g.from.get(number, 0)
	content := g.copy(o.value)
	if o.isStream {
		g.to.putStream(moved, content.dict(), o.packed)
	} else {
		g.to.put(object{number: moved}, content)
	}
	return moved
}
