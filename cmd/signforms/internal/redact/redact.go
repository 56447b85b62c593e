// Package redact replaces values in JSON and texts that could identify people or things, so that the result can be kept or shown
// to others. Equal values get the same replacement, so that the result shows which values belonged together.
package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Replacer replaces values by made-up ones. Make one with [New]; it is not safe for concurrent use.
type Replacer struct {
	made  map[string]string // replacements by value
	count map[string]int    // how many replacements were made, by kind of value
	order []string          // the values that Text looks for
	words bool              // values in messages are replaced one by one, instead of the whole message
}

// New returns a Replacer that has no replacements yet.
func New() *Replacer { return &Replacer{made: map[string]string{}, count: map[string]int{}} }

// Hide makes Text replace a value that it would not recognise: a key, a name, the host of a service.
func (r *Replacer) Hide(value, kind string) {
	if value != "" && r.made[value] == "" {
		r.note(value, fmt.Sprintf("[%s]", kind))
	}
}

// kept are the fields whose values are constants of the service.
var kept = []string{"webhookEvent", "status", "documentType", "signingType", "signType", "code"}

// JSON returns a JSON text with its strings replaced, except times and the values of kept fields. Numbers of more than 6 digits
// are replaced too. The order of fields stays.
func (r *Replacer) JSON(text []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out bytes.Buffer
	if err := r.value(dec, &out, ""); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is something after the JSON value")
	}
	return out.Bytes(), nil
}

// Error is JSON for the body of an error. It applies Text to the message instead of replacing the whole.
func (r *Replacer) Error(text []byte) ([]byte, error) {
	r.words = true
	defer func() { r.words = false }()
	return r.JSON(text)
}

func (r *Replacer) value(dec *json.Decoder, out *bytes.Buffer, field string) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return r.list(dec, out, field, v)
	case string:
		switch {
		case r.words && (field == "message" || field == "error"):
			v = r.Text(v)
		case !slices.Contains(kept, field):
			v = r.String(v)
		}
		return write(out, v)
	case json.Number:
		if len(v) > 6 {
			v = "1000000"
		}
		return write(out, v)
	}
	return write(out, token)
}

// list writes the rest of an object or array.
func (r *Replacer) list(dec *json.Decoder, out *bytes.Buffer, field string, open json.Delim) error {
	out.WriteByte(byte(open))
	for first := true; dec.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			field, _ = token.(string)
			if err := write(out, r.fieldName(field)); err != nil {
				return err
			}
			out.WriteByte(':')
		}
		if err := r.value(dec, out, field); err != nil {
			return err
		}
	}
	token, err := dec.Token()
	if err == nil {
		fmt.Fprint(out, token)
	}
	return err
}

func write(out *bytes.Buffer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the line end
	return nil
}

var (
	plainName   = regexp.MustCompile(`^[A-Za-z][A-Za-z_]{0,40}$`)
	dynamicName = regexp.MustCompile(`^([a-z_]+\(page\d+\)\[)(.*)\]$`)
)

// fieldName keeps names that look like those of the service. It replaces the label in the name of a filled-in field, which may name
// a person.
func (r *Replacer) fieldName(name string) string {
	if m := dynamicName.FindStringSubmatch(name); m != nil {
		return m[1] + r.String(m[2]) + "]"
	}
	if plainName.MatchString(name) {
		return name
	}
	return r.make(name, "field", func(n int) string { return fmt.Sprintf("field %d", n) })
}

var (
	uuidText     = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	objectIDText = regexp.MustCompile(`(?i)\b[0-9a-f]{24}\b`)
	mailText     = regexp.MustCompile(`[^\s@"<>(),:;]+@[^\s@"'<>(),:;]+`)
	urlText      = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>]*[^\s"'<>.,;:!?)]`)
	ipText       = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}\b`)
	tokenText    = regexp.MustCompile(`\b[A-Za-z0-9_-]{20,}\b`)
)

// kinds are the kinds of values that are recognised by their form.
var kinds = []struct {
	name  string
	form  *regexp.Regexp
	stand func(n int) string
}{
	{"url", urlText, func(n int) string { return fmt.Sprintf("https://example.com/%d", n) }},
	{"mail", mailText, func(n int) string { return fmt.Sprintf("person%d@example.com", n) }},
	{"uuid", uuidText, func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }},
	{"id", objectIDText, func(n int) string { return fmt.Sprintf("%024d", n) }},
	{"ip", ipText, func(n int) string { return fmt.Sprintf("192.0.2.%d", n%256) }},
}

// String replaces a whole string, unless it is empty or a time.
func (r *Replacer) String(s string) string {
	if _, err := time.Parse(time.RFC3339, s); err == nil || s == "" {
		return s
	}
	for _, k := range kinds {
		if at := k.form.FindStringIndex(s); at != nil && at[0] == 0 && at[1] == len(s) {
			return r.make(s, k.name, k.stand)
		}
	}
	return r.make(s, "text", func(n int) string { return fmt.Sprintf("text %d", n) })
}

// shortest is the least length of a value that Text looks for. Shorter values would match parts of words.
const shortest = 3

// Text replaces all values in a text that were replaced or hidden before. It also replaces addresses, links, ids and everything
// that looks like a key.
func (r *Replacer) Text(s string) string {
	slices.SortFunc(r.order, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, value := range r.order {
		pairs = append(pairs, value, r.made[value])
	}
	s = strings.NewReplacer(pairs...).Replace(s)
	for _, k := range kinds {
		s = k.form.ReplaceAllStringFunc(s, func(v string) string {
			if r.isMade(v) {
				return v
			}
			return r.make(v, k.name, k.stand)
		})
	}
	return tokenText.ReplaceAllStringFunc(s, func(v string) string {
		if !strings.ContainsAny(v, "0123456789") || r.isMade(v) || uuidText.MatchString(v) {
			return v
		}
		return r.make(v, "token", func(n int) string { return fmt.Sprintf("[token %d]", n) })
	})
}

func (r *Replacer) isMade(v string) bool {
	for _, made := range r.made {
		if made == v {
			return true
		}
	}
	return false
}

func (r *Replacer) make(value, kind string, stand func(n int) string) string {
	if made, ok := r.made[value]; ok {
		return made
	}
	r.count[kind]++
	made := stand(r.count[kind])
	r.note(value, made)
	return made
}

func (r *Replacer) note(value, made string) {
	r.made[value] = made
	if len(value) >= shortest {
		r.order = append(r.order, value)
	}
}
