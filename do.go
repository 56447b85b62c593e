package signforms

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
)

// OpRequest is the operation of [Client.Do] in errors and attempts. It has no entry in [Options.Endpoints].
const OpRequest Operation = "request"

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
// key, workspace, bounds and retries, calls [Options.OnAttempt], and returns errors as other methods do, with the operation
// [OpRequest]. A GET is repeated like a list. Anything else is repeated like a send, so an unclear end is ErrOutcomeUnknown.
//
// The answer is decoded into out with encoding/json and returned as it came. A nil out decodes nothing, and an empty answer
// leaves out as it is. ErrInvalid with Error.Local: nothing was sent, because the request is malformed, its path leaves the
// base URL, or its path is that of reminders, which need a slot of the budget: use [DocumentsService.Remind]. That guards against
// a mistake, and not against a disguise: a path that the service reads as the same, such as one with other escapes, is sent.
func (c *Client) Do(ctx context.Context, r Request, out any) (RawAnswer, error) {
	run, err := c.caller.requestRun(r, out)
	if err != nil {
		return nil, err
	}
	var answer []byte
	err = c.caller.observed(ctx, OpRequest, func(ctx context.Context) error {
		answer, err = run.answerOf(ctx, out)
		return err
	})
	return answer, err
}

// answerOf sends the request and decodes the answer into out, unless out is nil or there is nothing to decode.
func (r *run) answerOf(ctx context.Context, out any) ([]byte, error) {
	answer, err := r.send(ctx)
	if err != nil {
		return nil, err
	}
	if r.verdict().failed() {
		return nil, r.failure()
	}
	text := r.last.text()
	if out == nil || len(text) == 0 {
		return answer, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, r.unreadable(err.Error())
	}
	return answer, nil
}

func (c *caller) requestRun(r Request, out any) (*run, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	body, problems := r.check(out)
	if c.operations[OpSendReminder].covers(r.Path) {
		problems.add("Path", "is that of reminders, which need a slot of the budget: use Documents.Remind")
	}
	if err := problems.err(doRequest); err != nil {
		return nil, err
	}
	run := &run{c: c, call: call{method: doRequest}, class: notRepeatable, method: r.Method, url: c.base + r.Path, id: uuid.NewString(), body: body}
	if r.Method == http.MethodGet {
		run.class = repeatable
	}
	if len(r.Query) > 0 {
		run.url += "?" + r.Query.Encode()
	}
	return run, nil
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
