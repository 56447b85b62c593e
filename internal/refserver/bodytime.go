package refserver

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// bodyTime is how long the body of a request may take to arrive, from the first look at it.
	bodyTime = time.Minute

	// restTime is how long an answer waits for what no handler has read of the body, and restSize how much of that is read.
	restTime = 100 * time.Millisecond
	restSize = 256 << 10

	// lingerTime is how long the connection stays open after such an answer while nothing comes of the body, once in linger and once
	// in net/http; lingerSize is how much linger reads.
	lingerTime = 500 * time.Millisecond
	lingerSize = 32 << 20
)

// bodiesInTime ends requests whose body takes longer than bodyTime, whether a handler reads it or not. http.Server.ReadTimeout
// would also end the context of a handler that goes on for long after it has read everything.
//
// A body that no handler reads does not hold up the answer, as it does in net/http: see earlyWriter. The handler gets a copy of the
// request, because net/http looks at the body of its own one: after a large body that was not read it waits before it closes the
// connection, or the client would get a reset in place of the answer.
func bodiesInTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &timedBody{ReadCloser: r.Body, conn: http.NewResponseController(w), expects: r.Header.Get("Expect") != ""}
		own := r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
		own.Body = body
		defer body.within(lingerTime) // net/http reads what is left, even when a handler panics
		defer removeFiles(own)
		early := &earlyWriter{ResponseWriter: w, body: body}
		next.ServeHTTP(early, own)
		early.decide()
		early.linger()
	})
}

// bodyKey is the key of a request's timedBody in its context.
type bodyKey struct{}

// unreadBody returns the beginning of a body that no handler has read, as far as it had come when the request was answered, once.
func unreadBody(r *http.Request) []byte {
	if body, ok := r.Context().Value(bodyKey{}).(*timedBody); ok {
		defer func() { body.unread = bytes.Buffer{} }() // the connection may go on for long
		return body.unread.Bytes()
	}
	return nil
}

// removeFiles removes what an upload left on the disk.
func removeFiles(r *http.Request) {
	if r.MultipartForm != nil {
		r.MultipartForm.RemoveAll()
	}
}

// timedBody is a body that has to arrive in time.
type timedBody struct {
	io.ReadCloser
	conn    *http.ResponseController
	expects bool         // the client waits for 100 Continue, which the first Read sends
	unread  bytes.Buffer // what finish has read, if nobody had read anything

	mu    sync.Mutex // middleware may read in a goroutine of its own
	until time.Time  // zero: nobody has looked at the body
	over  bool       // the body has arrived, or the connection is no longer ours
}

func (b *timedBody) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() && !b.over {
		b.until = time.Now().Add(bodyTime)
		b.conn.SetReadDeadline(b.until)
	}
}

// within sets the time for what comes next of the body. It is never later than the end of bodyTime.
func (b *timedBody) within(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	deadline := time.Now().Add(d)
	if !b.until.IsZero() && b.until.Before(deadline) {
		deadline = b.until
	}
	b.conn.SetReadDeadline(deadline)
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.begin()
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.end()
	}
	return n, err
}

// Close reads part of what is left.
func (b *timedBody) Close() error {
	b.begin()
	return b.ReadCloser.Close()
}

func (b *timedBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.over = true
		b.conn.SetReadDeadline(time.Time{})
	}
}

// state reports whether anybody has looked at the body, and whether it has arrived.
func (b *timedBody) state() (begun, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.until.IsZero(), b.over
}

// finish reads the rest of the body if it is small and there, and reports whether the body has arrived.
func (b *timedBody) finish() bool {
	begun, over := b.state()
	if over || b.expects && !begun {
		return over
	}
	b.begin()
	b.within(restTime)
	to := io.Discard
	if !begun {
		to = &b.unread
	}
	io.CopyN(to, b, restSize+1)
	b.within(bodyTime)
	_, over = b.state()
	return over
}

// earlyWriter answers without waiting for a body that has not arrived. Such an answer ends the connection, because what still comes of
// the body must not be taken for the next request. Clients that send all before they read get it too: see linger.
type earlyWriter struct {
	http.ResponseWriter
	body    *timedBody
	decided bool
}

// decide decides, before the header is written, whether the connection goes on.
func (w *earlyWriter) decide() {
	if w.decided {
		return
	}
	w.decided = true
	if !w.body.finish() {
		w.Header().Set("Connection", "close")
	}
}

// linger reads on after an early answer while the body keeps coming: a client that sends all before it reads would get a reset in
// place of the answer. An answer without a Content-Length ends only after the handler, so it is left to net/http, which reads less.
func (w *earlyWriter) linger() {
	begun, over := w.body.state()
	if over || !begun || w.Header().Get("Content-Length") == "" {
		return
	}
	w.Flush()
	part := make([]byte, 32<<10)
	for left := lingerSize; left > 0; {
		w.body.within(lingerTime)
		n, err := w.body.Read(part)
		if err != nil {
			return
		}
		left -= n
	}
}

func (w *earlyWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.decide()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *earlyWriter) Write(p []byte) (int, error) {
	w.decide()
	return w.ResponseWriter.Write(p)
}

// Flush writes the header too.
func (w *earlyWriter) Flush() {
	w.decide()
	http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack hands the connection over, with what has not arrived of the body.
func (w *earlyWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.decided = true
		w.body.end()
	}
	return conn, buf, err
}

// Unwrap gives http.ResponseController the rest.
func (w *earlyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
