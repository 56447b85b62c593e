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

// ProfileLiteral returns a Profile as Go source, with the fields that differ from the default, or "" when none does.
func ProfileLiteral(p signformstest.Profile) string {
	var fields []string
	v := reflect.ValueOf(p)
	for f, value := range v.Fields() {
		if value.IsZero() || f.Name == "Endpoints" {
			continue
		}
		text := fmt.Sprintf("%#v", value.Interface())
		if names := constants[value.Type()]; names != nil {
			text = "signformstest." + names[value.Int()]
		}
		if f.Name == "Extra" {
			text = extraLiteral(p.Extra)
		}
		fields = append(fields, "\t"+f.Name+": "+text+",\n")
	}
	if len(fields) == 0 {
		return ""
	}
	return "signformstest.Profile{\n" + strings.Join(fields, "") + "}"
}

// extraLiteral writes the extra fields with their booleans and numbers. Other values may be personal data, so it writes "" for them.
func extraLiteral(extra map[string]any) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		value := `""`
		switch extra[name].(type) {
		case bool, float64:
			value = fmt.Sprintf("%#v", extra[name])
		}
		if fieldName.MatchString(name) {
			pairs = append(pairs, fmt.Sprintf("%q: %s", name, value))
		}
	}
	return "map[string]any{" + strings.Join(pairs, ", ") + "}"
}

var inputsNames = map[signforms.Inputs]string{
	signforms.InputsQuery: "signforms.InputsQuery", signforms.InputsBody: "signforms.InputsBody", both: "signforms.InputsQuery | signforms.InputsBody",
}

var operationNames = map[signforms.Operation]string{
	signforms.OpListDocuments: "signforms.OpListDocuments", signforms.OpVoidDocument: "signforms.OpVoidDocument",
	signforms.OpSendReminder: "signforms.OpSendReminder", signforms.OpSend: "signforms.OpSend",
	signforms.OpListRespondents: "signforms.OpListRespondents", signforms.OpListResponses: "signforms.OpListResponses",
}

// EndpointsLiteral returns Options.Endpoints as Go source, or "" when there is nothing to override.
func EndpointsLiteral(endpoints map[signforms.Operation]signforms.Endpoint) string {
	if len(endpoints) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("map[signforms.Operation]signforms.Endpoint{\n")
	for _, op := range slices.Sorted(maps.Keys(endpoints)) {
		e := endpoints[op]
		var fields []string
		if e.Method != "" {
			fields = append(fields, fmt.Sprintf("Method: %q", e.Method))
		}
		if e.Path != "" {
			fields = append(fields, fmt.Sprintf("Path: %q", e.Path))
		}
		if e.Inputs != 0 {
			fields = append(fields, "Inputs: "+inputsNames[e.Inputs])
		}
		if len(e.Names) > 0 {
			fields = append(fields, fmt.Sprintf("Names: %#v", e.Names))
		}
		if len(e.Values) > 0 {
			fields = append(fields, fmt.Sprintf("Values: %#v", e.Values))
		}
		if e.TimeLayout != "" {
			fields = append(fields, fmt.Sprintf("TimeLayout: %q", e.TimeLayout))
		}
		if e.PagesFromZero {
			fields = append(fields, "PagesFromZero: true")
		}
		fmt.Fprintf(&b, "\t%s: {%s},\n", operationNames[op], strings.Join(fields, ", "))
	}
	return b.String() + "}"
}
