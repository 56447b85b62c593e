package control

import (
	"reflect"
	"strings"
)

// jsonNames holds the JSON names of fields by their Go names, which the errors of signformstest have.
var jsonNames = func() map[string]string {
	names := map[string]string{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[Template](), reflect.TypeFor[PDFField](), reflect.TypeFor[Role](), reflect.TypeFor[Form](), reflect.TypeFor[Field](),
		reflect.TypeFor[Document](), reflect.TypeFor[Signer](), reflect.TypeFor[Webhook](), reflect.TypeFor[FieldValue](),
		reflect.TypeFor[Submission](), reflect.TypeFor[Refusal](), reflect.TypeFor[Origin](), reflect.TypeFor[RequestFault](), reflect.TypeFor[DeliveryFault](),
	} {
		for field := range t.Fields() {
			names[field.Name], _, _ = strings.Cut(field.Tag.Get("json"), ",")
		}
	}
	return names
}()
