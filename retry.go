package signforms

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// run is one call on its way through its attempts. It is the policy of the one retry layer, go-retryablehttp, and the
// RoundTripper below it.
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
	closed   bool          // the budget, by the last answer
	refused  error         // why no further attempt was made: no slot, or the context ended
	slotWait time.Duration // spent waiting for slots, all attempts together
	nextWait time.Duration // before the next attempt
}

// send tries until the policy says stop, and returns the body of a success.
func (r *run) send(ctx context.Context) ([]byte, error) {
	var body any
	if r.body != nil {
		body = r.body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.method, r.url, body)
	if err != nil {
		return nil, r.call.refusal(err.Error()) // the context is nil: New has checked what the URL is made of
	}
	client := retryablehttp.Client{
		// Redirects are never followed: net/http would repeat a POST on a 307, out of sight of the policy.
		HTTPClient: &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		RetryMax:   r.c.options.MaxAttempts - 1,
		CheckRetry: r.checkRetry,
		Backoff:    func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return r.nextWait },
	}
	// What the library returns says less than r.last; only the end of the context while waiting is news.
	if _, err := client.Do(req); err != nil && ctx.Err() != nil {
		r.refused = ctx.Err()
	}
	return r.judge()
}

// RoundTrip makes one attempt: takes a slot where one is needed, sends, reads everything, settles.
func (r *run) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if r.refused = ctx.Err(); r.refused != nil {
		return nil, r.refused
	}
	var taken slot
	if r.call.op == OpSendReminder {
		if taken, r.refused = r.c.budget.take(ctx, r.call.maxWait, r.slotWait); r.refused != nil {
			return nil, r.refused
		}
		r.slotWait += taken.waited
	}
	r.attempts++
	start := time.Now()
	if r.call.op == OpSendReminder {
		start = taken.at // else a slow store or a stalled process could keep the attempt going longer than its slot
	}
	r.last = r.attempt(req, start.Add(r.c.options.AttemptTimeout))
	if r.call.op == OpSendReminder {
		r.closed = r.c.budget.settle(ctx, taken, r.last)
	}
	if hook := r.c.options.OnAttempt; hook != nil {
		hook(ctx, Attempt{Operation: r.call.op, RequestID: r.id, Number: r.attempts, StatusCode: r.last.status,
			Header: RawHeader(r.last.header), Err: r.attemptErr(), SlotWait: taken.waited, Duration: time.Since(start)})
	}
	if r.last.err != nil {
		return nil, r.last.err
	}
	return &http.Response{StatusCode: r.last.status, Header: r.last.header, Body: http.NoBody, Request: req}, nil
}

// retryStatuses are the answers after which a repeatable operation is tried again.
var retryStatuses = []int{
	http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
	http.StatusServiceUnavailable, http.StatusGatewayTimeout,
}

// retriable is the table of the package documentation.
func (o outcome) retriable(class retryClass) bool {
	certErr := (*tls.CertificateVerificationError)(nil)
	switch {
	case errors.As(o.err, &certErr), o.tooLarge: // will not get better
		return false
	case class == notRepeatable:
		return o.unwritten || o.status == http.StatusTooManyRequests
	case o.err != nil:
		return true
	}
	return slices.Contains(retryStatuses, o.status)
}

func (r *run) checkRetry(ctx context.Context, _ *http.Response, _ error) (bool, error) {
	if r.refused != nil || !r.last.retriable(r.class) {
		return false, nil
	}
	r.nextWait = r.wait()
	if r.nextWait > r.c.options.RetryWaitMax {
		return false, nil
	}
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > r.nextWait, nil
}

// wait is Retry-After or full jitter, and never less than half of RetryWaitMin. A reminder after 429 waits in the budget
// instead, where the answer has closed it for longer than that.
func (r *run) wait() time.Duration {
	least, most := r.c.options.RetryWaitMin/2, r.c.options.RetryWaitMax
	if r.call.op == OpSendReminder && r.last.status == http.StatusTooManyRequests {
		closed := closedFor(r.last.header)
		if r.closed && closed >= least {
			return 0
		}
		return max(closed, least)
	}
	if d, ok := retryAfter(r.last.header); ok {
		return max(d, least)
	}
	ceiling := r.c.options.RetryWaitMin
	for i := 1; i < r.attempts && ceiling < most; i++ {
		ceiling += min(ceiling, most-ceiling) // doubled without overflow
	}
	return least + rand.N(ceiling-least)
}

// retryAfter reads both forms of Retry-After. A date counts from the answer's own Date, whatever the local clock says.
func retryAfter(h http.Header) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(v, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(seconds) * time.Second, true // out of range it is the most that fits: 68 years
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), 0), true
}
