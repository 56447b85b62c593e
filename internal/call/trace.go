package call

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// writeTrace finds out from net/http's trace, and from reads of the body, whether anything of a request was written. It
// stops the request before it is sent too often, or after its deadline: a process that was suspended in the middle of a
// send does not deliver it when it goes on. Its hooks may run after the transport has returned.
//
// Other requests of the transport that use the call's context report to it too, such as one for a token. So does a
// rehearsal: httputil.DumpRequestOut, or Write of a clone. Nothing shows for certain whose write it is, because a
// transport may send the call in another form and over connections of its own. So every write counts against the proof
// that nothing was written. A sending is only a header with an x-request-id on a connection that has a remote address.
type writeTrace struct {
	most     int // how often the request may be sent
	deadline time.Time
	cancel   context.CancelFunc // ends the context of the request

	mu          sync.Mutex
	gettingConn bool
	gotConn     bool
	copied      bool // the transport may have a copy of the request's contents: its body was read, or it has none
	wrote       bool // by any request
	connFree    bool // a connection with a remote address was got, and no header was begun since
	onNetwork   bool // the header that was begun last goes to such a connection
	http2       bool // and is one of HTTP/2
	headers     int  // how many were begun on such connections, and how many of these have an x-request-id
	sent        int
	bodyRead    chan struct{} // closed when the body was read after a sending, so that net/http cannot repeat it; nil without a body
	stopped     error         // why the request was stopped
	shut        bool          // it was stopped at its first connection, after the deadline: nothing is written from then on
}

// maxReads bounds how often net/http may send a read in one attempt. Without a bound, it repeats a request for as long
// as a service resets each stream with PROTOCOL_ERROR.
const maxReads = 3

var (
	errRepeated = errors.New("the Transport began to send the request a second time, and was stopped; " +
		"if it was another request of the Transport, give that one a context of its own")
	errLate = fmt.Errorf("the request was stopped, because its time was over before it was written: %w",
		context.DeadlineExceeded)
	errReadTooOften = fmt.Errorf("the request was sent %d times and each time lost without a response", maxReads)
)

// context returns ctx with the trace in it. The trace calls cancel, which must end ctx, to stop the request.
func (t *writeTrace) context(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:          func(string) { t.note(&t.gettingConn) },
		GotConn:          t.foundConn,
		WroteHeaderField: t.wroteField,
		WroteHeaders:     func() { t.note(&t.wrote) },
		WroteRequest:     func(httptrace.WroteRequestInfo) { t.note(&t.wrote) },
	})
}

// note may be called under a lock of net/http.
func (t *writeTrace) note(happened *bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*happened = *happened || !t.shut
}

// late reports whether the deadline has passed by the monotonic clock or by the wall clock. The monotonic clock stands
// still while the machine is suspended.
func (t *writeTrace) late() bool {
	now := time.Now()
	return !t.deadline.IsZero() && (!now.Before(t.deadline) || !now.Round(0).Before(t.deadline.Round(0)))
}

// bodyTime is how long a connection for another request may have to wait until the body of this one is read. net/http
// reads it right after it has written the header.
const bodyTime = 100 * time.Millisecond

// foundConn stops a request whose deadline has passed, or that was sent as often as it may be, unless its body was read
// since: then the connection is for another request. HTTP/2 may repeat a request without a call of GetConn, on a
// connection made for another call. A connection without a remote address belongs to a rehearsal.
func (t *writeTrace) foundConn(info httptrace.GotConnInfo) {
	onNetwork := info.Conn != nil && info.Conn.RemoteAddr() != nil
	t.mu.Lock()
	first, late, again := !t.connFree && t.headers == 0, onNetwork && t.late(), onNetwork && t.sent >= t.most
	t.gotConn, t.connFree, t.shut = true, onNetwork, t.shut || late && first
	http2 := t.http2
	t.mu.Unlock()
	why := errRepeated
	switch {
	case late:
		why = errLate
	case !again:
		return
	case t.most > 1:
		why = errReadTooOften
	case t.bodyRead != nil:
		select {
		case <-t.bodyRead:
			return
		case <-time.After(bodyTime):
		}
	}
	t.stop(why)
	// HTTP/2 checks the context before it writes, HTTP/1.1 does not. Without TLS the protocol of a first connection is
	// not known, so it is closed.
	if secure, ok := info.Conn.(*tls.Conn); !http2 && !(ok && secure.ConnectionState().NegotiatedProtocol == "h2") {
		_ = info.Conn.Close()
	}
}

func (t *writeTrace) stop(why error) {
	t.mu.Lock()
	t.stopped = why
	t.mu.Unlock()
	t.cancel()
}

func (t *writeTrace) wroteField(name string, _ []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrote = t.wrote || !t.shut
	switch {
	case name == "Host" || name == ":authority": // the first field of a header in HTTP/1.1 and in HTTP/2
		if t.onNetwork, t.connFree = t.connFree, false; t.onNetwork {
			t.headers++
			t.http2 = name == ":authority"
		}
	case t.onNetwork && strings.EqualFold(name, "x-request-id"):
		t.sent++
	}
}

// fencedBody is a request's body, which cannot be read after the deadline. Its last byte has a Read of its own: a large
// part that was read just before the process was suspended is not the end of the request. A Read is noted: it may be for
// a log, for a copy that is sent unseen, or to write the body.
type fencedBody struct {
	rest  *bytes.Reader
	trace *writeTrace
}

func (b *fencedBody) Close() error { return nil }

func (b *fencedBody) Read(p []byte) (int, error) {
	b.trace.readBody()
	if b.trace.late() {
		return 0, errLate
	}
	if last := b.rest.Len() - 1; last > 0 {
		p = p[:min(len(p), last)]
	}
	return b.rest.Read(p)
}

func (t *writeTrace) readBody() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.copied = t.copied || !t.shut
	if t.sent == 0 {
		return
	}
	select {
	case <-t.bodyRead:
	default:
		close(t.bodyRead)
	}
}

// goAwayText is the error of net/http in Go 1.26 for a request with a body whose stream is above the last one that a
// GOAWAY names. The service did not process such a stream (RFC 9113, section 6.8).
const goAwayText = "http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] " +
	"after Request.Body was written" + bodyAdvice

// bodyAdvice is the end of errors of net/http. It is for whoever made the request.
const bodyAdvice = "; define Request.GetBody to avoid this error"

// judge adds to an outcome what the trace found out. Its ctx is that of the attempt.
//
// There are two proofs that the service did not accept the request. One is goAwayText, if no other request was sent. The
// other is that nothing was written. The transport reported that it looked for a connection, so it reports what it does;
// and it got none (resolving, dialling or the TLS handshake failed), or got one and wrote nothing, as after errLate. A
// transport that was stopped by a context after it got a connection proves nothing: its write loop may still run. Nor does a transport that
// may have a copy of the request's contents, and may have sent that without a trace.
func (t *writeTrace) judge(ctx context.Context, out Outcome) Outcome {
	if out.Err == nil {
		return out
	}
	ended := ctx.Err() != nil || errors.Is(out.Err, context.Canceled) || errors.Is(out.Err, context.DeadlineExceeded)
	t.mu.Lock()
	defer t.mu.Unlock()
	nothingWritten := t.gettingConn && !t.wrote && !t.copied && (t.shut || !t.gotConn || !ended)
	wentAway := t.headers == 1 && t.sent == 1 && out.Err.Error() == goAwayText
	out.unaccepted = out.Status == 0 && (nothingWritten || wentAway)
	switch {
	case t.stopped != nil:
		out.Err = t.stopped
	case t.gettingConn && !t.gotConn && isReasonPhrase(out.Err.Error()):
		out.Err = fmt.Errorf("the proxy refused to connect to the service: %w", out.Err)
	}
	return out
}

// isReasonPhrase reports whether text is that of a status. net/http returns nothing else of a CONNECT that was refused.
func isReasonPhrase(text string) bool {
	for status := 300; status < 600; status++ {
		if text != "" && text == http.StatusText(status) {
			return true
		}
	}
	return false
}
