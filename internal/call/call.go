// Package call makes one call of the service: it sends a request until the result is final, and returns the outcome of
// the last attempt. It knows no operations and makes no errors for users: its caller says what an outcome means.
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

// Settings are those of a client that an attempt needs.
type Settings struct {
	Transport   http.RoundTripper // nil: http.DefaultTransport as it is when a request is sent
	Key         Secret
	WorkspaceID string
	UserAgent   string
	// AttemptTimeout bounds each attempt, MaxAttempts their number.
	AttemptTimeout time.Duration
	MaxAttempts    int
	// RetryWaitMin and RetryWaitMax bound the wait before a retry.
	RetryWaitMin, RetryWaitMax time.Duration
}

// Secret keeps the API key out of prints. fmt calls no methods of unexported fields, but of a pointer inside them it
// prints only the address.
type Secret struct{ value *string }

// NewSecret returns a secret with a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the value.
func (s Secret) Reveal() string { return *s.value }

// Request is what one call sends.
type Request struct {
	Class  Class
	Method string
	URL    string
	ID     string // x-request-id, the same for all attempts
	Body   []byte // nil for none
	// Budget is where each attempt takes a slot of the reminder limit; nil for none. MaxWait is how long all attempts
	// together may wait for slots; negative means as long as the context allows.
	Budget  *reminderlimit.Budget
	MaxWait time.Duration
	// Again reports whether a success is repeated like a 5xx. Nil means never.
	Again func(Outcome) bool
	// Attempted is called after each attempt, with the call's context. Nil means nobody wants to know.
	Attempted func(context.Context, Outcome)
}

// Outcome is the result of the last attempt so far. Its zero value means that there was none.
type Outcome struct {
	Status int // 0: no answer
	Header http.Header
	Body   []byte
	Err    error // no answer, or a success that could not be read to its end

	// Attempts is the number of attempts. SlotWait is how long the last one waited for its slot, and Duration how long it
	// took after that.
	Attempts           int
	SlotWait, Duration time.Duration
	// Stopped is why no further attempt was made: an error of the budget, or the context's. Nil if none was wanted.
	Stopped error

	tooLarge   bool
	timedOut   bool // by AttemptTimeout, not by the caller's context
	unaccepted bool // proof that the service did not accept the request: nothing was written, or a GOAWAY excludes it
}

// Success reports whether the answer has a status of success and was read to its end.
func (o Outcome) Success() bool { return o.Status/100 == 2 && o.Err == nil }

// statusClientClosed is what proxies such as nginx report when a request was cancelled.
const statusClientClosed = 499

// MayBeDone reports whether the service may have carried out a request although no readable success came back. A
// gateway answers its own time-out with a 5xx while the work goes on. So the only answer that rules it out is a 4xx
// other than 408 and 499, which a proxy gives when it cancelled a request that the service has. Without an answer, only
// the proof of a writeTrace does.
func (o Outcome) MayBeDone() bool {
	refused := o.Status/100 == 4 && o.Status != http.StatusRequestTimeout && o.Status != statusClientClosed
	return !refused && !o.unaccepted
}

// Client makes calls with its settings. It is safe for concurrent use.
type Client struct {
	Settings
	loop retryablehttp.Client
}

// New returns a client. The loop over attempts is go-retryablehttp's, and the functions given to it are the policy.
// attempts is its transport: it makes an attempt and keeps the outcome in the call's run.
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

// run is the state of a call. It is the value of runKey in the context of the call's requests.
type run struct {
	*Client
	Request
	last     Outcome
	slotWait time.Duration // spent waiting for slots, all attempts together
	// closingFailed: the last answer was 429, and the store could not close the budget: nothing delays a further attempt.
	closingFailed bool
	wait          time.Duration // before the next attempt
}

type runKey struct{}

// Do makes a call. Its error says that no request can be made of the Request. The outcome never comes from an error of
// net/http's Client, which quotes the URL where it cannot parse a Location.
func (c *Client) Do(ctx context.Context, request Request) (Outcome, error) {
	r := &run{Client: c, Request: request}
	first, err := http.NewRequestWithContext(ctx, r.Method, r.URL, nil)
	if err != nil {
		return Outcome{}, err
	}
	// Backoff gets no context, so it has to belong to the call. A Client cannot be copied as a whole.
	loop := retryablehttp.Client{
		HTTPClient: c.loop.HTTPClient, RetryMax: c.loop.RetryMax, CheckRetry: c.loop.CheckRetry, ErrorHandler: c.loop.ErrorHandler,
		Backoff: func(time.Duration, time.Duration, int, *http.Response) time.Duration { return r.wait },
	}
	_, err = loop.Do(&retryablehttp.Request{Request: first.WithContext(context.WithValue(ctx, runKey{}, r))})
	if err != nil && ctx.Err() != nil {
		r.last.Stopped = ctx.Err() // it may have ended between attempts, which the last one does not show
	}
	out := r.last
	r.last = Outcome{} // a stopped timer may keep the contexts of attempts, and with them r, until their deadlines
	return out, nil
}

// attempts makes the attempts of calls. It has no CloseIdleConnections, which go-retryablehttp would call after failures.
type attempts struct{}

// RoundTrip makes one attempt: it takes a slot where one is needed, sends, reads everything and settles.
func (attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	r := ctx.Value(runKey{}).(*run)
	if r.last.Stopped = ctx.Err(); r.last.Stopped != nil {
		return nil, r.last.Stopped
	}
	start := time.Now()
	var slot reminderlimit.Slot
	if r.Budget != nil {
		var err error
		if slot, err = r.Budget.Take(ctx, r.MaxWait, r.slotWait); err != nil {
			r.last.Stopped = err
			return nil, err
		}
		r.slotWait += slot.Waited
		start = slot.At // else a slow store or a stalled process could keep the attempt going longer than its slot
	}
	number := r.last.Attempts + 1
	var response *http.Response
	r.last, response = r.attempt(req, start.Add(r.AttemptTimeout))
	r.last.Attempts, r.last.SlotWait = number, slot.Waited
	if r.Budget != nil {
		r.settle(ctx, slot)
	}
	r.last.Duration = time.Since(start)
	if r.Attempted != nil {
		r.Attempted(ctx, r.last)
	}
	if r.last.Err != nil {
		return nil, r.last.Err
	}
	return response, nil
}

// settle tells the budget what the last outcome means for the slot, and whether the service wants no reminders for now.
func (r *run) settle(ctx context.Context, slot reminderlimit.Slot) {
	r.closingFailed = r.last.Status == http.StatusTooManyRequests &&
		r.Budget.Block(ctx, reminderlimit.ClosedFor(RetryAfter(r.last.Header))) != nil
	keep := reminderlimit.Answered
	switch {
	case r.last.unaccepted:
		keep = 0
	case r.last.MayBeDone() && !r.last.Success(): // no answer, or one that a gateway may have given before the request arrived
		keep = reminderlimit.Unanswered
	}
	r.Budget.Settle(ctx, slot, keep)
}

// attempt sends the request once and reads the whole response, all before the deadline. Its trace bounds how often
// net/http sends the request. net/http repeats requests after a lost connection (HTTP/1.1) or after a reset stream or
// GOAWAY (HTTP/2), and checkRetry would not know. It never repeats a request whose body it cannot rewind, so a body here
// has no GetBody. It may repeat a request without a body: see writeTrace.
func (r *run) attempt(req *http.Request, deadline time.Time) (out Outcome, response *http.Response) {
	call := req.Context()
	ctx, cancel := context.WithDeadline(call, deadline)
	defer cancel()
	out = Outcome{Err: ctx.Err(), unaccepted: true} // a slow limit store may have used up the attempt's time
	if out.Err == nil {
		trace := &writeTrace{most: 1, cancel: cancel, copied: r.Body == nil}
		trace.deadline, _ = ctx.Deadline()
		req = req.WithContext(trace.context(ctx))
		req.Header = r.header()
		if r.Body != nil {
			trace.bodyRead = make(chan struct{})
			req.Body, req.ContentLength = &fencedBody{bytes.NewReader(r.Body), trace}, int64(len(r.Body))
		}
		if r.Class == Safe && r.Method == http.MethodGet {
			trace.most = maxReads
		}
		out, response = r.exchange(req)
		out = trace.judge(ctx, out)
	}
	if out.Err != nil {
		out.timedOut = errors.Is(ctx.Err(), context.DeadlineExceeded) && call.Err() == nil
		if err := call.Err(); err != nil && !errors.Is(out.Err, err) {
			out.Err = errors.Join(err, out.Err)
		}
	}
	return out, response
}
