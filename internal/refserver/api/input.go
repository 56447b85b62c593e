package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// object is a JSON object. Field names are case-sensitive, as in JavaScript; for structs,
// encoding/json ignores the case.
type object map[string]json.RawMessage

// input collects the problems of a request while it reads the request's fields, so that one
// response names all of them.
type input struct {
	route    *route
	path     map[string]string
	query    url.Values
	body     object
	notes    []string // inputs in another spelling than the published one
	problems []string
	missing  []string
}

// decode reads the body: one JSON object and nothing after it.
func (in *input) decode(body []byte) error {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return badInput("The body is gzip: send it without compression")
	}
	if len(body) == 0 {
		return badInput("The body is empty: it must be a JSON object")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&in.body); err != nil {
		return badInput(jsonProblem(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return badInput("The body has something after its JSON object")
	}
	if in.body == nil {
		return badInput("The body is null: it must be a JSON object")
	}
	return nil
}

// jsonProblem describes a problem of a body and its position, but not the content of the body.
func jsonProblem(err error) string {
	switch err := err.(type) {
	case *json.SyntaxError:
		return fmt.Sprintf("The body is not JSON: there is a mistake at byte %d", err.Offset)
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("The body must be a JSON object, but is of type %s", err.Value)
	}
	return "The body is not JSON: it ends too early"
}

// maxProblems is how many problems a response and a record list at most.
const maxProblems = 100

func (in *input) problem(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(in.problems) < maxProblems && !slices.Contains(in.problems, text) {
		in.problems = append(in.problems, text)
	}
}

// inputError returns the problems of the inputs read so far, or nil.
func (c *Call) inputError() error {
	c.record.Missing = append(c.record.Missing, c.input.missing...)
	c.record.Notes = append(c.record.Notes, c.input.notes...)
	if len(c.input.problems) == 0 {
		return nil
	}
	return badInput(c.input.problems...)
}

// noteInputs records the inputs that are ignored.
func (c *Call) noteInputs() {
	c.record.noteUnknown("query parameter", slices.Collect(maps.Keys(c.record.Query)), queryNames(c.route))
	if c.route.Inputs&InBody != 0 {
		c.record.noteUnknown("body field", slices.Collect(maps.Keys(c.input.body)), c.route.known)
	}
}

func queryNames(r *route) []string {
	if r.Inputs&InQuery == 0 {
		return nil
	}
	return r.known
}

// peek returns a text input from the path, query or body without checking it, or "" if it is
// missing.
func (in *input) peek(name string) string {
	if v := cmp.Or(in.path[name], in.query.Get(name)); v != "" {
		return v
	}
	var s string
	if json.Unmarshal(in.body[name], &s) != nil {
		return ""
	}
	return s
}

// text returns a text input from the path, query or body, or "" if it is missing. Different values
// in two of them, or twice in one of them, are a problem.
func (in *input) text(name string) string {
	return in.only(name, in.values(name))
}

// id is like text, for an input that may hold an id. Ids are compared without regard to case.
func (in *input) id(name string) string {
	values := in.values(name)
	for i := range values {
		values[i] = canonicalID(values[i])
	}
	return in.only(name, values)
}

// values returns all non-empty values of an input.
func (in *input) values(name string) []string {
	values := in.around(name)
	if s, ok := in.body.text(in, name); ok {
		values = append(values, s)
	}
	return slices.DeleteFunc(values, func(s string) bool { return s == "" })
}

// around returns the values of an input in the path and the query.
func (in *input) around(name string) []string {
	return append(slices.Clone(in.query[name]), in.path[name])
}

// scalar is like text, for an input that is a number or a boolean in a body.
func (in *input) scalar(name string) string {
	raw := string(in.body[name])
	if number := json.Number(raw); raw != "true" && raw != "false" && !isNumber(number) {
		return in.text(name)
	}
	return in.only(name, slices.DeleteFunc(append(in.around(name), raw), func(s string) bool { return s == "" }))
}

func isNumber(n json.Number) bool { _, err := n.Float64(); return err == nil }

func (in *input) only(name string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	if len(slices.Compact(values)) > 1 {
		in.problem("%s is given twice with different values", name)
	}
	return values[0]
}

// require returns a required text input.
func (in *input) require(name string) string { return in.given(name, in.text(name)) }

func (in *input) absent(name string) {
	if len(in.missing) < maxProblems {
		in.missing = append(in.missing, name)
	}
	in.problem("%s is required", name)
}

// uuid returns a text input in lower case. If the input is present, it must be a UUID. The ids in
// the service's published samples have the length of a UUID but contain other letters; no record
// has such an id.
func (in *input) uuid(name string) string {
	s := in.id(name)
	if s != "" && len(s) != signing.UUIDLength {
		in.problem("%s must be a UUID", name)
	}
	return s
}

// objectID returns a text input in lower case. If the input is present, it must have the form of an
// ObjectId.
func (in *input) objectID(name string) string {
	s := in.id(name)
	if s != "" && !signing.IsObjectID(s) {
		in.problem("%s must have 24 hexadecimal digits", name)
	}
	return s
}

// given returns value, the value of an input that another method has read. If it is empty and its
// type is not wrong, given notes it as missing.
func (in *input) given(name, value string) string {
	if raw := string(in.body[name]); value == "" && (raw == "" || raw == "null" || raw[0] == '"') {
		in.absent(name)
	}
	return value
}

// canonicalID returns a UUID or ObjectId in lower case, as the service spells it. It returns any
// other text unchanged.
func canonicalID(s string) string {
	if signing.IsUUID(s) || signing.IsObjectID(s) {
		return strings.ToLower(s)
	}
	return s
}

// oneOf returns a text input that must be one of the values; the first is the default.
func (in *input) oneOf(name string, values ...string) string {
	return in.choice(name, in.text(name), values...)
}

// choice is oneOf for an input that another method has read.
func (in *input) choice(name, s string, values ...string) string {
	if s == "" {
		return values[0]
	}
	if v, ok := in.literal(name, s, values); ok {
		return v
	}
	in.problem("%s must be %s", name, strings.Join(values, " or "))
	return s
}

// number returns an integer input from least to most, or fallback if it is missing.
func (in *input) number(name string, fallback, least, most int) int {
	s := in.scalar(name)
	if s == "" {
		return fallback
	}
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		in.problem("%s must be a whole number", name)
	case n < least:
		in.problem("%s must be at least %d", name, least)
	case n > most:
		in.problem("%s must be at most %d", name, most)
	default:
		return n
	}
	return fallback
}

// text returns a text field. at is its documented name with its path, such as
// receiversList[0].name. A null is like a missing field.
func (o object) text(in *input, at string) (string, bool) {
	raw, ok := o[field(at)]
	if !ok || string(raw) == "null" {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		in.problem("%s must be a string", at)
		return "", false
	}
	return s, true
}

// require returns a required text field, which must not be blank.
func (o object) require(in *input, at string) string {
	s, ok := o.text(in, at)
	if raw := o[field(at)]; strings.TrimSpace(s) == "" && (ok || raw == nil || string(raw) == "null") {
		in.absent(at)
	}
	return s
}

// objects returns an array of objects, or nil if the field is missing.
func (o object) objects(in *input, name string) []object {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	var list []object
	if json.Unmarshal(raw, &list) != nil || slices.ContainsFunc(list, func(e object) bool { return e == nil }) {
		in.problem("%s must be an array of objects", name)
		return nil
	}
	return list
}

// object returns a field that is an object. It returns false if the field is missing.
func (o object) object(in *input, name string) (object, bool) {
	raw, ok := o[name]
	if !ok || string(raw) == "null" {
		return nil, false
	}
	var v object
	if json.Unmarshal(raw, &v) != nil {
		in.problem("%s must be an object", name)
		return nil, false
	}
	return v, true
}

// oneIsRequired notes that two inputs are missing of which one is required.
func (in *input) oneIsRequired(a, b string) {
	in.missing = append(in.missing, a+" or "+b)
	in.problem("%s or %s is required", a, b)
}
