package signforms

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	maxAnswer = 32 << 20 // of a success
	maxError  = 64 << 10 // of any other body, and of what is read past either to keep the connection
)

// Attempt is what [Options.OnAttempt] gets: one request and what came of it. It holds no input and no body, and
// printing it shows no secret.
type Attempt struct {
	Operation Operation
	// RequestID is the x-request-id, the same for all attempts of a call.
	RequestID string
	// Number counts the attempts of a call from 1.
	Number int
	// StatusCode is 0 when there was no answer.
	StatusCode int
	// Header is the answer's: it may tell the service's own request id, or what is left of a limit. It is nil when there was
	// no answer. It is shared with the call and must not be changed.
	Header RawHeader
	// Err tells why there was no answer, or why a success could not be read to its end: an [*Error] that matches its cause
	// and no sentinel. It is nil for any complete answer, also one that the call makes an error of.
	Err error
	// SlotWait is how long the attempt waited for a slot of the reminder budget; only reminders do.
	SlotWait time.Duration
	// Duration runs from the start of the attempt, after SlotWait, to the end of its answer.
	Duration time.Duration
}

// outcome is what is known after an attempt.
type outcome struct {
	status    int
	header    http.Header
	body      []byte
	err       error // no answer, or a success that could not be read to its end
	tooLarge  bool
	timedOut  bool // by AttemptTimeout, not by the caller's context
	unwritten bool // proof that nothing of the request was written
}

func (o outcome) success() bool { return o.status/100 == 2 && o.err == nil }

// attempt sends the request once and reads the whole answer, all before the deadline.
func (r *run) attempt(req *http.Request, deadline time.Time) outcome {
	ctx, cancel := context.WithDeadline(req.Context(), deadline)
	defer cancel()
	out := outcome{err: ctx.Err(), unwritten: true} // a slow limit store may have used up the attempt's time
	if out.err == nil {
		var trace writeTrace
		sent := req.WithContext(ctx)
		sent.Header = r.c.header(r)
		sendOnce(sent)
		if r.class == notRepeatable {
			sent = trace.watch(sent)
			defer trace.stop(nil)
		}
		out = r.exchange(sent)
		out.unwritten = out.err != nil && out.status == 0 && trace.nothingWritten(ctx, out.err)
		if cause := context.Cause(sent.Context()); out.err != nil && cause == errRepeated {
			out.err = cause
		}
	}
	if out.err != nil {
		out.timedOut = ctx.Err() != nil && req.Context().Err() == nil
		if err := req.Context().Err(); err != nil && !errors.Is(out.err, err) {
			out.err = errors.Join(err, out.err)
		}
	}
	return out
}

func (r *run) exchange(req *http.Request) outcome {
	transport := r.c.transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	resp, err := transport.RoundTrip(req)
	if err == nil && (resp == nil || resp.StatusCode == 0) { // easily written in a scripted one
		err = errors.New("the Transport returned neither an answer with a status nor an error")
	}
	if err != nil {
		if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
			err = urlErr.Err // its text holds the URL with the query
		}
		return outcome{err: withoutAdvice(err)}
	}
	out := outcome{status: resp.StatusCode, header: resp.Header}
	if resp.Body == nil { // as http.Client, be kind to scripted transports
		resp.Body = http.NoBody
	}
	if out.status < 200 { // a 101 hands over the connection: its body may never end, not even with the context
		resp.Body.Close()
		return out
	}
	limit := int64(maxError)
	if out.status/100 == 2 {
		limit = maxAnswer
	}
	out.body, err = readBody(resp, limit)
	switch {
	case out.status/100 != 2: // the status says enough, however much of the body came
		out.body = out.body[:min(int64(len(out.body)), limit)]
	case err != nil:
		out.err = err
	case int64(len(out.body)) > limit:
		out.err, out.tooLarge = fmt.Errorf("the answer is larger than %d MiB: ask for fewer records at once with Limit", maxAnswer>>20), true
	}
	return out
}

// withoutAdvice takes the reset or GOAWAY out of HTTP/2's advice to set Request.GetBody, which would let it repeat requests.
func withoutAdvice(err error) error {
	text := strings.TrimPrefix(err.Error(), "http2: Transport: cannot retry err [")
	if text, _, found := strings.Cut(text, "] after Request.Body was written"); found {
		return errors.New(text)
	}
	return err
}

// readBody reads up to limit+1 bytes, drains a little more so that the connection can be used again, and closes the body.
func readBody(resp *http.Response, limit int64) ([]byte, error) {
	defer resp.Body.Close()
	var buf bytes.Buffer
	buf.Grow(int(min(max(resp.ContentLength, 0), 1<<20)) + bytes.MinRead)
	_, err := buf.ReadFrom(io.LimitReader(resp.Body, limit+1))
	if err == nil {
		_, _ = io.CopyN(io.Discard, resp.Body, maxError) // an error here costs only the connection
	}
	return buf.Bytes(), err
}

// writeTrace finds out whether anything of a request was written: from net/http, and from the request's body. Its hooks
// may run while and after the transport returns.
type writeTrace struct {
	gettingConn, gotConn, wrote atomic.Bool
	stop                        context.CancelCauseFunc
}

// errRepeated is the cause when an attempt was cancelled because its request was about to be written again.
var errRepeated = errors.New("the Transport began to send the request a second time, and was stopped")

// watch returns the request with the trace in it, for a transport to send.
func (t *writeTrace) watch(req *http.Request) *http.Request {
	ctx, stop := context.WithCancelCause(req.Context())
	t.stop = stop
	req = req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { t.gettingConn.Store(true) },
		GotConn: func(httptrace.GotConnInfo) {
			if t.gotConn.Store(true); t.wrote.Load() {
				stop(errRepeated) // HTTP/2 looks at the context before it writes, HTTP/1.1 does not
			}
		},
		WroteHeaderField: func(string, []string) { t.wrote.Store(true) },
		WroteHeaders:     func() { t.wrote.Store(true) },
		WroteRequest:     func(httptrace.WroteRequestInfo) { t.wrote.Store(true) },
	}))
	req.Body = watchedBody{req.Body, t}
	return req
}

// watchedBody gives away a transport that tells of looking for a connection and then of nothing else: to write the
// request it reads the body. Reads before that are not told from copying or logging it.
type watchedBody struct {
	io.ReadCloser
	trace *writeTrace
}

func (b watchedBody) Read(p []byte) (int, error) {
	if b.trace.gettingConn.Load() {
		b.trace.wrote.Store(true)
	}
	return b.ReadCloser.Read(p)
}

// sendOnce keeps net/http from repeating the request on its own, which the retry policy would not see: on a connection that
// was lost (HTTP/1.1), and after a reset stream or GOAWAY (HTTP/2, without end where the code is PROTOCOL_ERROR). It
// repeats no request with a body that it cannot rewind, and an empty body is one.
func sendOnce(req *http.Request) {
	req.GetBody = nil
	if req.Body != nil {
		return
	}
	req.Body = emptyBody{}
	// Otherwise HTTP/1.1 would announce a body in chunks.
	req.TransferEncoding = []string{"identity"}
	switch req.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch:
		req.Header["content-length"] = []string{"0"} // net/http writes its own only for a length that it knows; HTTP/2 drops this one
	}
}

type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
func (emptyBody) Close() error             { return nil }

// nothingWritten is true only on positive proof: the transport told of looking for a connection, so it reports what it
// does, and either never got one (resolving, dialling or the TLS handshake came to nothing) or got one and wrote nothing.
// A transport without trace events proves nothing. Nor does one that got a connection and was then stopped by a context,
// the attempt's or one of its own: its write loop may still be running.
func (t *writeTrace) nothingWritten(ctx context.Context, err error) bool {
	stopped := ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return t.gettingConn.Load() && !t.wrote.Load() && (!t.gotConn.Load() || !stopped)
}
