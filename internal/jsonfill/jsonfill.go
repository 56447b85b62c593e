// Package jsonfill fills Go structs from a JSON object whose values may be of another kind than the struct expects.
//
// A value that does not fit is converted where that loses nothing, and left out otherwise, so that one odd field loses neither
// its record nor the rest. Memory is bounded: Object adds up what it is about to allocate, and stops before it would exceed
// the caller's bound.
//
// A field is named by its json tag; fields of embedded structs count as the struct's own. A fill tag changes how it is read,
// with options separated by commas:
//
//	also=name  the field is read from this key too, where its own is missing or empty
//	any        for a string: a value that is not a string is kept as its JSON
//	list       for a slice of structs: a value other than objects in a list, one object or null makes Object fail, as does one
//	           object in which no member is a field; one without members is left out, as null is
//	places     for a slice of structs: an element that is not an object is an empty record, and is not left out
package jsonfill

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// ErrNotObject says that the document is not a JSON object.
var ErrNotObject = errors.New("it is not a JSON object")

// ErrTooMuch says that filling the structs would take more memory than the bound allows.
var ErrTooMuch = errors.New("it would take too much memory: its records are many and nearly empty")

// Object fills targets, pointers to structs, from doc. A key fills every target that has a field of its name, and a
// repeated key fills it again. null never replaces another value, nor does the zero value of a string, boolean, integer or time
// field. Keys match in any case, as with encoding/json, but one in another case than the field's fills it only where it is empty.
//
// It allocates at most limit bytes beside doc. All of doc is read also when a list does not fit, so that the other targets
// are filled when Object returns that error. Bytes that are not UTF-8 become U+FFFD.
func Object(doc []byte, limit int, targets ...any) error {
	f := filler{left: limit}
	if !utf8.Valid(doc) {
		if doc = f.validUTF8(doc); f.err != nil {
			return f.err
		}
	}
	f.src, f.scan = doc, jsonscan.New(doc)
	if f.scan.Next() != '{' {
		return ErrNotObject
	}
	values := make([]reflect.Value, len(targets))
	for i, t := range targets {
		values[i] = reflect.ValueOf(t).Elem()
	}
	f.object(values...)
	f.scan.End()
	if err := f.scan.Err(); err != nil && !errors.Is(f.err, ErrTooMuch) {
		return err
	}
	return f.err
}

// filler is one walk over a document.
type filler struct {
	src     []byte
	scan    jsonscan.Scanner
	left    int // bytes that may still be allocated
	scratch []byte
	err     error // the first; the walk goes on after it unless memory has run out
}

// take counts an object of n bytes that is about to be allocated and reports whether there is room for it.
func (f *filler) take(n int) bool {
	if n <= 32<<10 { // the heap rounds sizes up: by an eighth and a header, or to whole pages
		n += n/8 + 16
	} else {
		n = (n + 8<<10 - 1) &^ (8<<10 - 1)
	}
	if n > f.left {
		f.err, f.left = ErrTooMuch, -1
		return false
	}
	f.left -= n
	return true
}

// exhausted reports whether the walk has to end.
func (f *filler) exhausted() bool { return f.left < 0 }

// validUTF8 returns a copy in which every byte that is not part of a character is U+FFFD.
func (f *filler) validUTF8(doc []byte) []byte {
	size := 0
	for rest := doc; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		size += max(n, utf8.RuneLen(r))
		rest = rest[n:]
	}
	if !f.take(size) {
		return nil
	}
	valid := make([]byte, 0, size)
	for len(doc) > 0 {
		r, n := utf8.DecodeRune(doc)
		valid = utf8.AppendRune(valid, r)
		doc = doc[n:]
	}
	return valid
}

// object fills structs from the object that comes next. It reports whether that has members, and whether one is a field.
func (f *filler) object(targets ...reflect.Value) (some, known bool) {
	f.scan.Open()
	for first := true; !f.exhausted(); first = false {
		key, more := f.scan.Member(first)
		if !more {
			return some, known
		}
		some = true
		value, found := f.scan.Pos(), false
		for _, t := range targets {
			field, ok := planOf(t.Type()).field(f.raw(key)) // anew for each: a value read before may have taken its memory
			if !ok {
				continue
			}
			if found {
				f.scan.Seek(value)
			}
			found, known = true, true
			f.field(t.FieldByIndex(field.index), field)
		}
		if !found {
			f.scan.Skip()
		}
	}
	return some, known
}

// raw returns the content of a string; it is valid until the next call.
func (f *filler) raw(t jsonscan.Text) []byte {
	content := f.src[t.Start:t.End]
	if !t.Escaped {
		return content
	}
	if len(content) > cap(f.scratch) {
		if !f.take(2 * len(content)) {
			return nil
		}
		f.scratch = make([]byte, 0, 2*len(content))
	}
	f.scratch = jsonscan.Unescape(f.scratch[:0], content)
	return f.scratch
}

// field fills one field from the value that comes next.
func (f *filler) field(v reflect.Value, field field) {
	if field.also && !v.IsZero() {
		f.scan.Skip()
		return
	}
	switch field.kind {
	case aList:
		f.list(v, field)
	case aRecord:
		f.record(v)
	case aRaw:
		if raw := f.value(); string(raw) != "null" && f.take(len(raw)) {
			v.SetBytes(append(json.RawMessage(nil), raw...))
		}
	case aPointer:
		f.pointer(v, field)
	default:
		f.scalar(v, field)
	}
}

// value reads the value that comes next and returns its JSON.
func (f *filler) value() []byte {
	f.scan.Next()
	start := f.scan.Pos()
	f.scan.Skip()
	return f.src[start:f.scan.Pos()]
}

func (f *filler) record(v reflect.Value) {
	if f.scan.Next() != '{' {
		f.scan.Skip()
		return
	}
	f.object(v)
}

// pointer leaves nil for what does not fit.
func (f *filler) pointer(v reflect.Value, field field) {
	fits := true
	start := f.scan.Next()
	if field.elem == aRecord {
		fits = start == '{'
	}
	if !fits || start == 'n' {
		f.scan.Skip()
		return
	}
	if !f.take(int(v.Type().Elem().Size())) {
		return
	}
	p := reflect.New(v.Type().Elem())
	if field.elem == aRecord {
		f.object(p.Elem())
	} else if !f.scalar(p.Elem(), field) {
		return
	}
	v.Set(p)
}

// list fills a slice. An object in the place of a list is a list of one, unless it has no field of a record.
func (f *filler) list(v reflect.Value, field field) {
	switch start := f.scan.Next(); {
	case start == '{' && field.elem == aRecord:
		before := v.Slice(0, v.Len())
		if !f.make(v, 1) {
			return
		}
		some, known := f.object(v.Index(0))
		if !known {
			v.Set(before)
		}
		if some && !known && field.strict {
			f.misfit(field, "record")
		}
	case start == '{':
		f.make(v, 1)
		f.element(v, 0, field)
	case start == '[':
		f.elements(v, field)
	default:
		if start != 'n' && field.strict {
			f.misfit(field, "list")
		}
		f.scan.Skip()
	}
}

// elements fills a slice from an array. It counts before it allocates, so that nothing is allocated twice.
func (f *filler) elements(v reflect.Value, field field) {
	start, n := f.scan.Pos(), 0
	f.scan.Open()
	for first := true; f.scan.More(first); first = false {
		if f.fits(field) {
			n++
		}
		f.scan.Skip()
	}
	if f.scan.Err() != nil || !f.make(v, n) {
		return
	}
	f.scan.Seek(start)
	f.scan.Open()
	for first, i := true, 0; !f.exhausted() && f.scan.More(first); first = false {
		if !f.fits(field) {
			f.scan.Skip()
			continue
		}
		f.element(v, i, field)
		i++
	}
}

// fits tells whether the element that comes next belongs into the list.
func (f *filler) fits(field field) bool {
	if field.elem == aRaw || f.scan.Next() == '{' || field.places {
		return true
	}
	if field.strict {
		f.misfit(field, "record")
	}
	return false
}

func (f *filler) misfit(field field, kind string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s is not a %s", field.name, kind)
	}
}

func (f *filler) make(v reflect.Value, n int) bool {
	size := int(v.Type().Elem().Size())
	if !f.take(min(n, f.left/size+1) * size) { // the product of a larger n might overflow
		return false
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	return true
}

func (f *filler) element(v reflect.Value, i int, field field) {
	if f.exhausted() {
		return
	}
	if field.elem == aRecord {
		f.record(v.Index(i))
		return
	}
	if raw := f.value(); f.take(len(raw)) {
		v.Index(i).SetBytes(append(make(json.RawMessage, 0, len(raw)), raw...))
	}
}
