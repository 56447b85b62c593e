package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/fieldname"
	"github.com/signforms/signforms-go/internal/refserver"
)

func failure(status int, code, format string, args ...any) *wire.Error {
	return &wire.Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func inputError(format string, args ...any) *wire.Error {
	return failure(http.StatusUnprocessableEntity, "input", format, args...)
}

func notFound(what, id string) *wire.Error {
	return failure(http.StatusNotFound, "not_found", "there is no %s %.64q", what, id)
}

// asError converts an error of the server to an error of this interface.
func asError(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	text := err.Error()
	if e, ok := errors.AsType[*refserver.InvalidError](err); ok {
		text = strings.TrimPrefix(fieldname.Path(e.Field, jsonNames)+": "+e.Problem, ": ")
	}
	switch {
	case errors.Is(err, refserver.ErrStopped):
		return failure(http.StatusServiceUnavailable, "storage", "%s", text)
	case errors.Is(err, refserver.ErrNotMade):
		return failure(http.StatusServiceUnavailable, "not_made", "%s", text)
	case errors.Is(err, refserver.ErrStorage), errors.Is(err, refserver.ErrClosed):
		return failure(http.StatusServiceUnavailable, "storage", "%s; nothing was changed", text)
	case errors.Is(err, refserver.ErrRefused):
		return failure(http.StatusConflict, "refused", "%s", text)
	case errors.Is(err, refserver.ErrNotFound):
		return failure(http.StatusNotFound, "not_found", "%s", text)
	}
	return inputError("%s", text)
}

// WriteError writes an error response.
func WriteError(w http.ResponseWriter, e *wire.Error) {
	if e.Code == "busy" {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, e.Status, wire.ErrorBody{Error: e})
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
	w.Write(append(body, '\n')) // Write fails only if the client has gone
}
