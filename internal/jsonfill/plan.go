package jsonfill

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// plan maps the names of keys to the fields of a struct that they fill.
type plan map[string]field

type field struct {
	name              string // name of the key
	index             []int
	kind, elem        kind // elem is the kind of the elements of lists and pointers
	also, any, strict bool
}

type kind uint8

const (
	aScalar kind = iota
	aRecord
	aList
	aRaw
	aPointer
)

func (d *Decoder) planOf(t reflect.Type) plan {
	if p, ok := d.plans.Load(t); ok {
		return p.(plan)
	}
	p := newPlan(t, d.options)
	d.plans.Store(t, p)
	return p
}

func newPlan(t reflect.Type, options map[string]string) plan {
	p := plan{}
	for _, sf := range reflect.VisibleFields(t) { // includes the fields of embedded structs
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		f := field{name: name, index: sf.Index, kind: kindOf(sf.Type)}
		if f.kind == aList || f.kind == aPointer {
			f.elem = kindOf(sf.Type.Elem())
		}
		names := []string{name}
		for option := range strings.SplitSeq(cmp.Or(sf.Tag.Get("fill"), options[name]), ",") {
			switch key, value, _ := strings.Cut(option, "="); key {
			case "also":
				names = append(names, value)
			case "any":
				f.any = true
			case "list":
				f.strict = true
			}
		}
		for i, name := range names {
			f.also = i > 0
			p[name] = f
		}
	}
	return p
}

func kindOf(t reflect.Type) kind {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return aRaw
	case t == reflect.TypeFor[time.Time]():
		return aScalar
	}
	switch t.Kind() {
	case reflect.Struct:
		return aRecord
	case reflect.Slice:
		return aList
	case reflect.Pointer:
		return aPointer
	case reflect.String, reflect.Bool, reflect.Int:
		return aScalar
	}
	panic(fmt.Sprintf("jsonfill: a field of type %s cannot be filled", t))
}
