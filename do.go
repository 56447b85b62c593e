package signforms

// What an answer means is decided here; when an attempt is repeated, in internal/call/retry.go.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/internal/call"
	"github.com/signforms/signforms-go/internal/jsonfill"
)

// A Request is the input of [Client.Do].
type Request struct {
	// Method is GET, POST, PUT, PATCH or DELETE. Default: GET.
	Method string
	// Path is appended to the base URL. It begins with a slash and is escaped as in a URL; url.PathEscape escapes an id.
	Path string
	// Query follows the path. Nil means none.
	Query url.Values
	// Body is encoded with encoding/json. Nil means none. A GET has no body.
	Body any
}

// Do sends a request that this package has no method for: the description of the service is incomplete. It uses the client's
// key, workspace, bounds and retries, calls [Options.OnAttempt], and returns errors as other methods do, with the Operation
// "request". A GET is repeated like a list. Anything else is repeated like a send, so an unclear end is ErrOutcomeUnknown.
//
// The answer is decoded into out with encoding/json and returned as it came. A nil out decodes nothing, and an empty answer
// leaves out as it is. ErrInvalid with Error.Local: nothing was sent, because the request is malformed, its path leaves the
// base URL, or its path is that of reminders, which need a slot of the budget: use [DocumentsService.Remind]. That guards against
// a mistake, and not against a disguise: a path that the service reads as the same, such as one with other escapes, is sent.
func (c *Client) Do(ctx context.Context, r Request, out any) (RawAnswer, error) {
	wire, err := c.caller.build(r, out)
	if err != nil {
		return nil, err
	}
	var answer []byte
	err = c.caller.observed(ctx, opRequest, func(ctx context.Context) error {
		run, err := c.caller.send(ctx, request{method: doRequest}, wire)
		if err == nil {
			answer, err = run.decoded(out)
		}
		return err
	})
	return answer, err
}

// decoded decodes the answer into out, unless out is nil or there is nothing to decode, and returns it.
func (r *run) decoded(out any) ([]byte, error) {
	if failed, _ := r.last.Fill(); failed {
		return nil, r.failure()
	}
	text := r.last.Text()
	if out == nil || len(text) == 0 {
		return r.last.Body, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, r.unreadable(err.Error())
	}
	return r.last.Body, nil
}

func (c *caller) build(r Request, out any) (call.Request, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	body, problems := r.check(out)
	if c.operations[OpSendReminder].covers(r.Path) {
		problems.add("Path", "is that of reminders, which need a slot of the budget: use Documents.Remind")
	}
	if err := problems.err(doRequest); err != nil {
		return call.Request{}, err
	}
	wire := call.Request{Class: call.NotRepeatable, Method: r.Method, URL: c.base + r.Path, ID: uuid.NewString(), Body: body}
	if r.Method == http.MethodGet {
		wire.Class = call.Repeatable
	}
	if len(r.Query) > 0 {
		wire.URL += "?" + r.Query.Encode()
	}
	return wire, nil
}

// check returns the encoded body and what is wrong with the request.
func (r Request) check(out any) (body []byte, problems checks) {
	if !slices.Contains(methods, r.Method) {
		problems.add("Method", "must be one of "+strings.Join(methods, ", "))
	}
	if problem := pathProblem(r.Path); problem != "" {
		problems.add("Path", problem)
	}
	for name, values := range r.Query {
		if !utf8.ValidString(name + strings.Join(values, "")) {
			problems.add("Query", "must be valid UTF-8")
			break
		}
	}
	if v := reflect.ValueOf(out); out != nil && (v.Kind() != reflect.Pointer || v.IsNil()) {
		problems.add("out", "must be a pointer, or nil")
	}
	if r.Body == nil {
		return nil, problems
	}
	body, err := json.Marshal(r.Body)
	switch {
	case err != nil:
		problems.add("Body", fmt.Sprintf("cannot be encoded as JSON (%T)", r.Body))
	case r.Method == http.MethodGet:
		problems.add("Body", "must be nil for a GET")
	case !utf8.Valid(body):
		problems.add("Body", "must be valid UTF-8")
	}
	return body, problems
}

// covers reports whether path is the operation's, as it is written.
func (o operation) covers(path string) bool {
	const anything = "\x00"
	pattern := regexp.QuoteMeta(placeholder.ReplaceAllString(o.Path, anything))
	return regexp.MustCompile("^" + strings.ReplaceAll(pattern, anything, "[^/]+") + "$").MatchString(path)
}

// request is one call of an operation: flat inputs, or a nested body (only for OpSend, whose flat inputs are for the path).
type request struct {
	method
	in      call.Inputs
	body    any
	maxWait time.Duration           // for slots of the reminder budget, as Options.ReminderMaxWait
	again   func(call.Outcome) bool // as call.Request.Again
}

// run is a call that was made.
type run struct {
	request
	c       *caller
	class   call.Class
	id      string
	last    call.Outcome
	stopped error // why no further attempt was made: no slot, or the context ended
}

// do makes one call and decodes the answer into out, a pointer to a struct. It returns the answer's bytes.
func (c *caller) do(ctx context.Context, req request, out any) ([]byte, error) {
	run, err := c.perform(ctx, req, out)
	if err != nil {
		return nil, err
	}
	return run.last.Body, nil
}

// perform does the same and returns the run, whose last outcome is a success.
func (c *caller) perform(ctx context.Context, req request, out any) (r *run, err error) {
	err = c.observed(ctx, req.op, func(ctx context.Context) error {
		wire, err := c.written(req)
		if err != nil {
			return err
		}
		if r, err = c.send(ctx, req, wire); err != nil {
			return err
		}
		if err = r.read(out); err != nil {
			return err
		}
		return r.accepted(out)
	})
	return r, err
}

// errPanicked is what Options.OnCall hears at the end of a call that did not return.
var errPanicked = errors.New("the call did not return: a hook or the Transport panicked or ended its goroutine")

// observed makes the call and tells Options.OnCall of its start and its end.
func (c *caller) observed(ctx context.Context, op Operation, do func(context.Context) error) error {
	if c.options.OnCall == nil {
		return do(ctx)
	}
	ctx, end := c.options.OnCall(ctx, op)
	err := errPanicked
	defer func() { end(err) }()
	err = do(ctx)
	return err
}

// written returns what goes over the wire.
func (c *caller) written(req request) (call.Request, error) {
	op := c.operations[req.op]
	path, problem := op.fillPath(req.in)
	if problem != "" {
		return call.Request{}, req.refusal("the path set for this operation " + problem)
	}
	wire := call.Request{Class: op.class, Method: op.Method, URL: c.base + path, ID: uuid.NewString(), Again: req.again}
	if req.op == OpSendReminder {
		wire.Budget, wire.MaxWait = c.budget, req.maxWait
	}
	if op.Inputs&InputsQuery != 0 {
		wire.URL += "?" + req.in.Query() // no operation is without inputs
	}
	if op.Inputs&InputsBody != 0 { // the only place if the body is nested
		var body any = req.in
		if req.body != nil {
			body = req.body
		}
		var err error
		if wire.Body, err = json.Marshal(body); err != nil {
			return call.Request{}, req.refusal("the inputs cannot be sent: " + err.Error())
		}
	}
	return wire, nil
}

// send makes the call. The outcome of the run that it returns is a success.
func (c *caller) send(ctx context.Context, req request, wire call.Request) (*run, error) {
	r := &run{request: req, c: c, class: wire.Class, id: wire.ID}
	if hook := c.options.OnAttempt; hook != nil {
		wire.Attempted = func(ctx context.Context, o call.Outcome) {
			hook(ctx, Attempt{Operation: r.op, RequestID: r.id, Number: o.Attempts, StatusCode: o.Status, Err: r.attemptErr(o),
				SlotWait: o.SlotWait, Duration: o.Duration})
		}
	}
	var err error
	if r.last, err = c.calls.Do(ctx, wire); err != nil {
		return nil, req.refusal(err.Error()) // only a nil context fails here: New has checked the parts of the URL
	}
	if r.last.Stopped != nil {
		r.stopped = c.slotError(r.last.Stopped, req.name)
	}
	return r, r.judge()
}

// judge returns the error of a call whose last attempt was no success.
func (r *run) judge() error {
	switch {
	case r.last.Attempts == 0:
		return r.notSent()
	case r.last.Status == 0 || r.last.Err != nil:
		return r.newError(r.last.MayBeDone(), "", r.last.NoAnswer(r.c.options.AttemptTimeout))
	case r.last.Status/100 == 3:
		return r.newError(r.last.MayBeDone(), "", "redirected, which is never followed: correct the base URL or the endpoint")
	case r.last.Status/100 != 2:
		code, message := r.last.Reason()
		return r.newError(r.last.MayBeDone(), code, message)
	}
	return nil
}

// A completer says what its answer lacks; empty when it has all it needs.
type completer interface{ missing(*run) string }

// ruling is what an answer with a status of success says of a void or reminder. Only fields refuse.
type ruling int

const (
	wasDone    ruling = iota
	inDoubt           // a word may mean that nothing was done
	wasRefused        // a field says so
)

// An action is an answer that may be no success although its status is one.
type action interface {
	ruling() ruling
	// decided reports whether ruling tells the outcome although the answer also says that it failed.
	decided() bool
	// reason is the text of an error.
	reason() string
}

// messageOnly is a result with nothing but an optional message, so an empty body or a JSON string is a success.
type messageOnly interface{ setMessage(string) }

// read fills out from the answer of the last attempt, a 2xx.
func (r *run) read(out any) error {
	if m, ok := out.(messageOnly); ok {
		if message, alone := r.last.LoneMessage(); alone {
			m.setMessage(message)
			return nil
		}
	}
	failed, err := r.last.Fill(out)
	missing := ""
	if c, ok := out.(completer); ok && err == nil {
		if missing = c.missing(r); missing == "" && r.op == OpSend {
			return nil // the document was created, whatever else the answer says
		}
	}
	switch {
	case failed:
		if a, ok := out.(action); ok && a.decided() {
			return nil // perform asks for the ruling
		}
		return r.failure()
	case errors.Is(err, jsonfill.ErrNotObject):
		return r.unreadable("it is not a JSON object: check the base URL")
	case err != nil:
		return r.unreadable(err.Error())
	case missing != "":
		return r.unreadable(missing)
	}
	return nil
}

// accepted is the error of an answer that was read and refuses, or leaves a doubt.
func (r *run) accepted(out any) error {
	a, ok := out.(action)
	if !ok {
		return nil
	}
	switch a.ruling() {
	case wasRefused:
		return r.lacking(ErrRefused, a.reason())
	case inDoubt:
		return r.newError(true, "", a.reason())
	}
	return nil
}

// failure is the error of a 2xx that reports a failure.
func (r *run) failure() error {
	code, message := r.last.Reason()
	e := r.newError(true, code, message)
	if e.Message == "" || e.Message == "OK" {
		e.Message = "the answer says that it failed"
	}
	return e
}

// notSent is the error of a call that made no attempt.
func (r *run) notSent() error {
	if e := (*Error)(nil); errors.As(r.stopped, &e) {
		e.Method = r.name
		return e
	}
	e := &Error{Method: r.name, Operation: r.op, Local: true, Message: "nothing was sent: " + r.stopped.Error(), kinds: noKinds, cause: r.stopped}
	if !isContextError(r.stopped) {
		e.kinds = []error{ErrUnavailable}
	}
	return e
}

// refusal is the error of a call from which no request can be built.
func (q request) refusal(problem string) *Error {
	return &Error{Method: q.name, Operation: q.op, Local: true, kinds: []error{ErrInvalid}, Message: problem}
}

// newError describes the last attempt. open is true when its request may have been carried out, which only matters for a
// send or reminder.
func (r *run) newError(open bool, code, message string) *Error {
	e := &Error{
		Method: r.name, Operation: r.op, StatusCode: r.last.Status, Code: call.CleanCode(code, r.c.calls.Key),
		Message: call.CleanText(message, r.c.calls.Key), RequestID: r.id, Attempts: r.last.Attempts, Body: r.last.Body,
		cause: errors.Join(r.stopped, r.last.Err),
	}
	if len(e.Body) > call.MaxError {
		e.Body = bytes.Clone(e.Body[:call.MaxError]) // the rest can be collected
	}
	e.RetryAfter, _ = call.RetryAfter(r.last.Header)
	if r.op == OpSendReminder {
		e.RetryAfter = min(e.RetryAfter, call.MaxClosed)
	}
	if local := (*Error)(nil); errors.As(r.stopped, &local) {
		e.RetryAfter = max(e.RetryAfter, local.RetryAfter)
	}
	switch {
	case open && r.class == call.NotRepeatable:
		e.kinds = []error{ErrOutcomeUnknown}
	case r.last.Status == 0 || r.last.Err != nil:
		e.kinds = []error{ErrUnavailable}
	default:
		e.kinds = answerKinds(r.op, r.last.Status, code)
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

// attemptErr is an attempt's error for OnAttempt.
func (r *run) attemptErr(o call.Outcome) error {
	if o.Err == nil {
		return nil
	}
	return &Error{Method: r.name, Operation: r.op, StatusCode: o.Status, RequestID: r.id, Attempts: o.Attempts, kinds: noKinds,
		Message: call.CleanText(o.NoAnswer(r.c.options.AttemptTimeout), r.c.calls.Key), cause: errors.Join(o.Err)}
}
