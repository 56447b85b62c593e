package call

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"reflect"
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
// the proof that nothing was written. Nor does a connection that they fail to get prove anything of the call, which may go by a
// way that reports nothing. Only a header with an x-request-id counts as the request itself, which must not follow a second time.
type writeTrace struct {
	stop context.CancelCauseFunc
	host string // the address of the call, with its port

	mu          sync.Mutex
	gettingConn bool
	gotConn     bool
	elsewhere   bool          // a connection to another address than host was looked for
	failed      []error       // why there was no connection
	copied      bool          // somebody may have what the request says: its body was read at any time, or is empty
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
var errRepeated = errors.New("the Transport began to send the request a second time, and was stopped; " +
	"if it was another request of the Transport, take x-request-id out of that")

// watch returns the request with the trace in it, for a transport to send. The trace calls stop when the transport has got a
// connection to send the request again.
func (t *writeTrace) watch(req *http.Request, stop context.CancelCauseFunc) *http.Request {
	t.stop, t.host, t.copied = stop, address(req.URL), req.Body == emptyBody{}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:          t.getConn,
		DNSDone:          func(info httptrace.DNSDoneInfo) { t.connFailed(info.Err) },
		ConnectDone:      func(_, _ string, err error) { t.connFailed(err) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { t.connFailed(err) },
		GotConn:          t.foundConn,
		WroteHeaderField: t.wroteField,
		WroteHeaders:     t.wroteSome,
		WroteRequest:     func(httptrace.WroteRequestInfo) { t.wroteSome() },
	}))
	req.Body = watchedBody{req.Body, t}
	return req
}

// address returns the host of a URL with its port, as [httptrace.ClientTrace.GetConn] gets it where there is no proxy.
func address(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// getConn may be called under a lock of net/http. To repeat a request, net/http goes to the same address.
func (t *writeTrace) getConn(address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gettingConn = true
	t.elsewhere = t.elsewhere || !strings.EqualFold(address, t.host)
	t.pending++
	known := slices.Contains(t.asked, address)
	if !known && !t.sent {
		t.asked = append(t.asked, address)
	}
	t.again = t.again || known && t.sent
}

func (t *writeTrace) connFailed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.failed = append(t.failed, err)
	}
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

// watchedBody counts a read of the body after GetConn as a write: a transport may report that event and no later one. A read
// before it may be for a log, or for a copy that is sent unseen.
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
	t.copied, t.wrote = true, t.wrote || t.gettingConn
	if t.sent && !t.read {
		t.read = true
		if t.reading != nil {
			close(t.reading)
		}
	}
}

// nothingWritten is true only on proof. The transport reported that it looked for a connection, so it reports what it does; and
// it got none (resolving, dialling or the TLS handshake failed), or got one and wrote nothing. A transport that was stopped
// by a context after it got a connection proves nothing: its write loop may still run.
//
// Whether that connection was for the call shows its body: nobody can send what nobody has read. (A reminder has its inputs in the
// URL too. That its transport sends it by a way without a trace and reports another is not found out.) Where somebody may have it, the
// transport must return the very error for which it got no connection, to the call's own address and looking for no other.
func (t *writeTrace) nothingWritten(ctx context.Context, err error) bool {
	stopped := ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !t.gettingConn || t.wrote:
		return false
	case t.copied:
		return !t.gotConn && !t.elsewhere && t.isFailure(err)
	}
	return !t.gotConn || !stopped
}

// isFailure reports whether err is or wraps one of t.failed, and says nothing behind it: that could be of another way that was
// tried too. It is called under the lock.
func (t *writeTrace) isFailure(err error) bool {
	text := err.Error()
	for ; err != nil; err = errors.Unwrap(err) {
		if reflect.ValueOf(err).Comparable() && slices.Contains(t.failed, err) {
			return strings.HasSuffix(text, err.Error())
		}
	}
	return false
}
