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

// constants holds the names of the constants of a Profile, by type and value.
var constants = map[reflect.Type][]string{
	reflect.TypeFor[signformstest.UnknownStatus](): {"UnknownStatusRefused", "UnknownStatusIgnored", "UnknownStatusEmpty"},
	reflect.TypeFor[signformstest.DateFormat]():    {"DateOrTime", "TimeOnly", "DateOnly"},
	reflect.TypeFor[signformstest.DateEnd]():       {"EndIncluded", "EndExcluded", "EndAtDayStart", "EndAtDayEnd"},
	reflect.TypeFor[signformstest.NoneForm]():      {"NoneIsEmpty", "NoneIsMissing", "NoneIsNull"},
	reflect.TypeFor[signformstest.ErrorLayout]():   {"LayoutMessage", "LayoutError", "LayoutDataMessage", "LayoutDataError", "LayoutText"},
}

// ProfileLiteral returns a Profile as Go source, with the fields that differ from the default, or "" when none does. show returns how
// a text of the service is written.
func ProfileLiteral(p signformstest.Profile, show func(string) string) string {
	var fields []string
	v := reflect.ValueOf(p)
	for f, value := range v.Fields() {
		if value.IsZero() {
			continue
		}
		text := fmt.Sprintf("%#v", value.Interface())
		if names := constants[value.Type()]; names != nil {
			text = "signformstest." + names[value.Int()]
		}
		switch f.Name {
		case "Endpoints":
			text = EndpointsLiteral(p.Endpoints, show)
		case "InProgress":
			text = fmt.Sprintf("%q", show(p.InProgress))
		}
		atLeast := f.Name == "MaxLimit" && p.MaxLimit == furthestLimit
		fields = append(fields, "\t"+f.Name+": "+text+ifThen(atLeast, ", // or more: no larger one was tried\n", ",\n"))
	}
	if len(fields) == 0 {
		return ""
	}
	return "signformstest.Profile{\n" + strings.Join(fields, "") + "}"
}

var inputsNames = map[signforms.Inputs]string{
	signforms.InputsQuery: "signforms.InputsQuery", signforms.InputsBody: "signforms.InputsBody",
	signforms.InputsQuery | signforms.InputsBody: "signforms.InputsQuery | signforms.InputsBody",
}

var operationNames = map[signforms.Operation]string{
	signforms.OpListDocuments: "signforms.OpListDocuments", signforms.OpVoidDocument: "signforms.OpVoidDocument",
	signforms.OpSendReminder: "signforms.OpSendReminder", signforms.OpSend: "signforms.OpSend",
	signforms.OpListRespondents: "signforms.OpListRespondents", signforms.OpListResponses: "signforms.OpListResponses",
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
		fmt.Fprintf(&b, "\t%s: {%s},%s\n", operationNames[op], strings.Join(endpointFields(endpoints[op], show), ", "),
			ifThen(op == signforms.OpVoidDocument || op == signforms.OpSendReminder || op == signforms.OpSend, " // not tried on a document", ""))
	}
	return b.String() + "}"
}

func endpointFields(e signforms.Endpoint, show func(string) string) (fields []string) {
	text := func(name, value string) {
		if value != "" {
			fields = append(fields, fmt.Sprintf("%s: %q", name, show(value)))
		}
	}
	text("Method", e.Method)
	text("Path", e.Path)
	if e.Inputs != 0 {
		fields = append(fields, "Inputs: "+inputsNames[e.Inputs])
	}
	if len(e.Names) > 0 {
		fields = append(fields, "Names: "+shown(e.Names, show))
	}
	if len(e.Values) > 0 {
		var values []string
		for _, input := range slices.Sorted(maps.Keys(e.Values)) {
			values = append(values, fmt.Sprintf("%q: %s", input, strings.TrimPrefix(shown(e.Values[input], show), "map[string]string")))
		}
		fields = append(fields, "Values: map[string]map[string]string{"+strings.Join(values, ", ")+"}")
	}
	if text("TimeLayout", e.TimeLayout); e.PagesFromZero {
		fields = append(fields, "PagesFromZero: true")
	}
	if e.IgnoreTotals {
		fields = append(fields, "IgnoreTotals: true")
	}
	return fields
}

func shown(names map[string]string, show func(string) string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pairs = append(pairs, fmt.Sprintf("%q: %q", name, show(names[name])))
	}
	return "map[string]string{" + strings.Join(pairs, ", ") + "}"
}

// Verbatim writes a text as it is.
func Verbatim(text string) string { return text }
