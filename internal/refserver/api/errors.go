package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// The codes of error answers. Only the statuses are partly documented by the service; the codes are assumed.
const (
	codeInvalidInput     = "invalid_input"
	codeForbidden        = "forbidden"
	codeNotFound         = "not_found"
	codeMethodNotAllowed = "method_not_allowed"
	codeTooLarge         = "too_large"
	codeUnsupportedMedia = "unsupported_media_type"
	codeInvalidStatus    = "invalid_status"
	codeRateLimited      = "rate_limited"
	codeUnavailable      = "unavailable"
	codeInternal         = "internal"
)

// failure is an error answer.
type failure struct {
	status  int
	code    string
	rule    string // for the request's Record
	message string
	reason  string    // message without what the client sent, for the Record's line
	header  [2]string // name and value of one more header; empty: none
}

func (f *failure) Error() string { return f.message }

// wrongMethod, forbidden, tooLarge, wrongMedia, badInput and limited are the refusals of this package; those of signing and
// store come from there.
type (
	wrongMethod struct{ got, want string }
	forbidden   struct{ rule, message string }
	tooLarge    struct{}
	wrongMedia  struct{ got string }
	badInput    struct{ problems []string }
	limited     struct {
		limit Limit
		wait  time.Duration
	}
)

func (e *wrongMethod) Error() string {
	return fmt.Sprintf("Method %.16q is not allowed here: use %s", e.got, e.want)
}
func (e *forbidden) Error() string { return e.message }
func (e *tooLarge) Error() string  { return "The body is larger than 10 MiB" }
func (e *badInput) Error() string  { return strings.Join(e.problems, "; ") }
func (e *wrongMedia) Error() string {
	if e.got == "" {
		return "The body must be application/json, but there is no Content-Type"
	}
	return fmt.Sprintf("The body must be application/json, not %.64q", e.got)
}
func (e *limited) Error() string { return e.limit.String() }

// failureOf returns the answer to what went wrong.
func failureOf(err error) *failure {
	f := refusalOf(err)
	if f.reason == "" {
		f.reason = f.message
	}
	return f
}

// refusalOf is the table of refusals. Messages that repeat what the client sent have a reason beside them that does not.
func refusalOf(err error) *failure {
	var (
		known   *failure
		method  *wrongMethod
		access  *forbidden
		large   *tooLarge
		media   *wrongMedia
		input   *badInput
		invalid *signing.Invalid
		missing *store.Missing
		refusal *signing.Refusal
		limit   *limited
		unsaved *store.Unavailable
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &unsaved):
		return &failure{status: http.StatusServiceUnavailable, code: codeUnavailable, rule: "storage", message: unsavedText(unsaved)}
	case errors.As(err, &input):
		return &failure{status: http.StatusBadRequest, code: codeInvalidInput, rule: "input", message: input.Error()}
	case errors.As(err, &invalid):
		return &failure{status: http.StatusBadRequest, code: codeInvalidInput, rule: "input", message: invalid.Field + " " + invalid.Message, reason: invalid.Field}
	case errors.As(err, &access):
		return &failure{status: http.StatusForbidden, code: codeForbidden, rule: access.rule, message: access.message}
	case errors.As(err, &missing):
		return &failure{status: http.StatusNotFound, code: codeNotFound, rule: "exists", message: "No such " + missing.What}
	case errors.As(err, &method):
		return &failure{status: http.StatusMethodNotAllowed, code: codeMethodNotAllowed, rule: "method", message: method.Error(),
			reason: "use " + method.want, header: [2]string{"Allow", method.want}}
	case errors.As(err, &refusal):
		return &failure{status: http.StatusConflict, code: codeInvalidStatus, rule: string(refusal.Rule), message: refusalText(refusal)}
	case errors.As(err, &large):
		return &failure{status: http.StatusRequestEntityTooLarge, code: codeTooLarge, rule: "size", message: large.Error()}
	case errors.As(err, &media):
		return &failure{status: http.StatusUnsupportedMediaType, code: codeUnsupportedMedia, rule: "media type", message: media.Error(),
			reason: "the body must be application/json"}
	case errors.As(err, &limit):
		return &failure{status: http.StatusTooManyRequests, code: codeRateLimited, rule: "limit", message: limit.Error(),
			header: [2]string{"Retry-After", wholeSeconds(limit.wait)}}
	}
	return &failure{status: http.StatusInternalServerError, code: codeInternal, rule: "internal", message: "Internal server error"}
}

// unsavedText does not say why: the reason is in the log of the service's owner.
func unsavedText(err *store.Unavailable) string {
	if errors.Is(err, store.ErrStopped) {
		return "It is not known whether the change was saved, so the service has stopped"
	}
	return "The change could not be saved and was not made"
}

// refusalText says which status forbids what. The API only voids and reminds, so a refusal here is about the status.
func refusalText(r *signing.Refusal) string {
	done := map[signing.Action]string{signing.ActionVoid: "voided", signing.ActionRemind: "reminded"}[r.Action]
	return fmt.Sprintf("A document that is %s cannot be %s", r.Status, done)
}

// wholeSeconds is d as Retry-After says it: rounded up, so that a client that waits that long is accepted.
func wholeSeconds(d time.Duration) string {
	return fmt.Sprint(int64((d + time.Second - 1) / time.Second))
}
