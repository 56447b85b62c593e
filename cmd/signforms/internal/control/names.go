package control

import (
	"reflect"
	"regexp"
	"strings"
)

// jsonNames holds the JSON names of fields by their Go names, which the messages of signformstest use.
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

// nameOrQuoted matches words that may be names of fields. It also matches quoted text, so that inJSON leaves that unchanged.
var nameOrQuoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\b[A-Z]\w*`)

// inJSON replaces the Go names of fields in a message of signformstest by their JSON names. An acronym counts as the name of a
// field only at the beginning of the message.
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
