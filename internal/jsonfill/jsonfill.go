// Package jsonfill fills Go structs from a JSON object whose values may be of a different kind than
// the struct expects.
//
// A value that does not fit is converted if the conversion loses nothing, and is left out
// otherwise. So one odd field loses neither its record nor the other records. Memory is bounded:
// Object adds up its allocations in advance, and stops before they exceed the caller's limit.
//
// A field is named by its json tag; fields of embedded structs count as the struct's own. A fill
// tag, or the entry of the tag's name in the table of a [Decoder], changes how it is read, with
// options separated by commas:
//
//	also=name  the field is read from this key too, where its own is missing or empty
//	any        for a string: a value that is not a string is kept as its JSON
//	list       for a slice of structs: a value other than objects in a list, one record or null makes Object fail
//
// Otherwise an element of a list that is not an object is an empty record.
package jsonfill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"unicode/utf8"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// ErrNotObject means that the document is not a JSON object.
var ErrNotObject = errors.New("it is not a JSON object")

// ErrTooMuch means that filling the structs would take more memory than the limit allows.
var ErrTooMuch = errors.New("it would take too much memory: its records are many and nearly empty")

// A Decoder has a table of options for fields, by the names in their json tags. With it, exported
// structs need no fill tags. A Decoder makes the plan for each type once.
type Decoder struct {
	options map[string]string
	plans   sync.Map // reflect.Type → plan
}

// NewDecoder returns a Decoder with a table.
func NewDecoder(options map[string]string) *Decoder { return &Decoder{options: options} }

var plain = NewDecoder(nil)

// Object is [Decoder.Object] without a table.
func Object(doc []byte, limit int, targets ...any) error { return plain.Object(doc, limit, targets...) }

// Object fills targets, which are pointers to structs, from doc. A key fills every target that has
// a field with its name, and a repeated key fills it again. null never replaces another value, and
// neither does the zero value of a string, boolean, integer or time field. Keys match exactly.
//
// Object allocates at most limit bytes in addition to doc. Object reads all of doc even if a list
// does not fit, so that the other targets are filled when it returns that error. A run of bytes
// that are not UTF-8 becomes U+FFFD.
func (d *Decoder) Object(doc []byte, limit int, targets ...any) error {
	f := filler{decoder: d, left: limit}
	if !utf8.Valid(doc) {
		if !f.take(3 * len(doc)) {
			return f.err
		}
		doc = bytes.ToValidUTF8(doc, []byte("\ufffd"))
	}
	f.src, f.scan = doc, jsonscan.New(doc)
	if f.scan.Next() != '{' {
		return ErrNotObject
	}
	values := make([]reflect.Value, 0, 2) // with a constant size, the slice is on the stack
	for _, t := range targets {
		values = append(values, reflect.ValueOf(t).Elem())
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
	decoder *Decoder
	src     []byte
	scan    jsonscan.Scanner
	left    int   // bytes that may still be allocated
	err     error // the first error; the walk continues after it unless memory has run out
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

// exhausted reports whether the memory limit ends the walk.
func (f *filler) exhausted() bool { return f.left < 0 }

// object fills structs from the next object.
func (f *filler) object(targets ...reflect.Value) {
	plans := make([]plan, 0, 2)
	for _, t := range targets {
		plans = append(plans, f.decoder.planOf(t.Type()))
	}
	f.scan.Open()
	for first := true; !f.exhausted(); first = false {
		key, more := f.scan.Member(first)
		if !more {
			return
		}
		value, found := f.scan.Pos(), false
		for i, t := range targets {
			field, ok := plans[i][string(f.raw(key))] // in this form the compiler does not copy the text
			if !ok {
				continue
			}
			if found {
				f.scan.Seek(value)
			}
			found = true
			f.field(t.FieldByIndex(field.index), field)
		}
		if !found {
			f.scan.Skip()
		}
	}
}

// raw returns the content of a string.
func (f *filler) raw(t jsonscan.Text) []byte {
	content := f.src[t.Start:t.End]
	if !t.Escaped {
		return content
	}
	if !f.take(len(content)) {
		return nil
	}
	return jsonscan.Unescape(make([]byte, 0, len(content)), content)
}

// field fills one field from the next value.
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

// value reads the next value and returns its JSON.
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

// pointer fills a pointer. It leaves nil if the value does not fit.
func (f *filler) pointer(v reflect.Value, field field) {
	if start := f.scan.Next(); start == 'n' || field.elem == aRecord && start != '{' {
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

// list fills a slice. A record in place of a list counts as a list with one element.
func (f *filler) list(v reflect.Value, field field) {
	start := f.scan.Next()
	switch {
	case start == '[':
		f.elements(v, field)
		return
	case start != '{' || field.elem != aRecord:
		f.scan.Skip()
	case f.make(v, 1):
		f.record(v.Index(0))
		if !v.Index(0).IsZero() {
			return
		}
		v.SetZero()
	}
	if start != 'n' && field.strict {
		f.misfit(field, "list")
	}
}

// elements fills a slice from an array. It counts before it allocates, so that nothing is allocated twice.
func (f *filler) elements(v reflect.Value, field field) {
	start, n := f.scan.Pos(), 0
	f.scan.Open()
	for ; f.scan.More(n == 0); n++ {
		if f.scan.Next() != '{' && field.strict {
			f.misfit(field, "record")
		}
		f.scan.Skip()
	}
	if f.scan.Failed() || !f.make(v, n) {
		return
	}
	f.scan.Seek(start)
	f.scan.Open()
	for i := 0; !f.exhausted() && f.scan.More(i == 0); i++ {
		if field.elem == aRecord {
			f.record(v.Index(i))
		} else if raw := f.value(); f.take(len(raw)) {
			v.Index(i).SetBytes(append(make(json.RawMessage, 0, len(raw)), raw...))
		}
	}
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
	if v.SetZero(); n == 0 {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0)) // not nil
	}
	v.Grow(n) // MakeSlice would allocate the header too
	v.SetLen(n)
	return true
}
