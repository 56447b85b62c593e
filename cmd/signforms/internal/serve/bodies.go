package serve

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// The bounds of request bodies that are read or used at a time, because they are held in memory. A small body does not count.
const (
	maxBodies = 128 << 20 // bytes in all
	smallBody = 1 << 20   // bytes
	anyBody   = 32 << 20  // bytes; what a larger body counts that announces no size, or more. No larger body is read
)

var errBusy = errors.New("other uploads are under way: try again")

// bodies counts the bytes of large bodies under way.
type bodies struct{ held atomic.Int64 }

// wrap answers a large body with 503 when there is no room for it. It does not wait for room: slow clients would fill the queue.
func (b *bodies) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := &countedBody{ReadCloser: r.Body, bodies: b}
		defer body.release()
		if r.ContentLength < 0 || r.ContentLength > anyBody { // one that announces more is refused unread
			r.Body = body
		} else if r.ContentLength > smallBody && !body.take(r.ContentLength) {
			control.WriteError(w, &wire.Error{Status: http.StatusServiceUnavailable, Code: "busy", Message: errBusy.Error()})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// countedBody is a body that announces no size, or one that is too large. It counts from its first byte above smallBody on.
type countedBody struct {
	io.ReadCloser
	*bodies
	read, taken int64
}

func (c *countedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.read += int64(n)
	if c.read > smallBody && c.taken == 0 && !c.take(anyBody) {
		return 0, errBusy
	}
	return n, err
}

// take reports whether there is room for so many bytes.
func (c *countedBody) take(size int64) bool {
	c.taken = size
	return c.held.Add(size) <= maxBodies
}

func (c *countedBody) release() { c.held.Add(-c.taken) }
