package record

import (
	"encoding/base64"
	"encoding/json"
	"hash/maphash"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// reader reads records as [Codec.Encode] writes them, in about a fifth of the time of encoding/json, because a service that starts
// reads all of them. It knows only the JSON that occurs in records, without spaces. At anything else it gives up, and encoding/json
// reads the record. Otherwise it reads the same values as encoding/json.
type reader struct {
	data []byte
	pos  int
	seen *seen
}

// seen holds recent strings by hash, because many records hold the same ones.
type seen struct {
	seed    maphash.Seed
	strings [1 << 10]string
}

var readers = sync.Pool{New: func() any { return &seen{seed: maphash.MakeSeed()} }}

// read fills v, a pointer to a zero struct, as json.Unmarshal does. It reports false when it gave up; then v may be filled in part.
func read(data []byte, v any) bool {
	r := reader{data: data, seen: readers.Get().(*seen)}
	defer readers.Put(r.seen)
	target := reflect.ValueOf(v).Elem()
	return setterOf(target.Type())(&r, target) && r.pos == len(data)
}

// setter reads one value. It reports false when it gives up.
type setter func(r *reader, v reflect.Value) bool

var setters sync.Map // reflect.Type → setter

func setterOf(t reflect.Type) setter {
	if known, ok := setters.Load(t); ok {
		return known.(setter)
	}
	made := newSetter(t)
	setters.Store(t, made)
	return made
}

func newSetter(t reflect.Type) setter {
	switch t {
	case reflect.TypeFor[time.Time]():
		return setTime
	case reflect.TypeFor[http.Header]():
		return setHeader
	case reflect.TypeFor[[]byte]():
		return setBytes
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return giveUp
	}
	switch t.Kind() {
	case reflect.String:
		return setString
	case reflect.Int, reflect.Int64:
		return setInt
	case reflect.Float64:
		return setFloat
	case reflect.Bool:
		return setBool
	case reflect.Pointer:
		return newPointerSetter(t)
	case reflect.Slice:
		return newSliceSetter(t)
	case reflect.Struct:
		return newStructSetter(t)
	}
	return giveUp
}

func giveUp(*reader, reflect.Value) bool { return false }

func newPointerSetter(t reflect.Type) setter {
	set := setterOf(t.Elem())
	return func(r *reader, v reflect.Value) bool {
		v.Set(reflect.New(t.Elem()))
		return set(r, v.Elem())
	}
}

func newSliceSetter(t reflect.Type) setter {
	set := setterOf(t.Elem())
	return func(r *reader, v reflect.Value) bool {
		v.Set(reflect.MakeSlice(t, 0, 0))
		return r.items('[', ']', func() bool {
			v.Grow(1)
			v.SetLen(v.Len() + 1)
			return set(r, v.Index(v.Len()-1))
		})
	}
}

// member is a field of a struct.
type member struct {
	name  string
	index []int
	set   setter
}

func newStructSetter(t reflect.Type) setter {
	var members []member
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct || name == "-" || !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		members = append(members, member{name, f.Index, setterOf(f.Type)})
	}
	return func(r *reader, v reflect.Value) bool {
		next := 0
		return r.items('{', '}', func() bool {
			name, ok := r.name()
			if !ok {
				return false
			}
			for next < len(members) && members[next].name != string(name) {
				next++
			}
			if next == len(members) {
				return false // unknown, twice, or not in the order in which they are written
			}
			m := &members[next]
			next++
			if len(m.index) == 1 {
				return m.set(r, v.Field(m.index[0]))
			}
			return m.set(r, v.FieldByIndex(m.index))
		})
	}
}

// items reads the items between two brackets, separated by commas.
func (r *reader) items(open, end byte, item func() bool) bool {
	if !r.skip(open) {
		return false
	}
	if r.skip(end) {
		return true
	}
	for item() {
		if r.skip(end) {
			return true
		}
		if !r.skip(',') {
			return false
		}
	}
	return false
}

// name reads the name of a member, and the colon after it.
func (r *reader) name() ([]byte, bool) {
	text, plain, ok := r.text()
	return text, ok && plain && r.skip(':')
}

func (r *reader) skip(c byte) bool {
	if r.pos < len(r.data) && r.data[r.pos] == c {
		r.pos++
		return true
	}
	return false
}

// text reads a string and returns the bytes between its quotes. plain reports that they need no unescaping.
func (r *reader) text() (text []byte, plain, ok bool) {
	if !r.skip('"') {
		return nil, false, false
	}
	plain = true
	ascii := true
	for start := r.pos; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; {
		case c == '"':
			text = r.data[start:r.pos]
			r.pos++
			return text, plain, ascii || utf8.Valid(text)
		case c == '\\':
			plain = false
			r.pos++
		case c < ' ':
			return nil, false, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false, false
}

func setString(r *reader, v reflect.Value) bool {
	s, ok := r.string()
	v.SetString(s)
	return ok
}

func (r *reader) string() (s string, ok bool) {
	start := r.pos
	text, plain, ok := r.text()
	if !ok {
		return "", false
	}
	if !plain {
		return s, json.Unmarshal(r.data[start:r.pos], &s) == nil
	}
	place := &r.seen.strings[maphash.Bytes(r.seen.seed, text)%uint64(len(r.seen.strings))]
	if *place != string(text) {
		*place = string(text)
	}
	return *place, true
}

func setTime(r *reader, v reflect.Value) bool {
	start := r.pos
	_, plain, ok := r.text()
	return ok && plain && v.Addr().Interface().(*time.Time).UnmarshalJSON(r.data[start:r.pos]) == nil
}

func setBytes(r *reader, v reflect.Value) bool {
	text, plain, ok := r.text()
	if !ok || !plain {
		return false
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(decoded, text)
	v.SetBytes(decoded[:n])
	return err == nil
}

func setInt(r *reader, v reflect.Value) bool {
	negative := r.skip('-')
	start := r.pos
	n := int64(0)
	for r.pos < len(r.data) && '0' <= r.data[r.pos] && r.data[r.pos] <= '9' {
		n = 10*n + int64(r.data[r.pos]-'0')
		r.pos++
	}
	if negative {
		n = -n
	}
	v.SetInt(n)
	digits := r.pos - start
	return 0 < digits && digits <= 18 && (digits == 1 || r.data[start] != '0') && !v.OverflowInt(n)
}

func setFloat(r *reader, v reflect.Value) bool {
	start := r.pos
	for r.pos < len(r.data) && strings.IndexByte("+-.0123456789Ee", r.data[r.pos]) >= 0 {
		r.pos++
	}
	return json.Unmarshal(r.data[start:r.pos], v.Addr().Interface()) == nil
}

func setBool(r *reader, v reflect.Value) bool {
	for _, word := range [...]string{"true", "false"} {
		if rest := r.data[r.pos:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			r.pos += len(word)
			v.SetBool(word == "true")
			return true
		}
	}
	return false
}

func setHeader(r *reader, v reflect.Value) bool {
	h := http.Header{}
	v.Set(reflect.ValueOf(h))
	return r.items('{', '}', func() bool {
		name, ok := r.string()
		if !ok || !r.skip(':') {
			return false
		}
		values := []string{}
		ok = r.items('[', ']', func() bool {
			s, ok := r.string()
			values = append(values, s)
			return ok
		})
		h[name] = slices.Clip(values)
		return ok
	})
}
