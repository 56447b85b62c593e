package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// DecodeJSON decodes a JSON text into v. It refuses unknown names, and anything after the value.
func DecodeJSON(text string, v any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("there is more after the end of the JSON value")
	}
	return nil
}

// EncodeJSON writes v as a line of JSON or, with an indent, as several. It escapes what could hide text on a terminal.
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

// escaped escapes the controls that encoding/json leaves, and the characters that turn the order of text around.
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
