package probe

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// constants holds the names of the constants of a Profile or Endpoint, by type and value.
var constants = map[reflect.Type][]string{
	reflect.TypeFor[signformstest.UnknownStatus](): {"signformstest.UnknownStatusRefused", "signformstest.UnknownStatusIgnored", "signformstest.UnknownStatusEmpty"},
	reflect.TypeFor[signformstest.DateFormat]():    {"signformstest.DateOrTime", "signformstest.TimeOnly", "signformstest.DateOnly"},
	reflect.TypeFor[signformstest.DateEnd]():       {"signformstest.EndIncluded", "signformstest.EndExcluded", "signformstest.EndAtDayStart", "signformstest.EndAtDayEnd"},
	reflect.TypeFor[signformstest.NoneForm]():      {"signformstest.NoneIsEmpty", "signformstest.NoneIsMissing", "signformstest.NoneIsNull"},
	reflect.TypeFor[signformstest.ErrorLayout](): {"signformstest.LayoutMessage", "signformstest.LayoutError", "signformstest.LayoutDataMessage",
		"signformstest.LayoutDataError", "signformstest.LayoutText"},
	reflect.TypeFor[signforms.Inputs](): {"0", "signforms.InputsQuery", "signforms.InputsBody", "signforms.InputsQuery | signforms.InputsBody"},
}

var operationNames = map[signforms.Operation]string{
	signforms.OpListDocuments: "signforms.OpListDocuments", signforms.OpVoidDocument: "signforms.OpVoidDocument",
	signforms.OpSendReminder: "signforms.OpSendReminder", signforms.OpSend: "signforms.OpSend",
	signforms.OpListRespondents: "signforms.OpListRespondents", signforms.OpListResponses: "signforms.OpListResponses",
}

// ProfileLiteral returns a Profile as Go source, with the fields that differ from the default, or "" when none does. show returns how
// a text of the service is written.
func ProfileLiteral(p signformstest.Profile, show func(string) string) string {
	fields := fieldsOf(p, show)
	if len(fields) == 0 {
		return ""
	}
	var b strings.Builder
	for _, field := range fields {
		b.WriteString("\t" + field + ifThen(field == fmt.Sprint("MaxLimit: ", furthestLimit), ", // or more: no larger one was tried\n", ",\n"))
	}
	return "signformstest.Profile{\n" + b.String() + "}"
}

// EndpointsLiteral returns Options.Endpoints as Go source, or "" when there is nothing to override. show returns how a text of the
// user or the service is written.
func EndpointsLiteral(endpoints map[signforms.Operation]signforms.Endpoint, show func(string) string) string {
	if len(endpoints) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("map[signforms.Operation]signforms.Endpoint{\n")
	for _, op := range slices.Sorted(maps.Keys(endpoints)) {
		fmt.Fprintf(&b, "\t%s: {%s},%s\n", operationNames[op], strings.Join(fieldsOf(endpoints[op], show), ", "),
			ifThen(op == signforms.OpVoidDocument || op == signforms.OpSendReminder || op == signforms.OpSend, " // not tried on a document", ""))
	}
	return b.String() + "}"
}

// fieldsOf returns the fields of a struct that are not zero, as Go source.
func fieldsOf(v any, show func(string) string) (fields []string) {
	for f, value := range reflect.ValueOf(v).Fields() {
		if !value.IsZero() {
			fields = append(fields, f.Name+": "+source(value, show))
		}
	}
	return fields
}

func source(v reflect.Value, show func(string) string) string {
	endpoints, _ := v.Interface().(map[signforms.Operation]signforms.Endpoint)
	switch names := constants[v.Type()]; {
	case names != nil:
		return names[v.Convert(reflect.TypeFor[int]()).Int()]
	case endpoints != nil:
		return EndpointsLiteral(endpoints, show)
	case v.Kind() == reflect.String:
		return fmt.Sprintf("%q", show(v.String()))
	case v.Kind() == reflect.Map:
		var pairs []string
		for _, key := range v.MapKeys() {
			pairs = append(pairs, fmt.Sprintf("%q: %s", key, strings.TrimPrefix(source(v.MapIndex(key), show), "map[string]string")))
		}
		slices.Sort(pairs)
		return v.Type().String() + "{" + strings.Join(pairs, ", ") + "}"
	}
	return fmt.Sprintf("%#v", v.Interface())
}

// Verbatim writes a text as it is.
func Verbatim(text string) string { return text }
