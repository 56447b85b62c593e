package webhook

import (
	"context"
	"sync"
	"time"
)

// boundedContext is context.WithTimeout(parent, timeout) without a timer until someone asks whether it has ended. Most
// store calls and many functions never ask, and the timer would add a fifth to the cost of a small delivery. The parent
// has values only.
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

// newFunctionContext returns the context of a function. It ends after timeout or at the request's deadline.
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

// Value asks the real context first: derived contexts register for cancellation there.
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

// end cancels the context.
func (c *boundedContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

// deliveryContext has the values of a request's context and what is known about the delivery. It is not cancelled with
// the request: a sender that hangs up must not stop work half way. Only functions get the request's deadline: what they
// did must still be recorded after it.
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

// VerifiedFrom returns what is known about the delivery that ctx belongs to. It reports false unless ctx is that of a function
// that a [Handler] calls, of a hook that is called for an event, or of a request that passed [Verifier.Middleware]. In functions
// and hooks Payload is nil; the event's Raw returns its part.
func VerifiedFrom(ctx context.Context) (Verified, bool) {
	verified, ok := ctx.Value(verifiedKey{}).(*Verified)
	if !ok {
		return Verified{}, false
	}
	return *verified, true
}
