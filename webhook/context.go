package webhook

import (
	"context"
	"sync"
	"time"
)

// boundedContext is what context.WithTimeout(parent, timeout) returns, but it makes no timer until someone asks whether
// it has ended. Most store calls and many functions never do, and for a small delivery the timer would cost about a
// fifth of all the rest. The parent has values only.
type boundedContext struct {
	parent  context.Context
	start   time.Time
	timeout time.Duration

	mu      sync.Mutex
	context context.Context // nil until needed
	cancel  context.CancelFunc
	ended   bool
}

func newBoundedContext(parent context.Context, timeout time.Duration) *boundedContext {
	return &boundedContext{parent: parent, start: time.Now(), timeout: timeout}
}

// newFunctionContext returns the context of a function: it ends after timeout, or with the request's own deadline.
func newFunctionContext(delivery *deliveryContext, timeout time.Duration) *boundedContext {
	c := newBoundedContext(delivery, timeout)
	if delivery.limited {
		c.timeout = min(c.timeout, delivery.deadline.Sub(c.start))
	}
	return c
}

func (c *boundedContext) Deadline() (time.Time, bool) { return c.start.Add(c.timeout), true }
func (c *boundedContext) Done() <-chan struct{}       { return c.real().Done() }
func (c *boundedContext) Err() error                  { return c.real().Err() }

// Value asks the real context first: contexts made from this one find in it where to hang themselves up.
func (c *boundedContext) Value(key any) any {
	c.mu.Lock()
	ctx := c.context
	c.mu.Unlock()
	if ctx == nil {
		ctx = c.parent
	}
	return ctx.Value(key)
}

func (c *boundedContext) real() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.context == nil {
		c.context, c.cancel = context.WithDeadline(c.parent, c.start.Add(c.timeout))
		if c.ended {
			c.cancel()
		}
	}
	return c.context
}

// end cancels the context: what it was made for is over.
func (c *boundedContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

// deliveryContext has the values of a request's context and what is known about the delivery. It is not cancelled with
// the request: a sender that hangs up must not stop work half way. The request's deadline holds for functions only: what
// they have done must still be recorded after it.
type deliveryContext struct {
	context.Context
	verified Verified
	deadline time.Time
	limited  bool // there is a deadline
}

type verifiedKey struct{}

func newDeliveryContext(request context.Context, verified Verified) *deliveryContext {
	c := &deliveryContext{Context: context.WithoutCancel(request), verified: verified}
	c.deadline, c.limited = request.Deadline()
	return c
}

// over reports whether the request's deadline has passed.
func (c *deliveryContext) over() bool { return c.limited && !time.Now().Before(c.deadline) }

func (c *deliveryContext) Value(key any) any {
	if key == (verifiedKey{}) {
		return &c.verified
	}
	return c.Context.Value(key)
}

// VerifiedFrom returns what is known about the delivery that is being processed: in a function of [Funcs] and behind
// [Verifier.Middleware]; elsewhere false. In a function of Funcs, Payload is nil: the event's Raw holds its part of it.
func VerifiedFrom(ctx context.Context) (Verified, bool) {
	verified, ok := ctx.Value(verifiedKey{}).(*Verified)
	if !ok {
		return Verified{}, false
	}
	return *verified, true
}
