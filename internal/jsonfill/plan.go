package jsonfill

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// plan says what fills the fields of a struct.
type plan struct {
	exact map[string]field
	names []string // for keys in another case
}

type field struct {
	name              string // of the key
	index             []int
	kind, elem        kind // elem of lists and pointers
	also, any, strict bool
	places            bool
}

type kind uint8

const (
	aScalar kind = iota
	aRecord
	aList
	aRaw
	aPointer
)

// plans caches the plan of each type.
var plans sync.Map // reflect.Type → *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := newPlan(t)
	plans.Store(t, p)
	return p
}

func newPlan(t reflect.Type) *plan {
	p := &plan{exact: map[string]field{}}
	for _, sf := range reflect.VisibleFields(t) { // those of embedded structs too
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		f := field{name: name, index: sf.Index, kind: kindOf(sf.Type)}
		if f.kind == aList || f.kind == aPointer {
			f.elem = kindOf(sf.Type.Elem())
		}
		var also []string
		for option := range strings.SplitSeq(sf.Tag.Get("fill"), ",") {
			switch key, value, _ := strings.Cut(option, "="); key {
			case "also":
				also = append(also, value)
			case "any":
				f.any = true
			case "list":
				f.strict = true
			case "places":
				f.places = true
			}
		}
		p.add(f)
		for _, f.name = range also {
			f.also = true
			p.add(f)
		}
	}
	return p
}

func (p *plan) add(f field) {
	p.exact[f.name] = f
	p.names = append(p.names, f.name)
}

// field finds what a key fills: by its exact name, else in any case, which fills only what is empty. Services that carry an old spelling
// beside a new one may give it another value.
func (p *plan) field(key []byte) (field, bool) {
	if f, ok := p.exact[string(key)]; ok {
		return f, true
	}
	for _, name := range p.names {
		if len(name) == len(key) && strings.EqualFold(name, string(key)) {
			f := p.exact[name]
			f.also = true
			return f, true
		}
	}
	return field{}, false
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
