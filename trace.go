package signforms

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"
)

// writeTrace finds out whether anything of a request was written, and whether it is about to be written again, from net/http's
// trace and from reads of the body. Its hooks may run after the transport has returned.
//
// Other requests of the transport that use the call's context report to it too: for a token, or to resolve the host. Nothing
// tells for certain that a write is theirs, since a transport may send the call in another form. So every write counts against
// the proof that nothing was written. Only a header with an x-request-id counts as the request itself, which must not follow
// a second time.
type writeTrace struct {
	stop context.CancelCauseFunc

	mu          sync.Mutex
	gettingConn bool
	gotConn     bool
	wrote       bool          // by any request
	http2       bool          // so was any of them
	asked       []string      // addresses to which a connection was looked for before the request was written
	pending     int           // connections that are looked for
	sent        bool          // a header with an x-request-id was written
	again       bool          // and a connection to one of the addresses was looked for since
	read        bool          // and the body was read since, so net/http cannot send the request again
	reading     chan struct{} // closed when read becomes true; nil while nobody waits for that
}

// errRepeated is the cause when an attempt was cancelled because its request was about to be written again.
var errRepeated = errors.New("the Transport began to send the request a second time, and was stopped")

// watch returns the request with the trace in it, for a transport to send. The trace calls stop when the transport has got a
// connection to send the request again.
func (t *writeTrace) watch(req *http.Request, stop context.CancelCauseFunc) *http.Request {
	t.stop = stop
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:          t.getConn,
		GotConn:          t.foundConn,
		WroteHeaderField: t.wroteField,
		WroteHeaders:     t.wroteSome,
		WroteRequest:     func(httptrace.WroteRequestInfo) { t.wroteSome() },
	}))
	req.Body = watchedBody{req.Body, t}
	return req
}

// getConn may be called under a lock of net/http. To repeat a request, net/http goes to the same address.
func (t *writeTrace) getConn(address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gettingConn = true
	t.pending++
	known := slices.Contains(t.asked, address)
	if !known && !t.sent {
		t.asked = append(t.asked, address)
	}
	t.again = t.again || known && t.sent
}

// foundConn stops a request that was sent and gets a connection again, unless its body is read: then the connection is for
// another request. HTTP/2 may repeat a request without looking for a connection, on one that was made for another call.
func (t *writeTrace) foundConn(info httptrace.GotConnInfo) {
	t.mu.Lock()
	t.gotConn = true
	lookedFor := t.pending > 0
	if lookedFor {
		t.pending--
	}
	repeats := t.sent && (t.again || !lookedFor)
	http2 := t.http2
	t.mu.Unlock()
	if !repeats || t.readSoon() {
		return
	}
	t.stop(errRepeated)
	if !http2 && info.Conn != nil { // HTTP/2 looks at the context before it writes, HTTP/1.1 does not
		_ = info.Conn.Close()
	}
}

// bodyTime is how long a connection for another request may have to wait until the body of this one is read. net/http reads it
// right after it has written the header.
const bodyTime = 100 * time.Millisecond

// readSoon reports whether the body of a request that was sent is read.
func (t *writeTrace) readSoon() bool {
	t.mu.Lock()
	if t.read {
		t.mu.Unlock()
		return true
	}
	if t.reading == nil {
		t.reading = make(chan struct{})
	}
	reading := t.reading
	t.mu.Unlock()
	timer := time.NewTimer(bodyTime)
	defer timer.Stop()
	select {
	case <-reading:
		return true
	case <-timer.C:
		return false
	}
}

func (t *writeTrace) wroteField(name string, _ []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrote = true
	t.sent = t.sent || strings.EqualFold(name, "x-request-id")
	t.http2 = t.http2 || strings.HasPrefix(name, ":")
}

func (t *writeTrace) wroteSome() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrote = true
}

// watchedBody counts a read of the body after GetConn as a write: a transport may report that event and no later one. Reads
// before it may be for a copy or a log.
type watchedBody struct {
	io.ReadCloser
	trace *writeTrace
}

func (b watchedBody) Read(p []byte) (int, error) {
	b.trace.readBody()
	return b.ReadCloser.Read(p)
}

func (t *writeTrace) readBody() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrote = t.wrote || t.gettingConn
	if t.sent && !t.read {
		t.read = true
		if t.reading != nil {
			close(t.reading)
		}
	}
}

// nothingWritten is true only on proof. The transport reported that it looked for a connection, so it reports what it does;
// and it got none (resolving, dialling or the TLS handshake failed), or got one and wrote nothing. A transport that was
// stopped by a context after it got a connection proves nothing: its write loop may still run.
func (t *writeTrace) nothingWritten(ctx context.Context, err error) bool {
	stopped := ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gettingConn && !t.wrote && (!t.gotConn || !stopped)
}
