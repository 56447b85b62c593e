package signforms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// decode fills out, a pointer to a struct, from an answer, which must be a JSON object. Where out knows what it cannot do
// without, it says so.
func decode(answer []byte, out any) error {
	if trimmed := bytes.TrimLeft(answer, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errors.New("it is not a JSON object: check the base URL")
	}
	err := json.Unmarshal(answer, out)
	if syntaxErr := (*json.SyntaxError)(nil); err != nil && !errors.As(err, &syntaxErr) {
		err = decodeOdd(answer, out)
	}
	if c, ok := out.(interface{ complete() error }); ok && err == nil {
		return c.complete()
	}
	return err
}

// decodeOdd decodes an answer in which a value is of another kind than out has for it: one such field of one record must
// not cost a whole page, nor make a send look as if its outcome were unknown. It takes several times as long as decoding.
func decodeOdd(answer []byte, out any) error {
	values := json.NewDecoder(bytes.NewReader(answer))
	values.UseNumber()
	var v any
	if err := values.Decode(&v); err != nil {
		return err
	}
	v, err := fit(v, reflect.TypeOf(out).Elem(), "the answer")
	if err != nil {
		return err
	}
	if answer, err = json.Marshal(v); err != nil {
		return err
	}
	return json.Unmarshal(answer, out)
}

// fit brings v, as encoding/json made it, into the kind of t. What is optional and a scalar is left out (nil) where it
// cannot be converted, and a record in the place of a list is a list of one. A list or record that is neither is an
// error: taken for nothing it would look like a list that has come to its end.
func fit(v any, t reflect.Type, name string) (any, error) {
	switch {
	case v == nil, t == reflect.TypeFor[text](), t == reflect.TypeFor[json.RawMessage]():
		return v, nil
	case t.Kind() == reflect.Pointer:
		if fitted, err := fit(v, t.Elem(), name); err == nil {
			return fitted, nil
		}
		return nil, nil
	case t.Kind() == reflect.Slice:
		return fitList(v, t.Elem(), name)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		return fitRecord(v, t, name)
	}
	return fitScalar(v, t), nil
}

func fitList(v any, t reflect.Type, name string) (any, error) {
	list, ok := v.([]any)
	if record, found := v.(map[string]any); found {
		list, ok = []any{record}, true
	}
	if !ok {
		return nil, fmt.Errorf("%s is not a list", name)
	}
	for i := range list {
		var err error
		if list[i], err = fit(list[i], t, name); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func fitRecord(v any, t reflect.Type, name string) (any, error) {
	record, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a record", name)
	}
	for _, f := range reflect.VisibleFields(t) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		value, found := record[key]
		if !found || key == "" || key == "-" {
			continue
		}
		var err error
		if record[key], err = fit(value, f.Type, key); err != nil {
			return nil, err
		}
	}
	return record, nil
}

// fitScalar returns nil for what cannot be converted.
func fitScalar(v any, t reflect.Type) any {
	switch v.(type) {
	case string, json.Number, bool:
	default:
		return nil
	}
	s := fmt.Sprint(v)
	switch t.Kind() {
	case reflect.String:
		return s
	case reflect.Bool:
		if b, err := strconv.ParseBool(s); err == nil {
			return b
		}
	case reflect.Int:
		if n, err := strconv.ParseFloat(s, 64); err == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n)
		}
	case reflect.Struct: // time.Time
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return at
		}
	}
	return nil
}
