package control

import (
	"reflect"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/signformstest"
)

// jsonNames holds the JSON names of fields by their Go names, which the errors of signformstest have.
var jsonNames = func() map[string]string {
	names := map[string]string{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[signformstest.Template](), reflect.TypeFor[signformstest.TemplateField](), reflect.TypeFor[signformstest.Role](),
		reflect.TypeFor[signformstest.Form](), reflect.TypeFor[signformstest.Field](), reflect.TypeFor[signformstest.Document](),
		reflect.TypeFor[signformstest.Signer](), reflect.TypeFor[signformstest.Webhook](), reflect.TypeFor[signformstest.FieldValue](),
		reflect.TypeFor[signformstest.Submission](), reflect.TypeFor[wire.Refusal](), reflect.TypeFor[signformstest.Origin](),
		reflect.TypeFor[signformstest.Fault](), reflect.TypeFor[signformstest.WebhookFault](),
	} {
		for field := range t.Fields() {
			names[field.Name], _, _ = strings.Cut(field.Tag.Get("json"), ",")
		}
	}
	return names
}()
