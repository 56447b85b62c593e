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

// The codes of error responses. The service documents only some of the statuses; the codes are
// assumed.
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

// failure is an error response.
type failure struct {
	status  int
	code    string
	rule    string // rule for the request's Record
	message string
	reason  string    // message without the client's input, for the line of the Record
	header  [2]string // name and value of one more header; empty: none
}

func (f *failure) Error() string { return f.message }

// The refusals of this package. The refusals of signing and store are defined there. If a message
// repeats the client's input, the refusal also has a reason without it.

func wrongMethod(got, want string) error {
	return &failure{status: http.StatusMethodNotAllowed, code: codeMethodNotAllowed, rule: "method", reason: "use " + want,
		message: fmt.Sprintf("Method %.16q is not allowed here: use %s", got, want), header: [2]string{"Allow", want}}
}

func forbidden(rule, message string) error {
	return &failure{status: http.StatusForbidden, code: codeForbidden, rule: rule, message: message}
}

func tooLarge() error {
	return &failure{status: http.StatusRequestEntityTooLarge, code: codeTooLarge, rule: "size", message: "The body is larger than 10 MiB"}
}

func wrongMedia(got string) error {
	message := fmt.Sprintf("The body must be application/json, not %.64q", got)
	if got == "" {
		message = "The body must be application/json, but there is no Content-Type"
	}
	return &failure{status: http.StatusUnsupportedMediaType, code: codeUnsupportedMedia, rule: "media type", message: message,
		reason: "the body must be application/json"}
}

func badInput(problems ...string) error {
	return &failure{status: http.StatusBadRequest, code: codeInvalidInput, rule: "input", message: strings.Join(problems, "; ")}
}

func limited(limit Limit, wait time.Duration) error {
	return &failure{status: http.StatusTooManyRequests, code: codeRateLimited, rule: "limit", message: limit.String(),
		header: [2]string{"Retry-After", wholeSeconds(wait)}}
}

// failureOf returns the response for an error.
func failureOf(err error) *failure {
	f := refusalOf(err)
	if f.reason == "" {
		f.reason = f.message
	}
	return f
}

func refusalOf(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*store.Unavailable](err); ok {
		return &failure{status: http.StatusServiceUnavailable, code: codeUnavailable, rule: "storage", message: unsavedText(e)}
	}
	if e, ok := errors.AsType[*signing.Invalid](err); ok {
		return &failure{status: http.StatusBadRequest, code: codeInvalidInput, rule: "input", message: e.Field + " " + e.Problem, reason: e.Field}
	}
	if e, ok := errors.AsType[*store.Missing](err); ok {
		return &failure{status: http.StatusNotFound, code: codeNotFound, rule: "exists", message: "No such " + e.What + e.Instead}
	}
	if e, ok := errors.AsType[*signing.Refusal](err); ok {
		return &failure{status: http.StatusConflict, code: codeInvalidStatus, rule: string(e.Rule), message: refusalText(e)}
	}
	return &failure{status: http.StatusInternalServerError, code: codeInternal, rule: "internal", message: "Internal server error"}
}

// unsavedText returns a text without the cause, because the cause is in the log of the service's
// owner.
func unsavedText(err *store.Unavailable) string {
	if errors.Is(err, store.ErrStopped) {
		return "It is not known whether the change was saved, so the service has stopped"
	}
	return "The change could not be saved and was not made"
}

// refusalText returns which status forbids which action. The API only voids and reminds, so every
// refusal here is about the status.
func refusalText(r *signing.Refusal) string {
	done := map[signing.Action]string{signing.ActionVoid: "voided", signing.ActionRemind: "reminded"}[r.Action]
	return fmt.Sprintf("A document that is %s cannot be %s", r.Status, done)
}

// wholeSeconds returns d in the format of Retry-After. It rounds up, so that a client that waits
// this long is accepted.
func wholeSeconds(d time.Duration) string {
	return fmt.Sprint(int64((d + time.Second - 1) / time.Second))
}
