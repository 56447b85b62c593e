package call

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Inputs are the flat inputs of an operation: strings, integers and booleans by their wire name. Empty ones are not added.
type Inputs []input

type input struct {
	name   string
	text   string
	quoted bool // in JSON
}

func (in *Inputs) add(i input) {
	if *in == nil {
		*in = make(Inputs, 0, 6) // as many as most calls have
	}
	*in = append(*in, i)
}

// Str adds a text.
func (in *Inputs) Str(name, value string) {
	if value != "" {
		in.add(input{name, value, true})
	}
}

// Num adds a number other than 0.
func (in *Inputs) Num(name string, value int) {
	if value != 0 {
		in.add(input{name, strconv.Itoa(value), false})
	}
}

// Flag adds a boolean, unless it is nil.
func (in *Inputs) Flag(name string, value *bool) {
	if value != nil {
		in.add(input{name, strconv.FormatBool(*value), false})
	}
}

// wireTime is RFC 3339 in UTC with milliseconds, as in answers. The format of inputs is not documented by the service.
const wireTime = "2006-01-02T15:04:05.000Z"

// Time adds a time, unless it is zero.
func (in *Inputs) Time(name string, value time.Time) {
	if !value.IsZero() {
		in.add(input{name, value.UTC().Format(wireTime), true})
	}
}

// Text returns the text of an input; "" if there is none.
func (in Inputs) Text(name string) string {
	for _, i := range in {
		if i.name == name {
			return i.text
		}
	}
	return ""
}

// Query returns the inputs in the order of their names, as url.Values would. It sorts them.
func (in Inputs) Query() string {
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
		q.WriteString(url.QueryEscape(input.name))
		q.WriteByte('=')
		q.WriteString(url.QueryEscape(input.text))
	}
	return q.String()
}

// MarshalJSON returns an object of the inputs.
func (in Inputs) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(in))
	for _, i := range in {
		if m[i.name] = i.text; !i.quoted {
			m[i.name] = json.RawMessage(i.text)
		}
	}
	return json.Marshal(m)
}
