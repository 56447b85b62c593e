// Package call makes one call to the service. It sends a request until the result is final, and
// returns the outcome of the last attempt. The package contains no operations and returns no errors
// for users; its caller interprets the outcome.
package call

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/signforms/signforms-go/internal/reminderlimit"
)

// Settings are the settings of a client that an attempt needs.
type Settings struct {
	Transport   http.RoundTripper // nil: the value of http.DefaultTransport when a request is sent
	Key         Secret
	WorkspaceID string
	UserAgent   string
	// AttemptTimeout limits the time of each attempt, and MaxAttempts their number.
	AttemptTimeout time.Duration
	MaxAttempts    int
	// RetryWaitMin and RetryWaitMax limit the wait before a retry.
	RetryWaitMin, RetryWaitMax time.Duration
}

// Secret keeps the API key out of printed values. fmt calls no methods of unexported fields, but it
// prints only the address of a pointer inside them.
type Secret struct{ value *string }

// NewSecret returns a secret with a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the value.
func (s Secret) Reveal() string { return *s.value }

// Request is the input of one call.
type Request struct {
	Class  Class
	Method string
	URL    string
	ID     string // x-request-id, the same for all attempts
	Body   []byte // nil for none
	// Budget gives each attempt a slot of the reminder limit; nil means that no slot is needed.
	// MaxWait is how long all attempts together may wait for slots; a negative MaxWait means as
	// long as the context allows.
	Budget  *reminderlimit.Budget
	MaxWait time.Duration
	// RepeatSuccess reports whether a success is repeated like a 5xx. nil means never.
	RepeatSuccess func(Outcome) bool
	// Attempted is called after each attempt, with the call's context. nil means no call.
	Attempted func(context.Context, Outcome)
}

// Outcome is the result of the last attempt so far. The zero value means that there was no attempt.
type Outcome struct {
	Status int // 0: no response
	Header http.Header
	Body   []byte
	Err    error // why there is no response, or why a success could not be read to its end

	// Attempts is the number of attempts. SlotWait is how long the last attempt waited for its
	// slot, and Duration how long it took after that.
	Attempts           int
	SlotWait, Duration time.Duration
	// Stopped is why no further attempt was made: an error of the budget or of the context. nil
	// means that no further attempt was needed.
	Stopped error

	tooLarge   bool
	timedOut   bool // AttemptTimeout ended the attempt, not the caller's context
	unaccepted bool // it is proven that the service did not accept the request: nothing was written, or a GOAWAY excludes the request
}

// Success reports whether the response has a 2xx status and was read to its end.
func (o Outcome) Success() bool { return o.Status/100 == 2 && o.Err == nil }

// statusClientClosed is the status that proxies such as nginx report if a request was cancelled.
const statusClientClosed = 499

// MayBeExecuted reports whether the service may have executed a request although no readable success
// was received. A gateway responds with a 5xx after its own time-out, while the service may still
// be executing the request.
//
// A 4xx response rules out that the request was executed. The exceptions are 408 and 499, which a
// proxy returns after it has cancelled a request that the service already has. Without a response,
// only the proof of a writeTrace rules it out.
func (o Outcome) MayBeExecuted() bool {
	refused := o.Status/100 == 4 && o.Status != http.StatusRequestTimeout && o.Status != statusClientClosed
	return !refused && !o.unaccepted
}

// Client makes calls with its settings. A Client is safe for concurrent use.
type Client struct {
	Settings
	loop retryablehttp.Client
}

// New returns a client. go-retryablehttp loops over the attempts, and the functions passed to it
// are the policy. Its transport is attempts, which makes an attempt and stores the outcome in the
// callState of the call.
func New(s Settings) *Client {
	c := &Client{Settings: s}
	c.loop.HTTPClient = &http.Client{
		Transport:     attempts{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.loop.RetryMax = s.MaxAttempts - 1
	c.loop.CheckRetry = checkRetry
	c.loop.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return c
}

// callState is what a call has so far. The context of the call's requests has it as the value of
// stateKey.
type callState struct {
	*Client
	Request
	outcome  Outcome
	slotWait time.Duration // spent waiting for slots, all attempts together
	// closingFailed is true if the last response was 429 and the store could not close the budget.
	// Nothing would then delay a further attempt.
	closingFailed bool
	wait          time.Duration // before the next attempt
}

type stateKey struct{}

// Do makes a call. It returns an error if no HTTP request can be made from request. The outcome
// never contains an error of net/http's Client, because such an error quotes a Location that cannot
// be parsed.
func (c *Client) Do(ctx context.Context, request Request) (Outcome, error) {
	s := &callState{Client: c, Request: request}
	first, err := http.NewRequestWithContext(ctx, s.Method, s.URL, nil)
	if err != nil {
		return Outcome{}, err
	}
	// Backoff gets no context, so it must belong to the call. A Client cannot be copied as a whole.
	loop := retryablehttp.Client{
		HTTPClient: c.loop.HTTPClient, RetryMax: c.loop.RetryMax, CheckRetry: c.loop.CheckRetry, ErrorHandler: c.loop.ErrorHandler,
		Backoff: func(time.Duration, time.Duration, int, *http.Response) time.Duration { return s.wait },
	}
	_, err = loop.Do(&retryablehttp.Request{Request: first.WithContext(context.WithValue(ctx, stateKey{}, s))})
	if err != nil && ctx.Err() != nil {
		s.outcome.Stopped = ctx.Err() // the context may have ended between attempts; the last outcome does not show that
	}
	out := s.outcome
	s.outcome = Outcome{} // a stopped timer may keep the contexts of attempts, and with them s, until their deadlines
	return out, nil
}

// attempts is a transport that makes the attempts of calls. It has no CloseIdleConnections, which
// go-retryablehttp would call after failures.
type attempts struct{}

// RoundTrip makes one attempt: it takes a slot if one is needed, sends the request, reads the whole
// response and settles the slot.
func (attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	s := ctx.Value(stateKey{}).(*callState)
	if s.outcome.Stopped = ctx.Err(); s.outcome.Stopped != nil {
		return nil, s.outcome.Stopped
	}
	start := time.Now()
	var slot reminderlimit.Slot
	if s.Budget != nil {
		var err error
		if slot, err = s.Budget.Take(ctx, s.MaxWait, s.slotWait); err != nil {
			s.outcome.Stopped = err
			return nil, err
		}
		s.slotWait += slot.Waited
		start = slot.At // otherwise a slow store or a stalled process could make the attempt last longer than its slot
	}
	number := s.outcome.Attempts + 1
	var response *http.Response
	s.outcome, response = s.attempt(req, start.Add(s.AttemptTimeout))
	s.outcome.Attempts, s.outcome.SlotWait = number, slot.Waited
	if s.Budget != nil {
		s.settle(ctx, slot)
	}
	s.outcome.Duration = time.Since(start)
	if s.Attempted != nil {
		s.Attempted(ctx, s.outcome)
	}
	if s.outcome.Err != nil {
		return nil, s.outcome.Err
	}
	return response, nil
}

// settle frees or extends the slot according to the last outcome. After a 429 it also blocks the
// budget.
func (s *callState) settle(ctx context.Context, slot reminderlimit.Slot) {
	s.closingFailed = s.outcome.Status == http.StatusTooManyRequests &&
		s.Budget.Block(ctx, reminderlimit.ClosedFor(RetryAfter(s.outcome.Header))) != nil
	keep := reminderlimit.Answered
	switch {
	case s.outcome.unaccepted:
		keep = 0
	case s.outcome.MayBeExecuted() && !s.outcome.Success(): // no response, or a response that a gateway may have sent before the request arrived
		keep = reminderlimit.Unanswered
	}
	s.Budget.Settle(ctx, slot, keep)
}

// attempt sends the request once and reads the whole response, all before the deadline.
//
// The trace of the attempt limits how often net/http sends the request. net/http repeats requests
// after a lost connection (HTTP/1.1), and after a reset stream or a GOAWAY (HTTP/2). checkRetry
// does not see these repetitions. net/http never repeats a request whose body it cannot rewind, so
// a body here has no GetBody. net/http may repeat a request without a body; see writeTrace.
func (s *callState) attempt(req *http.Request, deadline time.Time) (out Outcome, response *http.Response) {
	call := req.Context()
	ctx, cancel := context.WithDeadline(call, deadline)
	defer cancel()
	out = Outcome{Err: ctx.Err(), unaccepted: true} // a slow limit store may have used up the attempt's time
	if out.Err == nil {
		trace := &writeTrace{most: 1, cancel: cancel, copied: s.Body == nil}
		trace.deadline, _ = ctx.Deadline()
		req = req.WithContext(trace.context(ctx))
		req.Header = s.header()
		if s.Body != nil {
			trace.bodyRead = make(chan struct{})
			req.Body, req.ContentLength = &fencedBody{bytes.NewReader(s.Body), trace}, int64(len(s.Body))
		}
		if s.Class == Safe && s.Method == http.MethodGet {
			trace.most = maxReads
		}
		out, response = s.exchange(req)
		out = trace.addEvidence(ctx, out)
	}
	if out.Err != nil {
		out.timedOut = errors.Is(ctx.Err(), context.DeadlineExceeded) && call.Err() == nil
		if err := call.Err(); err != nil && !errors.Is(out.Err, err) {
			out.Err = errors.Join(err, out.Err)
		}
	}
	return out, response
}
