package signforms

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	maxAnswer = 32 << 20 // bytes of a success's body
	maxError  = 64 << 10 // bytes of any other body, and of the rest that is read to keep the connection
)

// Attempt describes one request and its result, for [Options.OnAttempt]. It has no inputs and no body, and printing it shows
// no secret.
type Attempt struct {
	Operation Operation
	// RequestID is the x-request-id, the same for all attempts of a call.
	RequestID string
	// Number counts the attempts of a call from 1.
	Number int
	// StatusCode is 0 when there was no answer.
	StatusCode int
	// Header is the answer's header, which may have the service's own request id or the rest of a limit. It is nil when there
	// was no answer. It is shared with the call and must not be changed.
	Header RawHeader
	// Err says why there was no answer, or why a 2xx could not be read to its end. It is an [*Error] that matches its cause
	// and no sentinel. It is nil after any complete answer, even one for which the call returns an error.
	Err error
	// SlotWait is how long a reminder waited for a slot of the reminder budget.
	SlotWait time.Duration
	// Duration runs from the start of the attempt, after SlotWait, to the call of OnAttempt, right after the end of the answer.
	// For a reminder it includes the time that the LimitStore takes to give the slot and to hear of the outcome.
	Duration time.Duration
}

// outcome is the result of an attempt.
type outcome struct {
	status    int
	header    http.Header
	body      []byte
	err       error // no answer, or a success that could not be read to its end
	tooLarge  bool
	timedOut  bool // by AttemptTimeout, not by the caller's context
	unwritten bool // proof that nothing of the request was written
}

// byteOrderMark is what some servers write before an answer.
var byteOrderMark = []byte("\ufeff")

// text returns the body without a byte order mark and white space around it.
func (o outcome) text() []byte { return bytes.TrimSpace(bytes.TrimPrefix(o.body, byteOrderMark)) }

func (o outcome) success() bool { return o.status/100 == 2 && o.err == nil }

// withoutAdvice cuts an error of HTTP/2 down to the reset or GOAWAY that it reports. The rest of its text advises to set
// Request.GetBody, which would let net/http repeat requests.
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
	if err == nil && int64(buf.Len()) > limit {
		_, _ = io.CopyN(io.Discard, resp.Body, maxError) // an error here costs only the connection
	}
	return buf.Bytes(), err
}
