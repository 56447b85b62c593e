package signforms

import (
	"encoding/hex"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// checks collects the invalid inputs of a call. A problem names the rule and never the value, which
// may be personal data.
type checks []FieldError

func (c *checks) add(field, problem string) { *c = append(*c, FieldError{field, problem}) }

func (c *checks) required(field, v string) {
	if strings.TrimSpace(v) == "" {
		c.add(field, "must not be empty")
	}
	c.text(field, v)
}

// text refuses a text that JSON cannot contain; encoding/json would send U+FFFD instead.
func (c *checks) text(field, v string) {
	if !utf8.ValidString(v) {
		c.add(field, "must be valid UTF-8")
	}
}

// email refuses a text without an @. Anything else is left to the service.
func (c *checks) email(field, v string) {
	c.required(field, v)
	if strings.TrimSpace(v) != "" && !strings.Contains(v, "@") {
		c.add(field, "must be a mail address, with an @")
	}
}

func (c *checks) uuid(field, v string) {
	switch {
	case isObjectID(v): // easily confused, because both are called a document's id
		c.add(field, "must be a UUID and is the ObjectId of a document made from a template: give the template's UUID with it, or read it as a respondent")
	case !isUUID(v):
		c.add(field, "must be a UUID such as 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11")
	}
}

func (c *checks) objectID(field, v string) {
	if !isObjectID(v) {
		c.add(field, "must be an ObjectId, 24 hexadecimal digits")
	}
}

func (c *checks) responseID(field, v string) {
	if !isObjectID(v) && !isUUID(v) {
		c.add(field, "must be an ObjectId, 24 hexadecimal digits, or a UUID")
	}
}

func (c checks) err(m method) error {
	if len(c) == 0 {
		return nil
	}
	return &Error{Call: m.name, Operation: m.op, Fields: c, kinds: []error{ErrInvalid}}
}

func isUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

func isObjectID(s string) bool {
	if len(s) != 24 {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

func nilPointer(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

func (c *checks) header(field, value string) {
	if value != strings.TrimSpace(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		c.add(field, "must be printable and without blanks at its ends")
	}
}
