package signforms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// judge turns the last attempt into the result of the call: the body of a 2xx, or an error.
func (r *run) judge() ([]byte, error) {
	switch {
	case r.attempts == 0:
		return nil, r.notSent()
	case r.last.status == 0 || r.last.err != nil:
		return nil, r.newError(r.last.mayBeDone(), "", r.noAnswerText())
	case r.last.status/100 == 3:
		return nil, r.newError(r.last.mayBeDone(), "", redirectText(r.last.header))
	case r.last.status/100 != 2:
		code, message := answerText(r.last)
		return nil, r.newError(r.last.mayBeDone(), code, message)
	}
	return r.last.body, nil
}

// mayBeDone reports whether the service may have carried out a request although no readable success came back. A gateway
// answers its own time-out with a 5xx while the work goes on. So the only answer that rules it out is a 4xx other than 408 and
// 499, which a proxy gives when it cancelled a request that the service has.
// Without an answer, only the proof that nothing was written does.
func (o outcome) mayBeDone() bool {
	refused := o.status/100 == 4 && o.status != http.StatusRequestTimeout && o.status != statusClientClosed
	return !refused && !o.unwritten
}

// notSent is the error of a call that made no attempt.
func (r *run) notSent() error {
	if e := (*Error)(nil); errors.As(r.refused, &e) {
		e.Method = r.call.name
		return e
	}
	e := &Error{Method: r.call.name, Operation: r.call.op, Local: true, Message: "nothing was sent: " + r.refused.Error(), kinds: noKinds, cause: r.refused}
	if !isContextError(r.refused) {
		e.kinds = []error{ErrUnavailable}
	}
	return e
}

// refusal is the error of a call from which no request can be built.
func (c call) refusal(problem string) *Error {
	return &Error{Method: c.name, Operation: c.op, Local: true, kinds: []error{ErrInvalid}, Message: problem}
}

// newError describes the last attempt. open is true when its request may have been carried out, which only matters for a
// send or reminder.
func (r *run) newError(open bool, code, message string) *Error {
	e := &Error{
		Method: r.call.name, Operation: r.call.op, StatusCode: r.last.status, Code: cleanCode(code, r.c.key.reveal()),
		Message: cleanText(message, r.c.key.reveal()), RequestID: r.id, Attempts: r.attempts, Body: r.last.body,
		cause: errors.Join(r.refused, r.last.err),
	}
	if len(e.Body) > maxError {
		e.Body = bytes.Clone(e.Body[:maxError]) // the rest can be collected
	}
	e.RetryAfter, _ = retryAfter(r.last.header)
	if r.call.op == OpSendReminder {
		e.RetryAfter = min(e.RetryAfter, maxClosed)
	}
	if local := (*Error)(nil); errors.As(r.refused, &local) {
		e.RetryAfter = max(e.RetryAfter, local.RetryAfter)
	}
	switch {
	case open && r.class == notRepeatable:
		e.kinds = []error{ErrOutcomeUnknown}
	case r.last.status == 0 || r.last.err != nil:
		e.kinds = []error{ErrUnavailable}
	default:
		e.kinds = answerKinds(r.call.op, r.last.status, code)
	}
	return e
}

// unreadable is the error of a 2xx that cannot be read or lacks what it must have.
func (r *run) unreadable(why string) error { return r.newError(true, "", "unreadable answer: "+why) }

// lacking is the error of a list that was read and lacks the record asked for, or cannot be read to its end.
func (r *run) lacking(kind error, message string) *Error {
	e := r.newError(false, "", message)
	e.kinds = []error{kind}
	return e
}

func (r *run) noAnswerText() string {
	switch {
	case r.last.timedOut:
		return fmt.Sprintf("no complete answer within Options.AttemptTimeout, %s", r.c.options.AttemptTimeout)
	case errors.Is(r.last.err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(r.last.err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	case errors.Is(r.last.err, io.ErrUnexpectedEOF):
		return "the answer broke off: " + r.last.err.Error()
	case errors.Is(r.last.err, io.EOF):
		return "the connection was closed before an answer came: " + r.last.err.Error()
	}
	return r.last.err.Error()
}

// attemptErr is the last attempt's error for OnAttempt.
func (r *run) attemptErr() error {
	if r.last.err == nil {
		return nil
	}
	return &Error{Method: r.call.name, Operation: r.call.op, StatusCode: r.last.status, RequestID: r.id, Attempts: r.attempts,
		kinds: noKinds, Message: cleanText(r.noAnswerText(), r.c.key.reveal()), cause: errors.Join(r.last.err)}
}

func redirectText(h http.Header) string {
	host := "an unnamed place"
	if u, err := url.Parse(h.Get("Location")); err == nil && u.Host != "" {
		host = u.Host
		if u.Scheme != "" {
			host += " (" + u.Scheme + ")" // often the only difference
		}
	} else if err == nil && u.Path != "" {
		host = "another path of the same host"
	}
	return fmt.Sprintf("redirected to %s, which is never followed: correct the base URL or the endpoint", host)
}

var codeText = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// answerText finds the code and message of an error's body. The message is the first of message, error, data.message and
// data.error, all of which clients have seen; that the code is in code is an assumption. A body that is not JSON is the message.
func answerText(o outcome) (code, message string) {
	var body struct {
		Code, Message, Error text
		Data                 struct{ Message, Error text }
	}
	text := o.text()
	if err := json.Unmarshal(text, &body); err != nil && !json.Valid(text) {
		message = string(text)
	}
	if codeText.MatchString(string(body.Code)) {
		code = string(body.Code)
	}
	message = cmp.Or(string(body.Message), string(body.Error), string(body.Data.Message), string(body.Data.Error), message)
	message = message[:min(len(message), maxError)] // a 2xx may have a body of 32 MiB
	return code, cmp.Or(strings.TrimSpace(message), http.StatusText(o.status))
}

// text is a JSON string. Any other value is kept as its JSON, so that one odd field does not make an answer unreadable.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case json.Unmarshal(b, &s) == nil:
		*t = text(s)
	default:
		*t = text(b)
	}
	return nil
}
