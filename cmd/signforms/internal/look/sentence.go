package look

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/fieldname"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Sentence returns an error as a sentence for people. labels are the page's words for inputs; see
// [fieldname.Words].
func Sentence(err error, labels map[string]string) string {
	text := err.Error()
	if e, ok := errors.AsType[*refserver.InvalidError](err); ok {
		text = strings.TrimSpace(fieldname.Words(e.Field, labels) + " " + e.Problem)
	} else if e, ok := errors.AsType[*signforms.Error](err); ok && len(e.Fields) > 0 {
		var wrong []string
		for _, f := range e.Fields {
			wrong = append(wrong, fieldname.Words(f.Field, labels)+" "+f.Problem)
		}
		text = strings.Join(wrong, "; ")
	}
	_, first := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:first]) + strings.TrimSuffix(text[first:], ".") + "."
}
