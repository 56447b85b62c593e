package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

// refusal is the reason why a request is not processed, and the answer to the sender. All requests that fail verification
// get the same answer.
type refusal struct {
	answer answer
	err    error
	unread bool // not the whole body was read
}

// write answers over HTTP/1 at once: a server that is to keep the connection waits for the rest of the body first, which
// may never arrive.
func (f *refusal) write(w http.ResponseWriter, r *http.Request, retryAfter time.Duration) {
	if f.unread && r.ProtoMajor == 1 {
		w.Header()["Connection"] = []string{"close"}
	}
	f.answer.write(w, retryAfter)
}

var (
	errMethod = errors.New("webhook: request method is not POST; if the request is a delivery, a redirect changed " +
		"the method: give the service the URL that the redirect leads to")
	errMediaType = errors.New("webhook: request has no Content-Type of application/json, or more than one; " +
		"if the request is a delivery, something on the way changed it")
	errEncoding = errors.New("webhook: request body has a Content-Encoding, but what was signed has none: " +
		"decompress it before this handler and remove the header")
	errBodyCutShort = errors.New("webhook: request body is incomplete: the sender hung up, http.Server.ReadTimeout " +
		"passed, or what wraps the body returns neither bytes nor an error")
)

// refuse returns the refusal for an error of Verify or Parse.
func refuse(err error) *refusal {
	switch {
	case errors.Is(err, ErrNoSecret):
		return &refusal{answer: answerFailed, err: err}
	case errors.Is(err, ErrTooLarge):
		return &refusal{answer: answerTooLarge, err: err}
	case errors.Is(err, ErrPayload):
		return &refusal{answer: answerPayload, err: err}
	}
	return &refusal{answer: answerUnauthorized, err: err}
}

// receive checks a request up to its signature and timestamp, cheap checks first: a request that cannot be genuine is
// refused before its body is read. Nobody else has the Payload.
func (v *Verifier) receive(r *http.Request) (Verified, *refusal) {
	c, refused := v.checkHeader(r)
	var body []byte
	if refused == nil {
		body, refused = v.readBody(r)
	}
	if refused != nil {
		refused.unread = r.ContentLength != 0
		return Verified{}, refused
	}
	verified, err := v.verify(&c, body)
	if err == ErrSignature && int64(len(body)) < r.ContentLength {
		err = errBodyConsumed
	}
	if err != nil {
		return Verified{}, refuse(err)
	}
	return verified, nil
}

func (v *Verifier) checkHeader(r *http.Request) (c claim, refused *refusal) {
	switch {
	case !v.usable():
		return c, refuse(ErrNoSecret)
	case r.Method != http.MethodPost:
		return c, &refusal{answer: answerMethod, err: errMethod}
	case !isJSON(r.Header["Content-Type"]):
		return c, &refusal{answer: answerMediaType, err: errMediaType}
	case !isIdentity(r.Header["Content-Encoding"]):
		return c, &refusal{answer: answerMediaType, err: errEncoding}
	case r.ContentLength > int64(v.maxBody):
		return c, refuse(v.tooLarge)
	}
	if err := v.readClaim(&c, r.Header); err != nil {
		return c, refuse(err)
	}
	return c, nil
}

// maxMediaType bounds the Content-Type header: parsing a megabyte of parameters costs more than hashing it.
const maxMediaType = 256

// isJSON reports whether there is one Content-Type and it is application/json, with any parameters. Types that end in
// +json are refused: the service does not send them.
func isJSON(values []string) bool {
	if len(values) != 1 || len(values[0]) > maxMediaType {
		return false
	}
	if values[0] == "application/json" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(values[0])
	return err == nil && mediaType == "application/json"
}

// isIdentity reports whether there is no Content-Encoding other than "identity". A compressed body is not what was signed,
// and decompressing an unauthenticated body could cost any amount of memory.
func isIdentity(values []string) bool {
	for _, value := range values {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return false
			}
		}
	}
	return true
}

const (
	firstRead     = 2 << 10  // the memory of a body of which nothing has arrived
	announcedRead = 64 << 10 // what a Content-Length may allocate once that is full
	maxEmptyReads = 100
)

// readBody reads a request's body. Memory follows the bytes that have arrived, not the Content-Length.
func (v *Verifier) readBody(r *http.Request) ([]byte, *refusal) {
	if r.Body == nil {
		return nil, nil
	}
	// One more than the length, so that the end of the body is seen without growing.
	length := min(r.ContentLength, announcedRead) + 1
	if length == 0 {
		length = firstRead
	}
	body := make([]byte, 0, min(length, firstRead))
	for empty := 0; empty < maxEmptyReads; empty++ {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, max(length, 2*int64(len(body)))), body...)
		}
		n, err := r.Body.Read(body[len(body):min(cap(body), v.maxBody+1)])
		body = body[:len(body)+n]
		switch {
		case len(body) > v.maxBody:
			return nil, refuse(v.tooLarge)
		case err != nil:
			return body, unfinished(err)
		case n > 0:
			empty = -1
		}
	}
	return nil, &refusal{answer: answerCutShort, err: errBodyCutShort}
}

// unfinished distinguishes the end of a body, for which it returns nil, from other reasons why reading stopped.
func unfinished(err error) *refusal {
	if err == io.EOF || errors.Is(err, http.ErrBodyReadAfterClose) {
		return nil
	}
	if e, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return refuse(fmt.Errorf("%w: more than the %d bytes that an http.MaxBytesReader before this handler lets through",
			ErrTooLarge, e.Limit))
	}
	return &refusal{answer: answerCutShort, err: errBodyCutShort}
}

// refusals reports the deliveries that a handler or middleware refuses.
type refusals struct {
	log     *slog.Logger
	onError func(context.Context, error)

	strangers, genuine lineLimit // separate, so that forged requests cannot hide the lines about a wrong clock
}

func (f *refusals) tell(ctx context.Context, refused *refusal) {
	if f == nil {
		f = &refusals{log: slog.Default()} // of a zero Handler
	}
	if f.onError != nil {
		f.onError(ctx, &RefusedError{Status: refused.answer.status, Err: refused.err})
	}
	limit := &f.strangers
	if errors.Is(refused.err, ErrTimestamp) || errors.Is(refused.err, ErrPayload) {
		limit = &f.genuine
	}
	level := slog.LevelWarn
	shown, hidden := limit.take()
	if !shown {
		level = slog.LevelDebug
	}
	if !f.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.Int("status", refused.answer.status), slog.String("error", refused.err.Error())}
	if hidden > 0 {
		attrs = append(attrs, slog.Int("at_debug_before", hidden))
	}
	f.log.LogAttrs(ctx, level, "webhook: request refused", attrs...)
}

// linesPerMinute is how many refusals of a kind are logged at warn level in a minute. Further ones are at debug level.
const linesPerMinute = 5

// lineLimit counts log lines by the minute.
type lineLimit struct {
	mu     sync.Mutex
	begun  time.Time // of the minute
	lines  int       // in this minute
	hidden int       // lines over the limit since the last one within it
}

// take reports whether a line is within the limit and, if so, how many were over it since the last such line.
func (l *lineLimit) take() (shown bool, hidden int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if since := now.Sub(l.begun); since < 0 || since >= time.Minute {
		l.begun, l.lines = now, 0
	}
	if l.lines++; l.lines > linesPerMinute {
		l.hidden++
		return false, 0
	}
	hidden, l.hidden = l.hidden, 0
	return true, hidden
}
