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

// writeTrace determines whether any byte of a request was written. It uses net/http's trace and
// observes the reads of the body. It also stops the request before it is sent too often, and after
// its deadline. So a process that was suspended in the middle of a send does not deliver the
// request when it resumes. The hooks of writeTrace may run after the transport has returned.
//
// Other requests that use the call's context report to the trace too. Such a request may fetch a
// token, for example. A rehearsal reports to it as well: httputil.DumpRequestOut, or Write of a
// clone. The trace cannot show for certain which request a write belongs to, because a transport
// may change the request and use connections of its own. So every write counts against the proof
// that nothing was written.
//
// Only a header with an x-request-id on a connection that has a remote address counts as sending
// the request.
type writeTrace struct {
	most     int // how often the request may be sent
	deadline time.Time
	cancel   context.CancelFunc // cancels the context of the request

	mu          sync.Mutex
	gettingConn bool
	gotConn     bool
	copied      bool // the transport may have a copy of the request: its body was read, or it has no body
	wrote       bool // any request wrote something
	connFree    bool // a connection with a remote address was found, and no header was begun since then
	onNetwork   bool // the header that was begun last is for such a connection
	http2       bool // and the connection uses HTTP/2
	headers     int  // how many headers were begun on such connections, and how many of these have an x-request-id
	sent        int
	bodyRead    chan struct{} // closed when the body was read after the request was sent, so that net/http cannot repeat it; nil if there is no body
	stopped     error         // why the request was stopped
	shut        bool          // the request was stopped at its first connection, after the deadline; nothing is written from then on
}

// maxReads is how often net/http may send a read in one attempt. Without this limit, net/http would
// repeat a request as long as a service resets each stream with PROTOCOL_ERROR.
const maxReads = 3

var (
	errRepeated = errors.New("the Transport began to send the request a second time, and was stopped; " +
		"if it was another request of the Transport, give that one a context of its own")
	errLate = fmt.Errorf("the request was stopped, because its time was over before it was written: %w",
		context.DeadlineExceeded)
	errReadTooOften = fmt.Errorf("the request was sent %d times and each time lost without a response", maxReads)
)

// context returns ctx with the trace in it. To stop the request, the trace calls cancel, which must
// end ctx.
func (t *writeTrace) context(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:          func(string) { t.note(&t.gettingConn) },
		GotConn:          t.foundConn,
		WroteHeaderField: t.wroteField,
		WroteHeaders:     func() { t.note(&t.wrote) },
		WroteRequest:     func(httptrace.WroteRequestInfo) { t.note(&t.wrote) },
	})
}

// note sets happened. net/http may hold a lock while it calls note.
func (t *writeTrace) note(happened *bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*happened = *happened || !t.shut
}

// late reports whether the deadline has passed by the monotonic clock or by the wall clock. The
// monotonic clock stops while the machine is suspended.
func (t *writeTrace) late() bool {
	now := time.Now()
	return !t.deadline.IsZero() && (!now.Before(t.deadline) || !now.Round(0).Before(t.deadline.Round(0)))
}

// bodyTime is how long a connection for another request waits at most for the body of this request
// to be read. net/http reads the body right after it has written the header.
const bodyTime = 100 * time.Millisecond

// foundConn stops a request whose deadline has passed, or that was already sent as often as
// allowed. If the body was read since the last send, the connection is for another request, and
// foundConn does not stop it. HTTP/2 may repeat a request without a call of GetConn, on a
// connection made for another call. A connection without a remote address belongs to a rehearsal.
func (t *writeTrace) foundConn(info httptrace.GotConnInfo) {
	onNetwork := info.Conn != nil && info.Conn.RemoteAddr() != nil
	t.mu.Lock()
	first, late, tooOften := !t.connFree && t.headers == 0, onNetwork && t.late(), onNetwork && t.sent >= t.most
	t.gotConn, t.connFree, t.shut = true, onNetwork, t.shut || late && first
	http2 := t.http2
	t.mu.Unlock()
	why := errRepeated
	switch {
	case late:
		why = errLate
	case !tooOften:
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
	// HTTP/2 checks the context before it writes, HTTP/1.1 does not. Without TLS, the protocol of a
	// new connection is not known yet, so the connection is closed.
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

// fencedBody is the body of a request, which cannot be read after the deadline. The last byte of
// the body is returned by a separate Read. So a large part that was read just before the process
// was suspended does not complete the request.
//
// Every Read is recorded, because it may be for a log, for a copy that is sent without a trace, or
// for the request itself.
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

// goAwayText is the error of net/http in Go 1.26 for a request with a body whose stream is above
// the last stream that a GOAWAY names. The service did not process such a stream (RFC 9113, section
// 6.8).
const goAwayText = "http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] " +
	"after Request.Body was written" + bodyAdvice

// bodyAdvice is the end of some errors of net/http. It addresses the code that made the request.
const bodyAdvice = "; define Request.GetBody to avoid this error"

// addEvidence adds the results of the trace to an outcome. ctx is the context of the attempt.
//
// There are two proofs that the service did not accept the request:
//
//   - The error is goAwayText, and no other request was sent.
//   - Nothing was written. The transport reported that it wanted a connection, so it reports its
//     work to the trace. It got no connection because resolving, dialling or the TLS handshake
//     failed; or it got a connection and wrote nothing, as after errLate.
//
// Two cases prove nothing. If a context stopped the transport after it got a connection, its write
// loop may still run. If the transport may have a copy of the request, it may have sent the copy
// without a trace.
func (t *writeTrace) addEvidence(ctx context.Context, out Outcome) Outcome {
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

// isReasonPhrase reports whether text is the reason phrase of a status. If a proxy refuses a
// CONNECT, net/http returns only that phrase.
func isReasonPhrase(text string) bool {
	for status := 300; status < 600; status++ {
		if text != "" && text == http.StatusText(status) {
			return true
		}
	}
	return false
}
