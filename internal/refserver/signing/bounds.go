package signing

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The maximum lengths of stored texts, in characters. The service documents none. These limits keep
// lists, certificates and finished files readable and fast to make, and they are far above the
// lengths that people write. Uploads have their own limits.
const (
	// MaxName is the limit for names of documents, templates, forms, roles, colours, fields,
	// questions, choices, variables and people. It is also the limit for the kind and label of a
	// value, for e-mail addresses and IP addresses, and for subjects of mails.
	MaxName = 1000
	// MaxReason is the limit for the reason of a signer who declines.
	MaxReason = 1000
	// MaxText is the limit for the input of signers and respondents, for values of variables, and
	// for messages of mails.
	MaxText = 10_000
	// MaxURL is the limit for the URL of a webhook.
	MaxURL = 4096
)

// How many entries a list in a record may have. With these limits every record is made, shown and
// signed in a moment.
const (
	// MaxPeople is the limit for receivers of a send, roles of a template, signers of a document,
	// and questions of a form.
	MaxPeople = 100
	// MaxList is the limit for other lists: fields, variables, the values of a signer, choices of a
	// question, records of a webhook.
	MaxList = 1000
)

// CheckCount returns an [*Invalid] if a list has more than most entries. field is the name of the input.
func CheckCount(field string, n, most int) error {
	if n > most {
		return &Invalid{Field: field, Problem: fmt.Sprintf("has %d entries, and may have %d at most", n, most)}
	}
	return nil
}

// CheckLength returns an [*Invalid] if the text has more than most characters. field is the name of the input.
func CheckLength(field, text string, most int) error {
	if problem := tooLong(text, most); problem != "" {
		return &Invalid{Field: field, Problem: problem}
	}
	return nil
}

// tooLong returns an error text if the text has more than most characters, and "" otherwise. It
// counts a line break as one character, as maxlength does in a browser, although a browser sends
// two.
func tooLong(text string, most int) string {
	if n := utf8.RuneCountInString(text) - strings.Count(text, "\r\n"); n > most {
		return fmt.Sprintf("has %d characters, and may have %d at most: shorten it", n, most)
	}
	return ""
}

func checkName(field, name string) error { return CheckLength(field, name, MaxName) }

// named is a name with the path of its input.
type named struct{ field, name string }

func checkNames(names ...named) error {
	for _, n := range names {
		if err := checkName(n.field, n.name); err != nil {
			return err
		}
	}
	return nil
}

// Quoted returns a list of names for use in a sentence.
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
