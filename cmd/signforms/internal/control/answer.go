package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/fieldname"
	"github.com/signforms/signforms-go/signformstest"
)

// Error is the error in an answer.
type Error struct {
	Status  int    `json:"-"`              // of HTTP
	Code    string `json:"code"`           // docs/control.yaml lists the codes
	Message string `json:"message"`        // says what to do
	Path    string `json:"path,omitempty"` // the part of a seed that is wrong, as in templates[0]
}

func (e *Error) Error() string { return e.Message }

// errorBody is the body of every answer with an error.
type errorBody struct {
	Error *Error `json:"error"`
}

func failure(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func inputError(format string, args ...any) *Error {
	return failure(http.StatusUnprocessableEntity, "input", format, args...)
}

func notFound(what, id string) *Error {
	return failure(http.StatusNotFound, "not_found", "there is no %s %.64q", what, id)
}

// asError converts an error of the server to one of this interface.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	text := err.Error()
	if e, ok := errors.AsType[*signformstest.InvalidError](err); ok {
		text = strings.TrimPrefix(fieldname.Path(e.Field, jsonNames)+": "+e.Problem, ": ")
	}
	switch {
	case errors.Is(err, signformstest.ErrSaveUnknown):
		return failure(http.StatusServiceUnavailable, "storage", "%s; look at the record before you try again", text)
	case errors.Is(err, signformstest.ErrStorage), errors.Is(err, signformstest.ErrClosed):
		return failure(http.StatusServiceUnavailable, "storage", "%s; nothing was changed", text)
	case errors.Is(err, signformstest.ErrRefused):
		return failure(http.StatusConflict, "refused", "%s", text)
	case errors.Is(err, signformstest.ErrNotFound):
		return failure(http.StatusNotFound, "not_found", "%s", text)
	}
	return inputError("%s", text)
}

// WriteError answers a request with an error.
func WriteError(w http.ResponseWriter, e *Error) {
	if e.Code == "busy" {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, e.Status, errorBody{e})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot happen: v is of a type of this package
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(append(body, '\n')) // fails only when the client has gone
}
