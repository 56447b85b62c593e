package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// DecodeJSON decodes a JSON text into v. It refuses unknown names, a name that occurs twice in an
// object, and text after the value.
func DecodeJSON(text string, v any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return decodingError(text, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is more after the end of the JSON value")
	}
	return repeatedName(json.NewDecoder(strings.NewReader(text)))
}

// decodingError returns an error with the position of the problem, without the names of Go types.
func decodingError(text string, err error) error {
	line := func(offset int64) int { return 1 + strings.Count(text[:min(int(offset), len(text))], "\n") }
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		if strings.ContainsRune(text, 0) {
			return errors.New("it is UTF-16, or has a NUL character: save it as UTF-8")
		}
		return fmt.Errorf("line %d: %w", line(e.Offset), err)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("line %d: %s cannot be a JSON %s", line(e.Offset), cmp.Or(e.Field, "the whole"), e.Value)
	}
	switch err {
	case io.EOF:
		return errors.New("it is empty")
	case io.ErrUnexpectedEOF:
		return fmt.Errorf("line %d: the JSON ends too early", line(int64(len(text))))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

// repeatedName refuses a name that occurs twice in an object, because encoding/json would use the
// last value. As in encoding/json, names are compared without regard to case.
func repeatedName(d *json.Decoder) error {
	token, err := d.Token()
	if opens, ok := token.(json.Delim); err != nil || !ok {
		return err
	} else if seen := map[string]bool{}; opens == '{' || opens == '[' {
		for d.More() {
			if opens == '{' {
				if token, err = d.Token(); err != nil {
					return err
				}
				name := strings.ToLower(strings.ToUpper(token.(string))) // the Kelvin sign becomes k, and the long s becomes s
				if seen[name] {
					return fmt.Errorf("%q occurs twice in one object", token)
				}
				seen[name] = true
			}
			if err := repeatedName(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// EncodeJSON writes v as one line of JSON or, with an indent, as several lines. It escapes
// characters that could hide text on a terminal.
func EncodeJSON(w io.Writer, v any, indent string) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	out.SetIndent("", indent)
	if err := out.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escaped(text.Bytes()))
	return err
}

// escaped escapes the control characters that encoding/json leaves, and the characters that change
// the direction of text.
func escaped(text []byte) []byte {
	hides := func(r rune) bool {
		return r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	}
	if !bytes.ContainsFunc(text, hides) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		if hides(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}
