package signforms

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/call"
	"github.com/signforms/signforms-go/internal/jsonfill"
	"github.com/signforms/signforms-go/internal/paging"
	"github.com/signforms/signforms-go/internal/reminderlimit"
)

// This file decides what a call means for its caller: why nothing was sent (notSent), what the status says (statusError),
// what a 2xx says of itself (read; its missing says what it lacks), and whether a list has the record that was asked
// for (only). A 2xx to a void, a reminder or the send of a form is in actions.go. The known words of a document's status
// are in types.go. The meaning of a response for Client.Do is in do.go, decoded.

// statusError returns the error of a call by its last attempt; nil for a 2xx, of which read decides.
func (r *response) statusError() error {
	switch {
	case r.outcome.Attempts == 0:
		return r.notSent()
	case r.outcome.Status == 0 || r.outcome.Err != nil:
		text := r.outcome.NoAnswerText(r.c.options.AttemptTimeout)
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](r.outcome.Err); untrusted {
			return r.newError("", text, ErrBadResponse)
		}
		return r.newError("", text)
	case r.outcome.Status/100 == 3:
		return r.newError("", "the service redirects, and redirects are not followed: correct the base URL or the endpoint")
	case r.outcome.Status/100 != 2:
		code, message := reason(r.outcome)
		switch isRefusal := r.outcome.Status/100 == 4 && !slices.Contains(gatewayStatuses, r.outcome.Status); {
		case isRefusal && isForeign(r.outcome) && r.class == call.NotRepeatable && slices.Contains(errorPageStatuses, r.outcome.Status):
			return r.newError(code, message, ErrOutcomeUnknown)
		case isRefusal && isForeign(r.outcome):
			return r.newError(code, message, ErrBadResponse)
		case isRefusal && r.class == call.Safe && age(r.outcome) > 0:
			return r.newError(code, cacheText(r.outcome)+message, ErrUnavailable)
		}
		return r.newError(code, message)
	}
	return nil
}

// gatewayStatuses have the same meaning, whether the service or a gateway responds with them.
var gatewayStatuses = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired,
	http.StatusRequestTimeout, http.StatusTooManyRequests, 499}

// errorPageStatuses are those with which nginx replaces the 502 or 504 of a request that the service may have executed, if
// the page of its error_page directive is missing (404) or is a static file (405).
var errorPageStatuses = []int{http.StatusNotFound, http.StatusMethodNotAllowed}

// isForeign reports whether the body is a page or other text, and so not from the service. JSON that is cut off is not.
func isForeign(o call.Outcome) bool {
	body := text(o)
	return len(body) > 0 && !strings.ContainsRune("{[\"", rune(body[0])) && !json.Valid(body)
}

// isPage reports whether the body is HTML.
func isPage(o call.Outcome) bool { return bytes.HasPrefix(text(o), []byte("<")) }

var pageTitle = regexp.MustCompile(`(?is)<title[^>]*>\s*(.*?)\s*</title`)

// pageText returns the message about an HTML page.
func pageText(o call.Outcome) string {
	title := "a page without a title"
	if found := pageTitle.FindSubmatch(text(o)[:min(len(text(o)), call.MaxSearched)]); found != nil {
		title = html.UnescapeString(string(found[1]))
	}
	return "a gateway or proxy responded, not the service (" + title + ")"
}

// isCutOff reports whether the body is the beginning of a JSON object. A proxy that decompresses a
// body may cut it off without an error. The numbers of opening and closing braces then differ, and
// comparing them costs less than reading the body twice.
func isCutOff(o call.Outcome) bool {
	body := text(o)
	return len(body) > 0 && body[0] == '{' && bytes.Count(body, []byte("{")) != bytes.Count(body, []byte("}")) &&
		errors.Is(json.NewDecoder(bytes.NewReader(body)).Decode(&json.RawMessage{}), io.ErrUnexpectedEOF)
}

// age returns the Age of a response, which is above 0 if a cache responded.
func age(o call.Outcome) uint64 {
	seconds, _ := strconv.ParseUint(cmp.Or(strings.TrimSpace(o.Header.Get("Age")), "0"), 10, 64) // a number out of range becomes the largest number
	return seconds
}

func cacheText(o call.Outcome) string {
	return fmt.Sprintf("a cache responded, with a response that is %d s old (Age): ", age(o))
}

// readRecord fills out, which the response must have whole. missing returns what out lacks, or "".
func (r *response) readRecord(out any, missing func() string) error {
	failed, err := fill(r.outcome, out)
	if failed {
		return r.failure()
	}
	return r.unreadable(err, missing)
}

// readSend fills res. If it has an id, the document was created, whatever else the response reports.
func (r *response) readSend(res *TemplateSendResult) error {
	failed, err := fill(r.outcome, res)
	if failed && (err != nil || res.missing() != "") {
		return r.failure()
	}
	return r.unreadable(err, res.missing)
}

// failureFields are the fields by which a 2xx may report a failure. The service documents none of
// them; clients have observed responses with status 200 and an error.
type failureFields struct {
	Success    *bool           `json:"success"`
	Error      json.RawMessage `json:"error"`
	StatusCode int             `json:"statusCode"`
	Status     string          `json:"status"`
	Code       string          `json:"code"`
}

var noErrors = []string{"", "null", "false", `""`, "{}", "[]"}

// failed reports whether the response contradicts its status.
func (v failureFields) failed() bool {
	status, _ := jsonfill.Int(v.Status)
	code, isNumber := jsonfill.Int(string(v.Error))
	return v.Success != nil && !*v.Success || v.StatusCode >= 300 || v.Status == "false" || 300 <= status && status < 600 || codeErrors[v.Code] != nil ||
		!slices.Contains(noErrors, string(v.Error)) && (!isNumber || code != 0)
}

// decoder reads the records of responses. Its table has three things: the alternative keys of a
// field, the fields that keep a value that is not a string as JSON, and the keys that must have a
// list.
var decoder = jsonfill.NewDecoder(map[string]string{
	"documentName":        "also=name",
	"signingType":         "also=signType",
	"isSigningOrder":      "also=isSigningOrderData",
	"templateRespondents": "also=respondentsOfDoc",

	"id": "any", "question": "any", "answer": "any", // keys of a FormAnswer

	"documents": "list", "respondents": "list", "responses": "list",
})

// fill fills out, a pointer to a struct, from the response. failed reports whether the response
// contradicts its status. The error is that of jsonfill. The records take at most 7 times the size
// of the response, or 64 KiB.
func fill(o call.Outcome, out any) (failed bool, err error) {
	var v struct {
		failureFields
		Data failureFields `json:"data"`
	}
	err = decoder.Object(text(o), max(7*len(o.Body), 64<<10), out, &v)
	return v.failed() || v.Data.failed(), err
}

// text returns the body without the byte order mark that some servers write, and white space around it.
func text(o call.Outcome) []byte { return bytes.TrimSpace(bytes.TrimPrefix(o.Body, byteOrderMark)) }

var byteOrderMark = []byte("\ufeff")

var codeText = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// reason finds the code and message of an error's body. The message is the first of message, error,
// data.message and data.error; clients have observed all of them. The code is assumed to be in the
// field code. A body that is not JSON is the message.
func reason(o call.Outcome) (code, message string) {
	var body struct {
		Code    string `json:"code" fill:"any"`
		Message string `json:"message" fill:"any"`
		Error   string `json:"error" fill:"any"`
		Data    struct {
			Message string `json:"message" fill:"any"`
			Error   string `json:"error" fill:"any"`
		} `json:"data"`
	}
	if _, err := fill(o, &body); err != nil && !json.Valid(text(o)) {
		if message = string(text(o)); isPage(o) {
			message = pageText(o)
		}
	}
	if codeText.MatchString(body.Code) {
		code = body.Code
	}
	message = cmp.Or(body.Message, body.Error, body.Data.Message, body.Data.Error, message)
	message = message[:min(len(message), call.MaxError)] // a 2xx may have a body of 32 MiB
	return code, cmp.Or(strings.TrimSpace(message), http.StatusText(o.Status))
}

// newError returns an error that describes the last attempt. The outcome of a send or reminder is
// unknown unless nothing was written, or the status is a 4xx other than 408 and 499. kinds replace
// the kinds of the status, unless the outcome is unknown.
func (r *response) newError(code, message string, kinds ...error) *Error {
	e := &Error{
		Call: r.name, Operation: r.op, StatusCode: r.outcome.Status, Code: call.CleanCode(code, r.c.calls.Key),
		Message: call.CleanText(message, r.c.calls.Key), RequestID: r.id, Attempts: r.outcome.Attempts, Body: r.outcome.Body,
		cause: errors.Join(r.stopped, r.outcome.Err),
	}
	if len(e.Body) > call.MaxError {
		e.Body = bytes.Clone(e.Body[:call.MaxError]) // so that the rest can be freed
	}
	e.RetryAfter, _ = call.RetryAfter(r.outcome.Header)
	if local := (*Error)(nil); errors.As(r.stopped, &local) && local.assumed == 0 {
		e.RetryAfter = max(e.RetryAfter, local.RetryAfter)
	}
	if e.kinds = kinds; kinds == nil {
		e.kinds = answerKinds(r.op, r.outcome.Status, code)
	}
	e.page = isPage(r.outcome)
	if r.class == call.NotRepeatable && r.outcome.MayBeExecuted() {
		e.kinds = []error{ErrOutcomeUnknown}
	}
	return e.assumeWait()
}

// assumeWait sets RetryAfter if the caller should call again and neither the service nor the budget
// reported a time.
func (e *Error) assumeWait() *Error {
	limited := errors.Is(e, ErrRateLimited)
	if e.RetryAfter <= 0 && (limited || errors.Is(e, ErrUnavailable)) {
		e.RetryAfter = time.Second
		if limited && e.Operation == OpRemind {
			e.RetryAfter = reminderlimit.Window
		}
		e.assumed = e.RetryAfter
	}
	return e
}

// failure returns the error of a 2xx that reports a failure.
func (r *response) failure() error {
	code, message := reason(r.outcome)
	e := r.newError(code, message)
	if e.Message == "" || e.Message == "OK" {
		e.Message = "the response reports a failure"
	}
	return e
}

// unreadable returns the error of a 2xx that cannot be read because of err, or that lacks required
// data. Otherwise it returns nil.
func (r *response) unreadable(err error, missing func() string) error {
	why, kind := "", ErrBadResponse
	switch {
	case err == nil:
		if missing != nil {
			why = missing()
		}
	case isCutOff(r.outcome):
		why, kind = "its JSON is cut off", ErrUnavailable
	case errors.Is(err, jsonfill.ErrTooMuch), len(text(r.outcome)) == 0:
		why, kind = err.Error(), ErrUnavailable
	case isPage(r.outcome):
		return r.newError("", pageText(r.outcome)+"; check the base URL", kind)
	case errors.Is(err, jsonfill.ErrNotObject):
		why = "it is not a JSON object: check the base URL"
	default:
		why = err.Error()
	}
	if why == "" {
		return nil
	}
	return r.newError("", "unreadable response ("+why+")", kind)
}

// errorOf returns an error of a kind about a readable response.
func (r *response) errorOf(kind error, message string) *Error {
	e := r.newError("", message)
	e.kinds = []error{kind}
	if e.assumed > 0 { // this default was for the kinds of the status
		e.RetryAfter, e.assumed = 0, 0
	}
	return e.assumeWait()
}

// only returns the item of a page with the id. If the service ignores the filter, the page has
// other items, and it remains unknown whether the item exists.
func only[T any](p *Page[T], err error, id string, idOf func(*T) string) (*T, error) {
	if err != nil {
		return nil, err
	}
	for i := range p.Items {
		if strings.EqualFold(idOf(&p.Items[i]), id) {
			return &p.Items[i], nil
		}
	}
	if p.old != "" {
		return nil, p.errorOf(ErrUnavailable, p.old+"the record is not in it")
	}
	if len(p.Items) > 0 {
		return nil, p.errorOf(ErrBadResponse, "the service ignored the filter: the response has other ids than the requested one")
	}
	if value(p.Total) > 0 || p.more == paging.Promised {
		return nil, p.errorOf(ErrUnavailable, "the response contradicts itself: its list is empty, but it reports records")
	}
	return nil, p.errorOf(ErrNotFound, "the service has no record with this id")
}

// notSent returns the error of a call that made no attempt.
func (r *response) notSent() error {
	if e := (*Error)(nil); errors.As(r.stopped, &e) {
		return e
	}
	e := &Error{Call: r.name, Operation: r.op, Message: "nothing was sent: " + r.stopped.Error(), cause: r.stopped}
	if !errors.Is(r.stopped, context.Canceled) && !errors.Is(r.stopped, context.DeadlineExceeded) {
		e.kinds = []error{ErrUnavailable}
	}
	return e.assumeWait()
}

// stopError returns the *Error for err, which says why the reminder budget gave no slot. It returns
// a context's error unchanged.
func (c *caller) stopError(err error, method string) error {
	e := &Error{Call: method, Operation: OpRemind}
	waitErr, storeErr := (*reminderlimit.WaitError)(nil), (*reminderlimit.StoreError)(nil)
	switch {
	case errors.As(err, &storeErr):
		// Only the text is used, because the types of a store's errors say nothing about the
		// reminder. fmt can print an error whose methods panic.
		e.kinds, e.cause = []error{ErrUnavailable}, errStoreAway
		e.Message = call.CleanText(fmt.Sprintf("nothing was sent, because the limit store did not respond (%v)", storeErr.Err), c.calls.Key)
	case !errors.As(err, &waitErr):
		return err
	case waitErr.PastDeadline:
		e.kinds, e.cause, e.RetryAfter = []error{ErrRateLimited}, errPastDeadline, waitErr.Wait
		e.Message = "the reminder budget is used up until after the context's deadline: allow more time"
	default:
		e.kinds, e.RetryAfter = []error{ErrRateLimited}, waitErr.Wait
		e.Message = fmt.Sprintf("the reminder budget is used up for longer than Options.ReminderMaxWait (%s): "+
			"wait, use RemindAll, or allow more", c.options.ReminderMaxWait)
	}
	return e.assumeWait()
}
