package webhook

import (
	"slices"
	"strconv"
	"strings"
)

// fieldsLinear is the number of fields up to which a repeated key is searched linearly. More fields
// are looked up in a map.
const fieldsLinear = 16

// dynamic reads the value of a key that no event type names. The value becomes a Field if the key
// has the form of one, and is skipped otherwise. A Field that is null counts as missing.
func (d *decoder) dynamic(key string) {
	field, ok := parseFieldKey(key)
	if !ok {
		d.scan.Skip()
		return
	}
	null := d.scan.Next() == 'n'
	d.loose(&field.Value)
	e := &d.cur
	if i := e.fieldIndex(key); i >= 0 {
		e.fields[i] = field
		if null {
			e.fields[i].Kind = nullKind
			e.nullFields = true
		}
		return
	}
	if null {
		return
	}
	if len(e.fields) == 0 {
		d.fields.begin(d.left())
	}
	*d.fields.add(d.left()) = field
	e.fields = d.fields.end()
	if e.fieldAt != nil {
		e.fieldAt[key] = len(e.fields) - 1
	}
}

// nullKind marks a field whose last value is null. The field is removed at the end of the event,
// because removing it at once would move the others. Every real field has a kind.
const nullKind = ""

func (e *element) dropNullFields() {
	if e.nullFields {
		e.fields = slices.DeleteFunc(e.fields, func(f Field) bool { return f.Kind == nullKind })
	}
	if len(e.fields) == 0 {
		e.fields = nil
	}
}

// fieldIndex returns the index of the field with this key, or -1. The map keeps the time for a
// payload with many keys from growing with the square of their number.
func (e *element) fieldIndex(key string) int {
	if len(e.fields) < fieldsLinear {
		for i := range e.fields {
			if e.fields[i].Key == key {
				return i
			}
		}
		return -1
	}
	if e.fieldAt == nil {
		e.fieldAt = make(map[string]int, 2*len(e.fields))
		for i := range e.fields {
			e.fieldAt[e.fields[i].Key] = i
		}
	}
	if i, ok := e.fieldAt[key]; ok {
		return i
	}
	return -1
}

// parseFieldKey parses <kind>(page<N>)[<label>]. The kind ends at the first "(page"; the label may be any text.
func parseFieldKey(key string) (Field, bool) {
	if !strings.HasSuffix(key, "]") {
		return Field{}, false
	}
	kind, rest, ok := strings.Cut(key, "(page")
	if !ok || kind == "" {
		return Field{}, false
	}
	number, label, ok := strings.Cut(rest, ")[")
	if !ok || number == "" || number[0] == '+' || number[0] == '-' {
		return Field{}, false
	}
	page, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return Field{}, false
	}
	return Field{Kind: kind, Page: int(page), Label: label[:len(label)-1], Key: key}, true
}
