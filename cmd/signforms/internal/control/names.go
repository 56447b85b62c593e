package control

import (
	"reflect"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// jsonNames maps the Go names of fields, which the errors of refserver contain, to their JSON
// names.
var jsonNames = func() map[string]string {
	names := map[string]string{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[refserver.Template](), reflect.TypeFor[refserver.TemplateField](), reflect.TypeFor[refserver.Role](),
		reflect.TypeFor[refserver.Form](), reflect.TypeFor[refserver.Field](), reflect.TypeFor[refserver.Document](),
		reflect.TypeFor[refserver.Signer](), reflect.TypeFor[refserver.Webhook](), reflect.TypeFor[refserver.FieldValue](),
		reflect.TypeFor[refserver.Submission](), reflect.TypeFor[wire.Refusal](), reflect.TypeFor[refserver.Origin](),
		reflect.TypeFor[refserver.Fault](), reflect.TypeFor[refserver.WebhookFault](),
	} {
		for field := range t.Fields() {
			names[field.Name], _, _ = strings.Cut(field.Tag.Get("json"), ",")
		}
	}
	return names
}()
