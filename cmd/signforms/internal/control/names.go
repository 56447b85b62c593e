package control

import (
	"reflect"
	"regexp"
	"strings"
)

// jsonNames are the names in JSON of the fields that signformstest's messages call by their Go names.
var jsonNames = func() map[string]string {
	names := map[string]string{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[Template](), reflect.TypeFor[PDFField](), reflect.TypeFor[Role](), reflect.TypeFor[Form](), reflect.TypeFor[Field](),
		reflect.TypeFor[Document](), reflect.TypeFor[Signer](), reflect.TypeFor[Webhook](), reflect.TypeFor[FieldValue](),
		reflect.TypeFor[Submission](), reflect.TypeFor[RequestFault](), reflect.TypeFor[DeliveryFault](),
	} {
		for field := range t.Fields() {
			names[field.Name], _, _ = strings.Cut(field.Tag.Get("json"), ",")
		}
	}
	return names
}()

// nameOrQuoted finds what may be the name of a field, and what somebody wrote, which stays as it is.
var nameOrQuoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b[A-Z]\w*`)

// inJSON puts a message of signformstest in the words of this interface. Acronyms are names of fields only where a message begins
// with one.
func inJSON(text string) string {
	out := strings.Builder{}
	last := 0
	for _, at := range nameOrQuoted.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		name := jsonNames[word]
		if name == "" || at[0] > 0 && word == strings.ToUpper(word) && len(word) > 1 {
			continue
		}
		out.WriteString(text[last:at[0]] + name)
		last = at[1]
	}
	return out.String() + text[last:]
}
