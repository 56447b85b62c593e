package signforms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What callers branch on, found with [errors.Is]. Every error of a call matches one of these, or the error of the call's
// context; it may match both.
var (
	// ErrInvalid: an input or a setting is missing or malformed. Found by the SDK before anything was sent (Error.Local,
	// Error.Fields; every error of New), or answered by the service (400, 405, 413, 415, a redirect, code invalid_input).
	ErrInvalid = errors.New("invalid input")
	// ErrForbidden: the API key is wrong, or the workspace is not the key's (401, 403). Correct the settings given to New.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: no such document, template, form or response (404, 410, or a list without the record asked for).
	ErrNotFound = errors.New("not found")
	// ErrRefused: the service will not do it, mostly because of the document's status (409, 422, code invalid_status, any 4xx
	// that is not listed here). The status of a refusal is not documented by the service, so a 400 to a void or reminder that
	// passed the local checks matches ErrRefused and ErrInvalid.
	ErrRefused = errors.New("refused")
	// ErrRateLimited: a limit, said by the service (429), or that of reminders, kept by the SDK before sending (Error.Local).
	// Nothing was carried out. Error.RetryAfter tells how long to wait; 0 when the service did not say.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable: no answer, an answer that cannot be read, a 408, a 5xx, or a 2xx that says it failed (success false, an
	// error) without a code that says why. What was asked for is safe to ask for again.
	ErrUnavailable = errors.New("unavailable")
	// ErrOutcomeUnknown: a send or reminder was or may have been written, and no answer says what became of it: there was none,
	// or a 5xx, a redirect, or a 2xx that cannot be read or says that it failed. Do not repeat it blindly: look first, for a
	// send at the template's respondents (see the package example OutcomeUnknown).
	ErrOutcomeUnknown = errors.New("outcome unknown: it may have been carried out, so look before you repeat it")
)

// Error is the error of every call: what the service answered, why there was no answer, or what the SDK refused to send.
// Its text holds the method, the status, the service's code and message, and never the API key, a query string or a body.
//
// One that a program makes by hand, for a fake, matches the sentinels that the same answer of the service would: see the
// package documentation.
type Error struct {
	// Method is the call in words, such as "get document" or "send template". Where it is empty the text begins with Operation.
	Method string
	// Operation of the service that the call used: several methods share one.
	Operation Operation
	// StatusCode of the last answer; 0 when there was none.
	StatusCode int
	// Code is the service's error code, such as invalid_status; empty when the answer had none. Not documented by the service.
	Code string
	// Message is the service's message, or the SDK's when Local or without an answer: at most 200 bytes, without control
	// characters, with URLs, mail addresses and the API key (unless it is shorter than 8 bytes) replaced.
	Message string
	// RequestID is the x-request-id that the call sent, the same on its retries; empty when nothing was sent.
	RequestID string
	// RetryAfter is how long the service (or, when Local, the reminder budget) asks to wait; 0 when it did not say.
	RetryAfter time.Duration
	// Attempts is how many requests were tried; 0 when the call was refused before the first.
	Attempts int
	// Local is true when the SDK refused the call and nothing was sent for it.
	Local bool
	// Fields lists every wrong input of the call when Local and ErrInvalid.
	Fields []FieldError
	// Body is the last answer as it came, at most 64 KiB. It may hold personal data and is never part of the text.
	Body RawAnswer `json:"-"`

	kinds []error // nil: those of the same answer, see sentinels
	cause error
}

// FieldError is one wrong input: the field as it is written in Go, such as Receivers[2].Email, and the rule it breaks.
// It never holds the value.
type FieldError struct {
	Field   string
	Problem string
}

// String returns the field and the rule as one phrase: "Limit must be from 1 to 100 …".
func (f FieldError) String() string { return f.Field + " " + f.Problem }

// maxFieldsInText keeps the text of a call with a hundred wrong receivers readable; Fields has them all.
const maxFieldsInText = 8

// Error says what was called, what came of it and, where the answer leaves that open, what to do.
func (e *Error) Error() string {
	parts := []string{cmp.Or(e.Method, string(e.Operation), "signforms")}
	if e.StatusCode != 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", e.StatusCode, e.Code)))
	}
	for _, k := range e.sentinels() {
		if k == ErrOutcomeUnknown || e.StatusCode < 300 { // other statuses speak for themselves
			parts = append(parts, k.Error())
		}
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
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(" (retry after %s)", (e.RetryAfter + time.Second - 1).Truncate(time.Second)) // never too early
	}
	if advice := statusAdvice[e.StatusCode]; advice != "" {
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

// Format prints what [Error.Error] returns, for every verb and also for an Error that is no pointer: fmt would else print
// the fields, and with them the cause as it came.
func (e Error) Format(w fmt.State, verb rune) { fmt.Fprintf(w, fmt.FormatString(w, verb), e.Error()) }

// Unwrap returns the sentinels that e matches and, if there is one, the cause: context.Canceled, a network error.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return e.sentinels()
	}
	return append([]error{e.cause}, e.sentinels()...)
}

// noKinds is for an error that matches its cause alone.
var noKinds = []error{}

// sentinels returns what the call found e to be. For an Error that was made by hand it is what the exported fields say.
func (e *Error) sentinels() []error {
	mayBeDone := e.Operation == OpSend || e.Operation == OpSendReminder
	switch {
	case e.kinds != nil:
		return e.kinds
	case e.Local && e.RetryAfter > 0:
		return []error{ErrRateLimited}
	case e.Local:
		return []error{ErrInvalid}
	case mayBeDone && outcome{status: e.StatusCode}.mayBeDone():
		return []error{ErrOutcomeUnknown}
	}
	return answerKinds(e.Operation, e.StatusCode, e.Code)
}

// statusErrors and codeErrors map an answer to the sentinels it matches: the one table of what a status means. Statuses
// other than 403 are not documented by the service; codes are an assumption.
var (
	statusErrors = map[int]error{
		http.StatusBadRequest:            ErrInvalid,
		http.StatusMethodNotAllowed:      ErrInvalid,
		http.StatusRequestEntityTooLarge: ErrInvalid,
		http.StatusUnsupportedMediaType:  ErrInvalid,
		http.StatusUnauthorized:          ErrForbidden,
		http.StatusForbidden:             ErrForbidden,
		http.StatusNotFound:              ErrNotFound,
		http.StatusGone:                  ErrNotFound,
		http.StatusConflict:              ErrRefused,
		http.StatusUnprocessableEntity:   ErrRefused,
		http.StatusTooManyRequests:       ErrRateLimited,
		http.StatusRequestTimeout:        ErrUnavailable,
	}
	codeErrors = map[string]error{
		"invalid_input":  ErrInvalid,
		"forbidden":      ErrForbidden,
		"not_found":      ErrNotFound,
		"invalid_status": ErrRefused,
		"rate_limited":   ErrRateLimited,
	}
)

// statusAdvice says what to do where a service's own words seldom do: these statuses often come from a gateway before it.
var statusAdvice = map[int]string{
	http.StatusUnauthorized:         "check the API key and Options.WorkspaceID",
	http.StatusForbidden:            "check the API key and Options.WorkspaceID",
	http.StatusNotFound:             "check the ids, the base URL and Options.Endpoints",
	http.StatusMethodNotAllowed:     "check Options.Endpoints",
	http.StatusUnsupportedMediaType: "check Options.Endpoints",
}

// answerKinds returns the sentinels of a complete answer that is no success; status 0 stands for no answer. It does not
// know whether the outcome of a send is open.
func answerKinds(op Operation, status int, code string) []error {
	var kinds []error
	add := func(k error) {
		if k != nil && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	add(statusErrors[status])
	if status/100 == 2 || status/100 == 4 { // any other is a gateway's, whose code says nothing about the service
		add(codeErrors[code])
	}
	if status == http.StatusBadRequest && (op == OpVoidDocument || op == OpSendReminder) {
		add(ErrRefused)
	}
	if len(kinds) == 0 {
		add(classErrors[status/100])
	}
	if len(kinds) == 0 {
		add(ErrUnavailable)
	}
	return kinds
}

// classErrors are for statuses and codes that have no sentinel of their own; other classes match ErrUnavailable.
var classErrors = map[int]error{
	3: ErrInvalid, // the base URL or an endpoint
	4: ErrRefused,
}

const (
	maxMessage = 200
	// minKey is the length from which on the API key is looked for in texts. No real key is shorter, and one that is, in
	// somebody's test, would be cut out of ordinary words.
	minKey = 8
)

var (
	urlText   = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*(:|%3a)(//|%2f%2f)[^\s"<>]+`)
	queryText = regexp.MustCompile(`\?[^\s"<>?=]+=[^\s"<>]*`)
	mailText  = regexp.MustCompile(`[^\s@"<>(),:;]+(@|%40)[^\s@"'<>(),:;]+`)
)

// cleanText makes foreign text fit for errors and logs. It looks for what must go only after it has taken out what could
// hide it.
func cleanText(s, apiKey string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(apiKey) >= minKey {
		s = strings.ReplaceAll(s, apiKey, "[key]")
	}
	s = urlText.ReplaceAllString(s, "[url]")
	s = queryText.ReplaceAllString(s, "?[query]")
	s = mailText.ReplaceAllString(s, "[email]")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
