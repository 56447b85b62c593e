package signforms

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/call"
)

// The kinds of errors, for [errors.Is]. Every error of a call matches at least one of these, or its context's error.
var (
	// ErrInvalid: an input or a setting is missing or malformed. The SDK found it before sending (Error.Fields, every
	// error of New), or the service responded so (400, 405, 413, 415, a redirect, code invalid_input).
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden: the API key is wrong, or the workspace is not the key's (401, 403, 407, code forbidden). Correct the
	// settings given to New.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: no such document, template, form or response (404, 410, code not_found, or an empty list where one
	// record was asked for).
	ErrNotFound = errors.New("not found")
	// ErrRefused: the service refuses, mostly because of the document's status (409, 422, code invalid_status, and any 4xx
	// that is not listed here). The status of a refusal is not documented by the service, so a 400 to a void or reminder
	// matches ErrRefused and ErrInvalid.
	ErrRefused = errors.New("refused")
	// ErrRateLimited: a limit was reached. Either the service said so (429, code rate_limited), or the SDK kept the
	// reminder limit before sending (Error.Attempts is 0). Nothing was executed. Error.RetryAfter is how long to wait.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable: no response, JSON that is cut off, a 408, a 499, a 5xx, or a 2xx that reports a failure without a
	// known code or leaves a void in doubt. The response to a Get comes from a cache (its Age is above 0) and lacks the
	// record. If Error.Attempts is 0, the LimitStore did not respond. The call is safe to repeat: what may have sent or
	// reminded is ErrOutcomeUnknown.
	ErrUnavailable = errors.New("unavailable")
	// ErrBadResponse: the response is not from this service, or not of this interface. Check the base URL and the
	// endpoints; a repeated call would get the same response. It is one of these:
	//
	//   - a 2xx that is HTML or other JSON
	//   - a 4xx that is HTML or other text, except 401, 403, 407, 408, 429 and 499, and except a 404 or 405 to a send or
	//     reminder, which is ErrOutcomeUnknown
	//   - other records than the requested one
	//   - a certificate that does not verify
	ErrBadResponse = errors.New("bad response")
	// ErrIncomplete: a sequence over a whole list, such as that of All, may lack records. It ends with this error after
	// everything that was found. Error.Yielded and Error.Reported say how much that is.
	ErrIncomplete = errors.New("incomplete list")
	// ErrOutcomeUnknown: a send may have been sent, or a reminder executed. Check before you repeat it; for a send of a
	// template, [RespondentsService.FindSent] does. The response was one of these:
	//
	//   - no response, a 5xx, a 408, a 499 or a redirect
	//   - a 404 or 405 that is a gateway's HTML or text
	//   - a 2xx that cannot be read, reports a failure, or may report one in its text
	ErrOutcomeUnknown = errors.New("outcome unknown, check before you repeat the call")
)

// Error is the error of every call. It says what the service answered, why there was no answer, or why the SDK sent
// nothing. Its text has the call, the status, Code, Message and the first Fields, and never more of the response. An
// Error that you build in a fake matches what a call of its Operation with a response of its StatusCode and Code matches:
// &Error{StatusCode: 404} matches ErrNotFound. The StatusCode is required for that. A fake of ErrIncomplete, or of an error
// without a response, wraps the sentinel: fmt.Errorf("%w: %w", &Error{...}, ErrIncomplete).
type Error struct {
	// Call names the call that failed, such as "get document". If it is empty, the text begins with Operation.
	Call string
	// Operation is the service's operation that the method uses. Several methods share one.
	Operation Operation
	// StatusCode is the HTTP status of the last answer; 0 when there was none.
	StatusCode int
	// Code is the service's error code, such as invalid_status. It is empty when the answer had none, or one that
	// holds the API key or 32 hexadecimal digits in a row. Not documented by the service.
	Code string
	// Message is the service's message, or the SDK's own where there was no answer that it can use. The message of an
	// answer that is not JSON is its text. Message has at most 200 bytes and no control characters. URLs, query strings,
	// mail addresses and an API key of 8 bytes or more are replaced. Escapes of printable ASCII are decoded first.
	Message string
	// RequestID is the x-request-id of the call, the same for its retries. It is empty when no attempt was made.
	RequestID string
	// RetryAfter is how long to wait before a further call, as the service or the reminder budget reported. If neither
	// did, an error of a call that matches ErrRateLimited or ErrUnavailable has a default: 15 min for a reminder that the
	// service limited, 1 s otherwise. The text of the error does not show it. A Retry-After counts for at most 24 h.
	RetryAfter time.Duration
	// Attempts is the number of attempts, which includes those that could not connect. It is 0 if the SDK made none: an
	// input is wrong, ctx had ended, or the reminder budget gave no slot.
	Attempts int
	// Fields lists every wrong input that the SDK found.
	Fields []FieldError
	// Yielded is how many records of a list came before an error that matches ErrIncomplete. Reported is how many there
	// are by the service's last report, at least; 0 when it made none.
	Yielded, Reported int
	// Body is the last answer as received, at most 64 KiB. It may contain personal data and is never part of the text.
	Body RawResponse `json:"-"`

	page    bool    // the response is a page
	kinds   []error // nil: those of StatusCode
	cause   error
	assumed time.Duration // the RetryAfter that nobody reported; not printed
}

// FieldError is one wrong input: the Go name of the field, such as Receivers[2].Email, and the rule that it breaks. It
// never has the value.
type FieldError struct {
	Field   string
	Problem string
}

// String returns the field and the rule, such as "Limit must be from 1 to 100".
func (f FieldError) String() string { return f.Field + " " + f.Problem }

// maxFieldsInText limits the wrong inputs in an error's text. Fields has all of them.
const maxFieldsInText = 8

// Error returns one line: the call, what happened and, where it helps, what to do.
func (e *Error) Error() string {
	if e == nil { // in an error that somebody else made
		return "<nil>"
	}
	parts := []string{cmp.Or(e.Call, string(e.Operation), "signforms")}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", e.StatusCode, e.Code))
	for _, k := range e.sentinels() {
		switch {
		case e.StatusCode == 0:
			parts = append(parts, k.Error())
		case k == ErrOutcomeUnknown || k == ErrBadResponse || e.StatusCode < 300: // any other status implies its kind
			parts, status = append(parts, k.Error()+" ("+status+")"), ""
		}
	}
	if e.StatusCode != 0 && status != "" {
		parts = append(parts, status)
	}
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	if len(e.Fields) > 0 {
		parts = append(parts, e.fieldText())
	}
	text := strings.Join(parts, ": ")
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (after %d attempts)", e.Attempts)
	}
	if e.RetryAfter > 0 && e.RetryAfter != e.assumed && !slices.Contains(e.sentinels(), ErrOutcomeUnknown) {
		up := min(e.RetryAfter, math.MaxInt64-time.Second) + time.Second - 1
		text += fmt.Sprintf(" (retry after %s)", up.Truncate(time.Second))
	}
	if advice := statusAdvice[e.StatusCode]; advice != "" && (!e.page || e.StatusCode == http.StatusProxyAuthRequired) {
		text += " (" + advice + ")"
	}
	return text
}

func (e *Error) fieldText() string {
	texts := make([]string, 0, maxFieldsInText+1)
	for i, f := range e.Fields {
		if i == maxFieldsInText {
			texts = append(texts, fmt.Sprintf("and %d more in Error.Fields", len(e.Fields)-i))
			break
		}
		texts = append(texts, f.String())
	}
	return strings.Join(texts, "; ")
}

// Format prints the result of [Error.Error] for every verb. %+v prints all fields but Body after it. Format has a value
// receiver because fmt would print the fields of an Error that is not a pointer, and the cause with them.
func (e Error) Format(w fmt.State, verb rune) {
	if verb != 'v' || !w.Flag('+') {
		fmt.Fprintf(w, fmt.FormatString(w, verb), e.Error())
		return
	}
	fmt.Fprintf(w, "%s {Call:%q Operation:%q StatusCode:%d Code:%q Message:%q RequestID:%q RetryAfter:%s Attempts:%d Fields:%q Yielded:%d Reported:%d}",
		e.Error(), e.Call, e.Operation, e.StatusCode, e.Code, e.Message, e.RequestID, e.RetryAfter, e.Attempts, e.Fields, e.Yielded, e.Reported)
}

// Unwrap returns the sentinels that e matches and its cause, if any, such as context.Canceled or a network error.
func (e *Error) Unwrap() []error {
	switch {
	case e == nil:
		return nil
	case e.cause == nil:
		return e.sentinels()
	}
	return append([]error{e.cause}, e.sentinels()...)
}

func (e *Error) sentinels() []error {
	switch {
	case e.kinds != nil || e.StatusCode == 0:
		return e.kinds
	case (e.Operation == OpSend || e.Operation == OpRemind) && call.Outcome{Status: e.StatusCode}.MayBeExecuted():
		return []error{ErrOutcomeUnknown}
	}
	return answerKinds(e.Operation, e.StatusCode, e.Code)
}

// statusAdvice says what to do about statuses that often come from a gateway, whose messages seldom help.
var statusAdvice = map[int]string{
	http.StatusUnauthorized:         "check the API key and the workspace id",
	http.StatusForbidden:            "check the API key and the workspace id",
	http.StatusProxyAuthRequired:    "check the credentials of the proxy",
	http.StatusNotFound:             "check the ids, the base URL and the endpoint",
	http.StatusMethodNotAllowed:     "check the endpoint",
	http.StatusUnsupportedMediaType: "check the endpoint",
}

// statusErrors and codeErrors map an answer to the sentinels it matches. Except for 403, what a status means is not
// documented by the service. The codes are an assumption.
var (
	statusErrors = map[int]error{
		http.StatusBadRequest:            ErrInvalid,
		http.StatusMethodNotAllowed:      ErrInvalid,
		http.StatusRequestEntityTooLarge: ErrInvalid,
		http.StatusUnsupportedMediaType:  ErrInvalid,
		http.StatusUnauthorized:          ErrForbidden,
		http.StatusForbidden:             ErrForbidden,
		http.StatusProxyAuthRequired:     ErrForbidden,
		http.StatusNotFound:              ErrNotFound,
		http.StatusGone:                  ErrNotFound,
		http.StatusConflict:              ErrRefused,
		http.StatusUnprocessableEntity:   ErrRefused,
		http.StatusTooManyRequests:       ErrRateLimited,
		http.StatusRequestTimeout:        ErrUnavailable,
		499:                              ErrUnavailable, // of a proxy whose request was cancelled
	}
	codeErrors = map[string]error{
		"invalid_input":  ErrInvalid,
		"forbidden":      ErrForbidden,
		"not_found":      ErrNotFound,
		"invalid_status": ErrRefused,
		"rate_limited":   ErrRateLimited,
	}
)

// answerKinds returns the sentinels of an answer with an error, or of a 2xx that reports one. ErrOutcomeUnknown is not
// among them: see newError.
func answerKinds(op Operation, status int, code string) (kinds []error) {
	add := func(k error) {
		if k != nil && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	add(statusErrors[status])
	if status/100 == 2 || status/100 == 4 { // others come from gateways, whose codes mean something else
		add(codeErrors[code])
	}
	if status == http.StatusBadRequest && (op == OpVoidDocument || op == OpRemind) {
		add(ErrRefused)
	}
	switch {
	case len(kinds) > 0:
	case status/100 == 3: // the base URL or an endpoint is wrong
		add(ErrInvalid)
	case status/100 == 4:
		add(ErrRefused)
	default:
		add(ErrUnavailable)
	}
	return kinds
}

// A RawResponse is the body of a response as received, without a byte order mark, for what the typed fields leave out.
// Pass it to json.Unmarshal. It may contain personal data and signing links, so fmt, slog and json.Marshal print only
// its length. To embed it in other JSON, convert it to json.RawMessage.
type RawResponse []byte

// Format prints the number of bytes for every verb.
func (a RawResponse) Format(w fmt.State, _ rune) { io.WriteString(w, a.size()) }

// LogValue returns the number of bytes.
func (a RawResponse) LogValue() slog.Value { return slog.StringValue(a.size()) }

// MarshalText returns the number of bytes.
func (a RawResponse) MarshalText() ([]byte, error) { return []byte(a.size()), nil }

func (a RawResponse) size() string { return fmt.Sprintf("[%d bytes]", len(a)) }
