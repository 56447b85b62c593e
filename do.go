package signforms

// This file leads from a method to the wire. The meaning of a response is in response.go. The rules
// for repeating an attempt are in internal/call/retry.go.

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

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/internal/call"
)

// A Request is the input of [Client.Do].
type Request struct {
	// Method is GET, POST, PUT, PATCH or DELETE. Default: GET.
	Method string
	// Path is appended to the base URL. It begins with a slash and is escaped as in a URL; url.PathEscape escapes an id.
	Path string
	// Query follows the path. nil means no query.
	Query url.Values
	// Body is encoded with encoding/json. nil means no body. A GET has no body.
	Body any
}

// Do sends a request for which this package has no method, because the description of the service
// is incomplete. Do uses the client's key, workspace, limits, retries and hooks. It returns errors
// as other methods do, with the Operation "request". A GET is repeated like a list. Any other
// request is repeated like a send, and an unclear end is ErrOutcomeUnknown.
//
// The response is decoded into out with encoding/json, and returned unchanged. If out is nil,
// nothing is decoded. An empty response does not change out.
//
// ErrInvalid with Error.Attempts 0 means that nothing was sent, for one of these reasons:
//
//   - The request is malformed.
//   - Its path leaves the base URL.
//   - Its path is that of reminders, which need a slot of the budget: use
//     [DocumentsService.Remind]. This check guards against errors and not against disguises: a path
//     that the service reads as the same one, such as a path with other escapes, is sent.
func (c *Client) Do(ctx context.Context, r Request, out any) (RawResponse, error) {
	var answer []byte
	_, err := c.caller.perform(ctx, c.caller.requestOf(r, out), func(r *response) (err error) {
		answer, err = r.decoded(out)
		return err
	})
	return answer, err
}

// decoded decodes the response into out and returns it. It decodes nothing if out is nil or the
// response is empty.
func (r *response) decoded(out any) ([]byte, error) {
	if failed, _ := fill(r.outcome, &struct{}{}); failed {
		return nil, r.failure()
	}
	answer := text(r.outcome)
	if out == nil || len(answer) == 0 {
		return r.outcome.Body, nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return nil, r.unreadable(err, nil)
	}
	return r.outcome.Body, nil
}

// requestOf returns the request of [Client.Do].
func (c *caller) requestOf(r Request, out any) request {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	body, problems := r.check(out)
	if c.operations[OpRemind].matches(r.Path) {
		problems.add("Path", "is that of reminders, which need a slot of the budget: use Documents.Remind")
	}
	wire := call.Request{Class: call.NotRepeatable, Method: r.Method, URL: c.base + r.Path, ID: uuid.NewString(), Body: body}
	if r.Method == http.MethodGet {
		wire.Class, wire.RepeatSuccess = call.Safe, isCutOff
	}
	if len(r.Query) > 0 {
		wire.URL += "?" + r.Query.Encode()
	}
	return request{method: doRequest, checks: problems, wire: wire}
}

// check returns the encoded body, and the problems of the request.
func (r Request) check(out any) (body []byte, problems checks) {
	if !slices.Contains(httpMethods, r.Method) {
		problems.add("Method", "must be one of "+strings.Join(httpMethods, ", "))
	}
	if problem := pathProblem(r.Path); problem != "" {
		problems.add("Path", problem)
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
	}
	return body, problems
}

// matches reports whether path is the operation's, as it is written.
func (o operation) matches(path string) bool {
	const anything = "\x00"
	pattern := regexp.QuoteMeta(placeholder.ReplaceAllString(o.Path, anything))
	return regexp.MustCompile("^" + strings.ReplaceAll(pattern, anything, "[^/]+") + "$").MatchString(path)
}

// request is a call of an operation. Its inputs are flat, or are a nested body (only for OpSend,
// whose flat inputs fill the path).
type request struct {
	method
	checks
	in            inputs
	body          any
	maxWait       time.Duration           // for slots of the reminder budget, as Options.ReminderMaxWait
	repeatSuccess func(call.Outcome) bool // as call.Request.RepeatSuccess
	wire          call.Request            // of Client.Do, which has no inputs
}

// response is what came back from a call.
type response struct {
	request
	c       *caller
	class   call.Class
	id      string
	outcome call.Outcome
	stopped error // why no further attempt was made: no slot, or the context ended
}

// errPanicked is the error for Options.OnCall at the end of a call that did not return.
var errPanicked = errors.New("the call did not return: a hook or the Transport panicked or ended its goroutine")

// perform makes one call. read reads a 2xx response and decides what it means.
func (c *caller) perform(ctx context.Context, req request, read func(*response) error) (*response, error) {
	if err := req.invalid(); err != nil {
		return nil, err
	}
	result := errPanicked
	if hook := c.options.OnCall; hook != nil {
		var end func(error)
		ctx, end = hook(ctx, req.op)
		defer func() { end(result) }()
	}
	r, err := c.send(ctx, req)
	if err == nil {
		err = read(r)
	}
	result = err
	return r, err
}

// wireOf returns the request of an operation on the wire.
func (c *caller) wireOf(req request) (call.Request, error) {
	if req.op == opRequest {
		return req.wire, nil
	}
	op := c.operations[req.op]
	path, problem := op.fillPath(req.in)
	if problem != "" {
		return call.Request{}, req.refusal("the path set for this operation " + problem)
	}
	wire := call.Request{Class: op.class, Method: op.Method, URL: c.base + path, ID: uuid.NewString(), RepeatSuccess: req.repeatSuccess}
	if op.class == call.Safe {
		wire.RepeatSuccess = isCutOff
	}
	if req.op == OpRemind {
		wire.Budget, wire.MaxWait = c.budget, req.maxWait
	}
	if op.Inputs != InputsBody {
		wire.URL = wire.URL + "?" + req.in.query() // one allocation; every operation has inputs
	}
	if op.Inputs != InputsQuery { // always so if the body is nested
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

// send makes the call. The outcome of the response that it returns is a success.
func (c *caller) send(ctx context.Context, req request) (*response, error) {
	wire, err := c.wireOf(req)
	if err != nil {
		return nil, err
	}
	r := &response{request: req, c: c, class: wire.Class, id: wire.ID}
	if hook := c.options.OnAttempt; hook != nil {
		wire.Attempted = func(ctx context.Context, o call.Outcome) {
			hook(ctx, Attempt{Operation: r.op, RequestID: r.id, Number: o.Attempts, StatusCode: o.Status, Err: r.attemptErr(o),
				SlotWait: o.SlotWait, Duration: o.Duration})
		}
	}
	if r.outcome, err = c.calls.Do(ctx, wire); err != nil {
		return nil, req.refusal(err.Error()) // only a nil context fails here: New has checked the parts of the URL
	}
	r.outcome.Body = bytes.TrimPrefix(r.outcome.Body, byteOrderMark)
	if r.outcome.Stopped != nil {
		r.stopped = c.stopError(r.outcome.Stopped, req.name)
	}
	return r, r.statusError()
}

// invalid returns the error of a call with invalid inputs, or nil.
func (q request) invalid() error { return q.checks.err(q.method) }

// pageNumber returns the number of the page that is requested.
func (q request) pageNumber() int {
	page, _ := q.in["page"].(int)
	return max(page, 1)
}

// refusal returns the error of a call from which no request can be built.
func (q request) refusal(problem string) *Error {
	return &Error{Call: q.name, Operation: q.op, kinds: []error{ErrInvalid}, Message: problem}
}

// attemptErr returns the error of an attempt for OnAttempt.
func (r *response) attemptErr(o call.Outcome) error {
	if o.Err == nil {
		return nil
	}
	return &Error{Call: r.name, Operation: r.op, StatusCode: o.Status, RequestID: r.id, Attempts: o.Attempts, kinds: []error{},
		Message: call.CleanText(o.NoAnswerText(r.c.options.AttemptTimeout), r.c.calls.Key), cause: o.Err}
}
