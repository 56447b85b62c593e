package signing

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxName is how many characters a name may have: of a document, template, form, role, colour, field, question, choice, variable or
// person, an e-mail address, and the subject of a mail. The service documents no limit; this one keeps lists and certificates legible,
// and is far above what anybody writes.
const MaxName = 1000

// checkName returns an [*Invalid] for a name that is too long.
func checkName(field, name string) error {
	if n := utf8.RuneCountInString(name); n > MaxName {
		return &Invalid{Field: field, Message: fmt.Sprintf("has %d characters, and may have %d at most", n, MaxName)}
	}
	return nil
}

// named is a name and the input that it comes from.
type named struct{ field, name string }

func checkNames(names ...named) error {
	for _, n := range names {
		if err := checkName(n.field, n.name); err != nil {
			return err
		}
	}
	return nil
}

// Quoted is a list of names as a sentence has it.
func Quoted[T ~string](names []T) string {
	if len(names) == 0 {
		return "none"
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(string(name))
	}
	return strings.Join(quoted, ", ")
}
