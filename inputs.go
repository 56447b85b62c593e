package signforms

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// inputs are the flat inputs of an operation: strings, integers and booleans by their wire name. Empty ones are not added.
type inputs []input

type input struct {
	name   string
	text   string
	quoted bool // in JSON
}

func (in *inputs) add(i input) {
	if *in == nil {
		*in = make(inputs, 0, 6) // as many as most calls have
	}
	*in = append(*in, i)
}

func (in *inputs) str(name, value string) {
	if value != "" {
		in.add(input{name, value, true})
	}
}

func (in *inputs) num(name string, value int) {
	if value != 0 {
		in.add(input{name, strconv.Itoa(value), false})
	}
}

func (in *inputs) flag(name string, value *bool) {
	if value != nil {
		in.add(input{name, strconv.FormatBool(*value), false})
	}
}

// wireTime is RFC 3339 in UTC with milliseconds, as in answers. The format of inputs is not documented by the service.
const wireTime = "2006-01-02T15:04:05.000Z"

func (in *inputs) time(name string, value time.Time) {
	if !value.IsZero() {
		in.add(input{name, value.UTC().Format(wireTime), true})
	}
}

func (in inputs) text(name string) string {
	for _, i := range in {
		if i.name == name {
			return i.text
		}
	}
	return ""
}

// query returns the inputs in the order of their names, as url.Values would. It sorts them.
func (in inputs) query() string {
	slices.SortFunc(in, func(a, b input) int { return strings.Compare(a.name, b.name) })
	length := 0
	for _, i := range in {
		length += len(i.name) + len(i.text) + 2
	}
	var q strings.Builder
	q.Grow(length)
	for i, input := range in {
		if i > 0 {
			q.WriteByte('&')
		}
		q.WriteString(url.QueryEscape(input.name)) // an Endpoint may call it filter[status]
		q.WriteByte('=')
		q.WriteString(url.QueryEscape(input.text))
	}
	return q.String()
}

func (in inputs) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(in))
	for _, i := range in {
		if m[i.name] = i.text; !i.quoted {
			m[i.name] = json.RawMessage(i.text)
		}
	}
	return json.Marshal(m)
}

// checks collects the wrong inputs of one call. A problem names the rule and never the value, which may be personal data.
type checks []FieldError

func (c *checks) add(field, problem string) { *c = append(*c, FieldError{field, problem}) }

func (c *checks) required(field, v string) {
	if strings.TrimSpace(v) == "" {
		c.add(field, "must not be empty")
	}
	c.text(field, v)
}

// text refuses what JSON cannot carry: encoding/json would send U+FFFD instead.
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
	case isObjectID(v): // easily confused: both are called a document's id
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

func (c *checks) page(page, limit, maxLimit int) {
	if page < 0 {
		c.add("Page", "must be 1 or more (0 means the first)")
	}
	if limit < 0 || (maxLimit > 0 && limit > maxLimit) {
		if maxLimit > 0 {
			c.add("Limit", fmt.Sprintf("must be from 1 to %d (0 means the default)", maxLimit))
		} else {
			c.add("Limit", "must be 1 or more (0 means the default)")
		}
	}
}

func (c checks) err(m method) error {
	if len(c) == 0 {
		return nil
	}
	return &Error{Method: m.name, Operation: m.op, Local: true, Fields: c, kinds: []error{ErrInvalid}}
}

func isUUID(s string) bool { return len(s) == 36 && uuid.Validate(s) == nil }

func isObjectID(s string) bool {
	if len(s) != 24 {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}
