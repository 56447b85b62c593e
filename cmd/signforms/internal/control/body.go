package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// decode reads a request's body, which must be a JSON object, into v.
func decode(r *http.Request, v any) error {
	body, err := readBody(r)
	switch {
	case err != nil:
		return err
	case len(body) == 0:
		return badBody("is empty: send a JSON object")
	}
	return decodeText(body, v)
}

// decodeOptional is like decode, for a body that may be empty. An empty body leaves v unchanged.
func decodeOptional(r *http.Request, v any) error {
	body, err := readBody(r)
	if err != nil || len(body) == 0 {
		return err
	}
	return decodeText(body, v)
}

// taking wraps an operation whose input is the body.
func taking[In any](handle func(*API, *http.Request, In) (any, error)) handler {
	return func(a *API, r *http.Request) (any, error) {
		var in In
		if err := decode(r, &in); err != nil {
			return nil, err
		}
		return handle(a, r, in)
	}
}

// bare wraps an operation without inputs: its body must be empty or an empty object.
func bare(handle handler) handler {
	return func(a *API, r *http.Request) (any, error) {
		if err := decodeOptional(r, &struct{}{}); err != nil {
			return nil, err
		}
		return handle(a, r)
	}
}

func badBody(format string, args ...any) error {
	return failure(http.StatusBadRequest, "input", "the body "+format, args...)
}

// readBody returns the body without surrounding white space and without a byte order mark.
func readBody(r *http.Request) ([]byte, error) {
	body, err := rawBody(r)
	if bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return nil, badBody("is gzip: send it without compression")
	}
	return bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff"))), err
}

func rawBody(r *http.Request) ([]byte, error) {
	tooLarge := failure(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes", wire.MaxBody)
	if r.ContentLength > wire.MaxBody {
		return nil, tooLarge
	}
	var body bytes.Buffer
	_, err := body.ReadFrom(http.MaxBytesReader(nil, r.Body, wire.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, tooLarge
	}
	if _, full := errors.AsType[*fs.PathError](err); full { // the temporary file of the body
		return nil, failure(http.StatusServiceUnavailable, "storage", "%v; nothing was changed", err)
	}
	if err != nil {
		return nil, badBody("ended early: %v", err)
	}
	return body.Bytes(), nil
}

func decodeText(body []byte, v any) error {
	if len(body) > 0 && body[0] != '{' && json.Valid(body) {
		return badBody("must be a JSON object, as in {…}")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return badBody("cannot be read: %s", bodyProblem(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return badBody("goes on after its JSON value")
	}
	if !utf8.Valid(body) { // the decoder replaces invalid UTF-8
		return badBody("cannot be read: it is not UTF-8")
	}
	return nil
}

// bodyProblem describes a problem of a body, with the names of JSON types instead of Go types.
func bodyProblem(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s must be %s, not %s", jsonPath(e.Field), jsonWord(e.Type), strings.Replace(e.Value, "string", "text", 1))
	}
	if e, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Sprintf("%s must be a time as in 2026-11-21T09:30:00Z", e.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// jsonPath removes the names of embedded structs from a path. Package json includes them although
// they are not in the JSON. Every JSON name begins with a lower-case letter.
func jsonPath(field string) string {
	steps := slices.DeleteFunc(strings.Split(field, "."), func(step string) bool { return step != "" && unicode.IsUpper(rune(step[0])) })
	return strings.Join(steps, ".")
}

func jsonWord(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[[]byte]():
		return "text in base64"
	case t == reflect.TypeFor[wire.Duration]():
		return "a length of time such as 90s, 72h or 3d"
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
