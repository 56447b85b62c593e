// Package fieldtest finds fields that a conversion forgets.
package fieldtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Check fails the test unless every field of a record affects the result of convert, a function of one record, and
// every field of the result comes from the record. Separated by spaces, unread are fields of the record that the result
// does not show, and unset fields of the result from elsewhere. A field of the type of a special value has that value.
func Check(t *testing.T, convert any, unread, unset string, special ...any) {
	t.Helper()
	fn := reflect.ValueOf(convert)
	everyFieldIsRead(t, fn, strings.Fields(unread), special)
	everyFieldIsSet(t, fn, strings.Fields(unset), special)
}

// everyFieldIsRead clears the fields of a filled record one after the other. The result must change each time.
func everyFieldIsRead(t *testing.T, convert reflect.Value, except []string, special []any) {
	t.Helper()
	for i := range convert.Type().In(0).NumField() {
		record := filled(convert.Type().In(0), special)
		whole := convert.Call([]reflect.Value{record})[0].Interface()
		field := convert.Type().In(0).Field(i)
		if !field.IsExported() {
			continue
		}
		record.Field(i).SetZero()
		changed := !reflect.DeepEqual(convert.Call([]reflect.Value{record})[0].Interface(), whole)
		require.Equal(t, !slices.Contains(except, field.Name), changed, "%s of %s has an effect on the result", field.Name, record.Type())
	}
}

func everyFieldIsSet(t *testing.T, convert reflect.Value, except []string, special []any) {
	t.Helper()
	result := convert.Call([]reflect.Value{filled(convert.Type().In(0), special)})[0]
	for i := range result.NumField() {
		name := result.Type().Field(i).Name
		require.Equal(t, !slices.Contains(except, name), !result.Field(i).IsZero(), "%s of %s is set", name, result.Type())
	}
}

// filled returns a settable record with a value in every exported field, at every depth except in maps.
func filled(of reflect.Type, special []any) reflect.Value {
	v := reflect.New(of).Elem()
	fill(v, special)
	return v
}

func fill(v reflect.Value, values []any) {
	for _, value := range values {
		if reflect.TypeOf(value) == v.Type() {
			v.Set(reflect.ValueOf(value))
			return
		}
	}
	switch special := v.Addr().Interface().(type) {
	case *time.Time:
		*special = time.Unix(1, 0)
		return
	case *map[string]any:
		*special = map[string]any{"key": "value"}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("filled")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.7)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), values)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, values)
		fill(value, values)
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), values)
			}
		}
	default:
		panic(fmt.Sprintf("no value for a %s", v.Type()))
	}
}
