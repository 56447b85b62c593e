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
	// ErrInvalid means that an input or a setting is missing or malformed. The SDK found it before
	// sending (Error.Fields, every error of New), or the service responded so (400, 405, 413, 415,
	// a redirect, code invalid_input).
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden means that the API key is wrong, or that the workspace does not belong to the
	// key (401, 403, 407, code forbidden). Correct the settings given to New.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound means that there is no such document, template, form or response (404, 410, code
	// not_found, or an empty list in response to the request for one record).
	ErrNotFound = errors.New("not found")
	// ErrRefused means that the service refuses, mostly because of the document's status (409, 422,
	// code invalid_status, and any 4xx that is not listed here). The service does not document the
	// status of a refusal, so a 400 to a void or reminder matches both ErrRefused and ErrInvalid.
	ErrRefused = errors.New("refused")
	// ErrRateLimited means that a limit was reached, and nothing was executed. Either the service
	// reported it (429, code rate_limited), or the SDK kept the reminder limit before sending
	// (Error.Attempts is 0). Error.RetryAfter is how long to wait.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable means one of these:
	//
	//   - There was no response, its JSON is cut off, or its status is 408, 499 or 5xx.
	//   - A 2xx reports a failure without a known code, or leaves it doubtful whether a void
	//     succeeded.
	//   - The response to a Get comes from a cache (its Age is above 0) and lacks the record.
	//   - The LimitStore did not respond (Error.Attempts is 0).
	//
	// The call is safe to repeat, because a send or reminder that may have been executed returns
	// ErrOutcomeUnknown.
	ErrUnavailable = errors.New("unavailable")
	// ErrBadResponse means that the response is not from this service, or not of this interface.
	// Check the base URL and the endpoints; a repeated call would get the same response. The
	// response is one of these:
	//
	//   - a 2xx that is HTML or other JSON
	//   - a 4xx that is HTML or other text, except 401, 403, 407, 408, 429 and 499, and except a
	//     404 or 405 to a send or reminder, which is ErrOutcomeUnknown
	//   - other records than the requested one
	//   - a certificate that does not verify
	ErrBadResponse = errors.New("bad response")
	// ErrIncomplete means that a sequence over a whole list, such as that of All, may lack records.
	// The sequence yields all records that were found, and ends with this error. Error.Yielded and
	// Error.Reported have their numbers.
	ErrIncomplete = errors.New("incomplete list")
	// ErrOutcomeUnknown means that a send may have been sent, or a reminder executed. Check before
	// you repeat it; for a send of a template, [RespondentsService.FindSent] does. The response was
	// one of these:
	//
	//   - no response, a 5xx, a 408, a 499 or a redirect
	//   - a 404 or 405 that is a gateway's HTML or text
	//   - a 2xx that cannot be read, reports a failure, or may report one in its text
	ErrOutcomeUnknown = errors.New("outcome unknown, check before you repeat the call")
)

// Error is the error of every call. It describes the response, or why there was no response, or why
// the SDK sent nothing.
//
// Its text has the call, the status, Code, Message and the first Fields. The text contains nothing
// else from the response.
//
// A fake can return an Error that matches the same sentinels as a real one: &Error{StatusCode: 404}
// matches ErrNotFound. For that, StatusCode is required, and Operation and Code have the values of
// the real call. For ErrIncomplete, or for an error without a response, wrap the sentinel:
// fmt.Errorf("%w: %w", &Error{...}, ErrIncomplete).
type Error struct {
	// Call names the call that failed, such as "get document". If it is empty, the text begins with Operation.
	Call string
	// Operation is the service's operation that the method uses. Several methods share one.
	Operation Operation
	// StatusCode is the HTTP status of the last response; 0 if there was none.
	StatusCode int
	// Code is the service's error code, such as invalid_status. It is empty if the response had no
	// code, or a code that contains the API key or 32 hexadecimal digits in a row. The service does
	// not document it.
	Code string
	// Message is the service's message, or the SDK's own message if no response can be used. If a
	// response is not JSON, Message is its text. Message has at most 200 bytes and no control
	// characters. URLs, query strings, mail addresses and an API key of 8 bytes or more are
	// replaced. Escapes of printable ASCII are decoded first.
	Message string
	// RequestID is the x-request-id of the call, the same for its retries. It is empty if no
	// attempt was made.
	RequestID string
	// RetryAfter is how long to wait before a further call, as the service or the reminder budget reported. If neither
	// did, an error of a call that matches ErrRateLimited or ErrUnavailable has a default: 15 min for a reminder that the
	// service limited, 1 s otherwise. The text of the error does not show it. A Retry-After counts for at most 24 h.
	RetryAfter time.Duration
	// Attempts is the number of attempts, which includes those that could not connect. It is 0 if
	// the SDK made none: an input is invalid, ctx had ended, or the reminder budget gave no slot.
	Attempts int
	// Fields lists every invalid input that the SDK found.
	Fields []FieldError
	// Yielded is how many records of a list were yielded before an error that matches
	// ErrIncomplete. Reported is the least number of records in the list by the service's last
	// report; 0 if there was no report.
	Yielded, Reported int
	// Body is the last response as received, at most 64 KiB. It may contain personal data and is
	// never part of the text.
	Body RawResponse `json:"-"`

	page    bool    // the response is an HTML page
	kinds   []error // nil: the kinds of StatusCode
	cause   error
	assumed time.Duration // the default RetryAfter, which is not printed
}

// FieldError is one invalid input: the Go name of the field, such as Receivers[2].Email, and the
// rule that it breaks. It never contains the value.
type FieldError struct {
	Field   string
	Problem string
}

// String returns the field and the rule, such as "Limit must be from 1 to 100".
func (f FieldError) String() string { return f.Field + " " + f.Problem }

// maxFieldsInText limits the invalid inputs in an error's text. Fields has all of them.
const maxFieldsInText = 8

// Error returns one line: the call, the error and, if known, its remedy.
func (e *Error) Error() string {
	if e == nil { // possible in an error that other code made
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

// Format prints the result of [Error.Error] for every verb. %+v also prints all fields except Body.
// Format has a value receiver because fmt would print the fields of an Error that is not a pointer,
// and the cause with them.
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

// statusAdvice has remedies for statuses that often come from a gateway, whose messages seldom
// help.
var statusAdvice = map[int]string{
	http.StatusUnauthorized:         "check the API key and the workspace id",
	http.StatusForbidden:            "check the API key and the workspace id",
	http.StatusProxyAuthRequired:    "check the credentials of the proxy",
	http.StatusNotFound:             "check the ids, the base URL and the endpoint",
	http.StatusMethodNotAllowed:     "check the endpoint",
	http.StatusUnsupportedMediaType: "check the endpoint",
}

// statusErrors and codeErrors map a response to the sentinels that its error matches. The service
// documents only the meaning of 403. The codes are an assumption.
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
		499:                              ErrUnavailable, // returned by a proxy whose request was cancelled
	}
	codeErrors = map[string]error{
		"invalid_input":  ErrInvalid,
		"forbidden":      ErrForbidden,
		"not_found":      ErrNotFound,
		"invalid_status": ErrRefused,
		"rate_limited":   ErrRateLimited,
	}
)

// answerKinds returns the sentinels of an error response, or of a 2xx that reports an error.
// ErrOutcomeUnknown is not among them: see newError.
func answerKinds(op Operation, status int, code string) (kinds []error) {
	add := func(k error) {
		if k != nil && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	add(statusErrors[status])
	if status/100 == 2 || status/100 == 4 { // other statuses come from gateways, whose codes mean something else
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

// A RawResponse is the body of a response as received, without a byte order mark, for the data that
// the typed fields do not have. Pass it to json.Unmarshal. It may contain personal data and signing
// links, so fmt, slog and json.Marshal print only its length. To embed it in other JSON, convert it
// to json.RawMessage.
type RawResponse []byte

// Format prints the number of bytes for every verb.
func (a RawResponse) Format(w fmt.State, _ rune) { io.WriteString(w, a.size()) }

// LogValue returns the number of bytes.
func (a RawResponse) LogValue() slog.Value { return slog.StringValue(a.size()) }

// MarshalText returns the number of bytes.
func (a RawResponse) MarshalText() ([]byte, error) { return []byte(a.size()), nil }

func (a RawResponse) size() string { return fmt.Sprintf("[%d bytes]", len(a)) }
