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
	"sync/atomic"
	"time"
)

const (
	maxAnswer = 32 << 20 // of a success
	maxError  = 64 << 10 // of any other body, and of what is read past either to keep the connection
)

// Attempt is what [Options.OnAttempt] gets: one request and what came of it. It holds no input, body or secret.
type Attempt struct {
	Operation Operation
	// RequestID is the x-request-id, the same for all attempts of a call.
	RequestID string
	// Number counts the attempts of a call from 1.
	Number int
	// StatusCode is 0 when there was no answer.
	StatusCode int
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
		traced := req.WithContext(ctx)
		if r.class == notRepeatable {
			traced = trace.watch(traced)
		}
		out = r.exchange(traced)
		out.unwritten = out.err != nil && out.status == 0 && trace.nothingWritten(ctx, out.err)
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
	req.Header = r.c.header(r)
	resp, err := r.c.transport.RoundTrip(req)
	if err == nil && (resp == nil || resp.StatusCode == 0) { // easily written in a scripted one
		err = errors.New("the Transport returned neither an answer with a status nor an error")
	}
	if err != nil {
		if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
			err = urlErr.Err // its text holds the URL with the query
		}
		return outcome{err: err}
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
type writeTrace struct{ gettingConn, gotConn, wrote atomic.Bool }

// watch returns the request with the trace in it, for a transport to send.
func (t *writeTrace) watch(req *http.Request) *http.Request {
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:          func(string) { t.gettingConn.Store(true) },
		GotConn:          func(httptrace.GotConnInfo) { t.gotConn.Store(true) },
		WroteHeaderField: func(string, []string) { t.wrote.Store(true) },
		WroteHeaders:     func() { t.wrote.Store(true) },
		WroteRequest:     func(httptrace.WroteRequestInfo) { t.wrote.Store(true) },
	}))
	forbidReplay(req)
	if req.Body != nil {
		req.Body = watchedBody{req.Body, t}
	}
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

// forbidReplay keeps net/http from repeating the request on its own after a lost connection, which it does for a GET (to
// which Options.Endpoints may turn a reminder) unless there is a body that it cannot rewind. An empty one will do: of a GET
// it looks for the first byte, and then sends none.
func forbidReplay(req *http.Request) {
	req.GetBody = nil
	if req.Method == http.MethodGet {
		req.Body = io.NopCloser(io.MultiReader())
	}
}

// nothingWritten is true only on positive proof: the transport told of looking for a connection, so it reports what it
// does, and either never got one (resolving, dialling or the TLS handshake came to nothing) or got one and wrote nothing.
// A transport without trace events proves nothing. Nor does one that got a connection and was then stopped by a context,
// the attempt's or one of its own: its write loop may still be running.
func (t *writeTrace) nothingWritten(ctx context.Context, err error) bool {
	stopped := ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return t.gettingConn.Load() && !t.wrote.Load() && (!t.gotConn.Load() || !stopped)
}
