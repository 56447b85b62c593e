package call

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// writeTrace finds out whether anything of a request was written, and whether it is about to be written again, from
// net/http's trace and from reads of the body. Its hooks may run after the transport has returned.
//
// Other requests of the transport that use the call's context report to it too: for a token, or to resolve the host.
// Nothing tells for certain that a write is theirs, since a transport may send the call in another form. So every write
// counts against the proof that nothing was written. Only a header with an x-request-id counts as the request itself,
// which must not follow a second time.
type writeTrace struct {
	stop context.CancelCauseFunc

	mu          sync.Mutex
	gettingConn bool
	gotConn     bool
	copied      bool          // somebody may have what the request says: its body was read, or is empty
	wrote       bool          // by any request
	http2       bool          // so was any of them
	sent        bool          // a header with an x-request-id was written
	read        chan struct{} // closed when the body was read since, so that net/http cannot send the request again
}

// errRepeated is the cause when an attempt was cancelled because its request was about to be written again.
var errRepeated = errors.New("the Transport began to send the request a second time, and was stopped; " +
	"if it was another request of the Transport, take x-request-id out of that")

// watch returns the request with the trace in it, for a transport to send. The trace calls stop when the transport has
// got a connection to send the request again.
func (t *writeTrace) watch(req *http.Request, stop context.CancelCauseFunc) *http.Request {
	t.stop, t.copied, t.read = stop, req.Body == emptyBody, make(chan struct{})
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:          func(string) { t.note(&t.gettingConn) },
		GotConn:          t.foundConn,
		WroteHeaderField: t.wroteField,
		WroteHeaders:     func() { t.note(&t.wrote) },
		WroteRequest:     func(httptrace.WroteRequestInfo) { t.note(&t.wrote) },
	}))
	req.Body = watchedBody{req.Body, t}
	return req
}

// note may be called under a lock of net/http.
func (t *writeTrace) note(happened *bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*happened = true
}

// bodyTime is how long a connection for another request may have to wait until the body of this one is read. net/http
// reads it right after it has written the header.
const bodyTime = 100 * time.Millisecond

// foundConn stops a request that was sent when another connection is got, unless its body is read: then the connection
// is for another request. HTTP/2 may repeat a request without getting a connection, on one made for another call.
func (t *writeTrace) foundConn(info httptrace.GotConnInfo) {
	t.mu.Lock()
	t.gotConn = true
	sent, http2 := t.sent, t.http2
	t.mu.Unlock()
	if !sent {
		return
	}
	select {
	case <-t.read:
		return
	case <-time.After(bodyTime):
	}
	t.stop(errRepeated)
	if !http2 && info.Conn != nil { // HTTP/2 looks at the context before it writes, HTTP/1.1 does not
		_ = info.Conn.Close()
	}
}

func (t *writeTrace) wroteField(name string, _ []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrote = true
	t.sent = t.sent || strings.EqualFold(name, "x-request-id")
	t.http2 = t.http2 || strings.HasPrefix(name, ":")
}

// watchedBody notes that the body is read: for a log, for a copy that is sent unseen, or to write it.
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
	t.copied = true
	if !t.sent {
		return
	}
	select {
	case <-t.read:
	default:
		close(t.read)
	}
}

// nothingWritten is true only on proof. The transport reported that it looked for a connection, so it reports what it
// does; and it got none (resolving, dialling or the TLS handshake failed), or got one and wrote nothing. A transport
// that was stopped by a context after it got a connection proves nothing: its write loop may still run. Nor does one
// that may have a copy of what the request says, and may have sent that without a trace.
func (t *writeTrace) nothingWritten(ctx context.Context, err error) bool {
	stopped := ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gettingConn && !t.wrote && !t.copied && !(t.gotConn && stopped)
}
