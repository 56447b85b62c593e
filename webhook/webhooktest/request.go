package webhooktest

import (
	"bytes"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// NewRequest returns a delivery as the service would send it at the time at: a POST of payload to
// target, signed over exactly these bytes. target is an absolute URL such as
// http://example.com/webhook.
//
// Use each request once, with ServeHTTP of a handler or Do of a client. NewRequest panics if target
// is not a URL, or if [webhook.Sign] panics.
func NewRequest(target, secret string, at time.Time, payload []byte) *http.Request {
	r, err := http.NewRequest(http.MethodPost, target, bytes.NewReader(payload))
	if err != nil {
		panic("webhooktest: NewRequest: target is not a URL such as http://example.com/webhook: " + err.Error())
	}
	r.Header.Set("Content-Type", "application/json")
	maps.Copy(r.Header, webhook.Sign(secret, at, payload))
	return r
}

// Clock is a clock that a test sets. Its method Now suits [webhook.VerifierOptions] and
// [webhook.MemoryReplayOptions]. A Clock is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a Clock that shows the time at.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d; a negative d moves it back.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
