package signforms

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/signforms/signforms-go/internal/reminderlimit"
)

// This file is the path of every request, from top to bottom: build it, send it until the result is final, take a slot for
// each attempt of a reminder, and exchange bytes with the transport. Client.Do builds its own requests and begins at send.

// caller is what all calls of a client have in common.
type caller struct {
	base       string
	key        secret
	options    Options
	operations map[Operation]operation
	transport  http.RoundTripper // nil: http.DefaultTransport
	userAgent  string
	budget     *reminderlimit.Budget
}

// call is one call of an operation: flat inputs, or a nested body (only for OpSend, whose flat inputs are for the path).
type call struct {
	method
	in      inputs
	body    any
	maxWait time.Duration // for slots of the reminder budget, as Options.ReminderMaxWait
}

// do makes one call and decodes the answer into out, a pointer to a struct. It returns the answer's bytes.
func (c *caller) do(ctx context.Context, call call, out any) ([]byte, error) {
	run, err := c.perform(ctx, call, out)
	if err != nil {
		return nil, err
	}
	return run.last.body, nil
}

// perform does the same and returns the run, whose last outcome is a success.
func (c *caller) perform(ctx context.Context, call call, out any) (r *run, err error) {
	err = c.observed(ctx, call.op, func(ctx context.Context) error {
		if r, err = c.newRun(call); err != nil {
			return err
		}
		if _, err = r.send(ctx); err != nil {
			return err
		}
		if err = r.read(out); err != nil {
			return err
		}
		return r.accepted(out)
	})
	return r, err
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

// run is one call on its way through its attempts.
type run struct {
	c      *caller
	call   call
	class  retryClass
	method string
	url    string
	id     string
	body   []byte

	attempts int
	last     outcome
	closed   bool          // the last answer closed the budget
	refused  error         // why no further attempt was made: no slot, or the context ended
	slotWait time.Duration // spent waiting for slots, all attempts together
	nextWait time.Duration // before the next attempt

	loop    retryablehttp.Client // here, as the two below are, to be allocated with the run
	client  http.Client
	request retryablehttp.Request
}

func (c *caller) newRun(call call) (*run, error) {
	op := c.operations[call.op]
	in := call.in
	if op.respelled() {
		in = op.written(in)
	}
	path, problem := op.fillPath(in)
	if problem != "" {
		return nil, call.refusal("the path set for this operation " + problem)
	}
	if len(op.Names) > 0 {
		op.rename(in)
	}
	r := &run{c: c, call: call, class: op.class, method: op.Method, id: uuid.NewString()}
	if op.Inputs&InputsQuery != 0 {
		r.url = c.base + path + "?" + in.query() // no operation is without inputs
	} else {
		r.url = c.base + path
	}
	if op.Inputs&InputsBody != 0 { // the only place if the body is nested
		var err error
		if call.body == nil {
			r.body, err = json.Marshal(in)
		} else {
			r.body, err = op.body(call.body)
		}
		if err != nil {
			return nil, call.refusal("the inputs cannot be sent: " + err.Error())
		}
	}
	return r, nil
}

// send returns the body of a success. The loop is go-retryablehttp's: RoundTrip makes an attempt and keeps its outcome in
// r.last, checkRetry decides whether there is another, and r.nextWait passes before it.
func (r *run) send(ctx context.Context) (_ []byte, err error) {
	if r.request.Request, err = http.NewRequestWithContext(ctx, r.method, r.url, nil); err != nil {
		return nil, r.call.refusal(err.Error()) // only a nil context fails here: New has checked the parts of the URL
	}
	r.client.Transport, r.client.CheckRedirect = r, neverFollow
	r.loop.HTTPClient = &r.client
	r.loop.RetryMax = r.c.options.MaxAttempts - 1
	r.loop.CheckRetry = r.checkRetry
	r.loop.Backoff = func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return r.nextWait }
	r.loop.ErrorHandler = retryablehttp.PassthroughErrorHandler
	if _, err := r.loop.Do(&r.request); err != nil && ctx.Err() != nil {
		r.refused = ctx.Err() // it may have ended between attempts, which r.last does not show
	}
	return r.judge()
}

// neverFollow: net/http would repeat a POST on a 307, out of sight of checkRetry.
func neverFollow(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// RoundTrip makes one attempt: it takes a slot where one is needed, sends, reads everything and settles.
func (r *run) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if r.refused = ctx.Err(); r.refused != nil {
		return nil, r.refused
	}
	start := time.Now()
	var slot reminderlimit.Slot
	if r.call.op == OpSendReminder {
		var err error
		if slot, err = r.c.budget.Take(ctx, r.call.maxWait, r.slotWait); err != nil {
			r.refused = r.c.slotError(err, sendReminder.name)
			return nil, r.refused
		}
		r.slotWait += slot.Waited
		start = slot.At // else a slow store or a stalled process could keep the attempt going longer than its slot
	}
	r.attempts++
	r.last = r.attempt(req, start.Add(r.c.options.AttemptTimeout))
	if r.call.op == OpSendReminder {
		r.settle(ctx, slot)
	}
	if hook := r.c.options.OnAttempt; hook != nil {
		hook(ctx, Attempt{Operation: r.call.op, RequestID: r.id, Number: r.attempts, StatusCode: r.last.status,
			Header: RawHeader(r.last.header), Err: r.attemptErr(), SlotWait: slot.Waited, Duration: time.Since(start)})
	}
	if r.last.err != nil {
		return nil, r.last.err
	}
	return &http.Response{StatusCode: r.last.status, Header: r.last.header, Body: http.NoBody, Request: req}, nil
}

// settle tells the budget what the last outcome means for the slot, and whether the service wants no reminders for a while.
func (r *run) settle(ctx context.Context, slot reminderlimit.Slot) {
	r.closed = r.last.status == http.StatusTooManyRequests && r.c.budget.Block(ctx, closedFor(r.last.header)) == nil
	keep := reminderlimit.Answered
	switch {
	case r.last.unwritten:
		keep = 0
	case r.last.mayBeDone() && !r.last.success(): // no answer, or one that a gateway may have given before the request arrived
		keep = reminderlimit.Unanswered
	}
	r.c.budget.Settle(ctx, slot, keep)
}

// attempt sends the request once and reads the whole answer, all before the deadline.
func (r *run) attempt(req *http.Request, deadline time.Time) outcome {
	ctx, cancel := context.WithDeadline(req.Context(), deadline)
	defer cancel()
	out := outcome{err: ctx.Err(), unwritten: true} // a slow limit store may have used up the attempt's time
	if out.err == nil {
		out = r.sendOnce(req.WithContext(ctx))
	}
	if out.err != nil {
		out.timedOut = ctx.Err() != nil && req.Context().Err() == nil
		if err := req.Context().Err(); err != nil && !errors.Is(out.err, err) {
			out.err = errors.Join(err, out.err)
		}
	}
	return out
}

// sendOnce sends the request in a form that net/http does not repeat on its own. net/http repeats requests after a lost
// connection (HTTP/1.1) or a reset stream or GOAWAY (HTTP/2; without end where the code is PROTOCOL_ERROR), and checkRetry would
// not know. But it repeats none whose body it cannot rewind. So every request gets such a body, if only an empty one. Over HTTP/2
// that costs an empty DATA frame.
func (r *run) sendOnce(req *http.Request) outcome {
	req.Header = r.c.header(r)
	if r.body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(r.body)), int64(len(r.body))
	} else {
		req.Body = emptyBody{}
		req.TransferEncoding = identity // or HTTP/1.1 would announce a body in chunks
		switch req.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch:
			req.Header["content-length"] = []string{"0"} // net/http writes its own only for a length that it knows; HTTP/2 drops this one
		}
	}
	if r.class != notRepeatable {
		return r.exchange(req)
	}
	var trace writeTrace
	ctx, stop := context.WithCancelCause(req.Context())
	defer stop(nil)
	out := r.exchange(trace.watch(req.WithContext(ctx), stop))
	if out.err != nil && context.Cause(ctx) == errRepeated {
		out.err = errRepeated
	}
	out.unwritten = out.err != nil && out.status == 0 && trace.nothingWritten(req.Context(), out.err)
	return out
}

var identity = []string{"identity"} // never changed

type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error)         { return 0, io.EOF }
func (emptyBody) WriteTo(io.Writer) (int64, error) { return 0, nil }
func (emptyBody) Close() error                     { return nil }

// header is made for each attempt: a transport may add to it, and may still read it after it has returned.
func (c *caller) header(r *run) http.Header {
	const contentType = "application/json"
	values := [...]string{contentType, c.userAgent, c.key.reveal(), r.id, c.options.WorkspaceID}
	h := http.Header{
		"Accept":       values[0:1:1],
		"User-Agent":   values[1:2:2],
		"X-Api-Key":    values[2:3:3],
		"X-Request-Id": values[3:4:4], // not documented by the service, which may ignore it
	}
	if r.body != nil {
		h["Content-Type"] = []string{contentType}
	}
	if c.options.WorkspaceID != "" {
		h["Workspaceid"] = values[4:5:5]
	}
	return h
}

// exchange hands the request to the transport and reads the answer.
func (r *run) exchange(req *http.Request) outcome {
	transport := r.c.transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	resp, err := transport.RoundTrip(req)
	if err == nil && (resp == nil || resp.StatusCode == 0) { // an easy mistake in a fake
		err = errors.New("the Transport returned neither an answer with a status nor an error")
	}
	if err != nil {
		if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
			err = urlErr.Err // its text holds the URL with the query
		}
		return outcome{err: withoutAdvice(err)}
	}
	out := outcome{status: resp.StatusCode, header: resp.Header}
	if resp.Body == nil { // which http.Client accepts from a fake too
		resp.Body = http.NoBody
	}
	if out.status < 200 { // a 101 hands over the connection: its body may never end, not even with the context
		resp.Body.Close()
		return out
	}
	limit := int64(maxError)
	if out.status/100 == 2 {
		limit = maxAnswer
	}
	out.body, err = readBody(resp, limit)
	switch {
	case out.status/100 != 2: // the status says enough, however much of the body came
		out.body = out.body[:min(int64(len(out.body)), limit)]
	case err != nil:
		out.err = err
	case int64(len(out.body)) > limit:
		out.err, out.tooLarge = fmt.Errorf("the answer is larger than %d MiB: ask for fewer records at once with Limit", maxAnswer>>20), true
	}
	return out
}
