package queue

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

// retryAfter is the Retry-After of a 503, in seconds.
const retryAfter = "10"

// Handler returns the handler that receives deliveries. The response is a JSON object {"status":
// …}:
//
//	200 ok                  every event is stored and durable; also for []
//	200 duplicate           every event was received before
//	400 invalid_payload     genuine, but not a JSON object or an array
//	503 unavailable         the store is full, failed, or did not report its commit within 2 seconds; with Retry-After.
//	                        In the last two cases the delivery may be stored: another one of it is then a duplicate
//
// It also responds with 401, 405, 408, 413 and 415 as [webhook.Handler] does, but never with 500.
// An element that is not an object, or that has no known type, is stored as a
// [webhook.UnknownEvent]. A 503 is logged and reported to [Options.OnReceived]; the service does
// not document whether it delivers again after a 503. Handler panics if v is nil.
func (q *Queue) Handler(v *webhook.Verifier) http.Handler {
	if v == nil {
		panic("queue: Handler: no Verifier: make one with webhook.NewVerifier")
	}
	inner := v.Middleware(&webhook.MiddlewareOptions{Logger: q.Logger})(http.HandlerFunc(q.serveVerified))
	if q.OnReceived == nil {
		return inner
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := &observed{ResponseWriter: w, begun: time.Now(), tell: q.received, ctx: r.Context()}
		inner.ServeHTTP(o, r)
	})
}

func (q *Queue) received(ctx context.Context, got Received) {
	q.hook("OnReceived", func() { q.OnReceived(ctx, got) })
}

// hook calls a hook. If the hook panics or ends its goroutine, hook logs that, and nothing else
// changes.
func (q *Queue) hook(name string, call func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		returned := false
		defer func() {
			if p := recover(); !returned {
				q.Logger.LogAttrs(context.Background(), slog.LevelError, "queue: a hook did not return", slog.String("hook", name),
					slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
			}
		}()
		call()
		returned = true
	}()
	<-ended
}

// observed calls the hook OnReceived with the response before the response is sent.
type observed struct {
	http.ResponseWriter
	ctx   context.Context
	begun time.Time
	got   Received
	tell  func(context.Context, Received)
}

func (o *observed) WriteHeader(status int) {
	o.got.Status, o.got.Duration = status, time.Since(o.begun)
	o.tell(o.ctx, o.got)
	o.ResponseWriter.WriteHeader(status)
}

// Receive receives one delivery without net/http, and returns the status and the JSON object of the
// response, as [Queue.Handler] sends them. The argument body is the body as the sender sent it; if
// your platform encodes it in base64, decode it first. Build the header with [http.Header.Add];
// Receive uses only X-Signature and X-Timestamp. If the status is 503, add a Retry-After header.
//
// The delivery is stored even if ctx is cancelled meanwhile. The caller may use body again when
// Receive returns. Receive panics if v is nil.
func (q *Queue) Receive(ctx context.Context, v *webhook.Verifier, header http.Header, body []byte) (status int, answer []byte) {
	h, known := q.handlers.Load(v)
	if !known {
		h, _ = q.handlers.LoadOrStore(v, q.Handler(v)) // one handler for all deliveries, because it limits the lines in the log
	}
	r := &http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: "/"}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}
	for _, name := range []string{webhook.SignatureHeader, webhook.TimestampHeader} {
		r.Header[name] = header[name]
	}
	w := &answered{header: http.Header{}}
	h.(http.Handler).ServeHTTP(w, r.WithContext(ctx))
	return w.status, w.body.Bytes()
}

// answered records a response.
type answered struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answered) Header() http.Header         { return a.header }
func (a *answered) WriteHeader(status int)      { a.status = status }
func (a *answered) Write(p []byte) (int, error) { return a.body.Write(p) }

// serveVerified responds to a genuine delivery.
func (q *Queue) serveVerified(w http.ResponseWriter, r *http.Request) {
	events, err := webhook.EventsFromContext(r.Context())
	if err != nil {
		q.Logger.LogAttrs(r.Context(), slog.LevelWarn, "queue: delivery refused", slog.String("error", err.Error()))
		answer(w, receipt{}, err, http.StatusBadRequest, "invalid_payload")
		return
	}
	// A complete delivery is stored even if the sender closes the connection, so that no repeat is
	// needed.
	got, err := q.store(context.WithoutCancel(r.Context()), events)
	switch {
	case err != nil:
		q.unavailable(w, r, err)
	case got.duplicates > 0 && got.stored+got.redriven == 0:
		answer(w, got, nil, http.StatusOK, "duplicate")
	default:
		answer(w, got, nil, http.StatusOK, "ok")
	}
}

func (q *Queue) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	q.count.refused.Add(1)
	q.Logger.LogAttrs(r.Context(), slog.LevelError, "queue: it is unknown whether a delivery was stored, responded with 503", slog.String("error", err.Error()))
	w.Header()["Retry-After"] = []string{retryAfter}
	answer(w, receipt{}, err, http.StatusServiceUnavailable, "unavailable")
}

func answer(w http.ResponseWriter, got receipt, err error, status int, word string) {
	if o, ok := w.(*observed); ok {
		o.got = Received{Stored: got.stored, Duplicates: got.duplicates, Redriven: got.redriven, Err: err}
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(status)
	io.WriteString(w, `{"status":"`+word+`"}`)
}
