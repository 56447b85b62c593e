package call

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The limits of reading a response, in bytes: the body of a success, any other body, and the rest
// that is read so that the connection can be reused.
const (
	maxAnswer = 32 << 20
	MaxError  = 64 << 10
)

// header makes a header for each attempt, because a transport may add to the header and may still
// read it after it has returned.
func (s *callState) header() http.Header {
	values := []string{"application/json", s.UserAgent, s.Key.Reveal(), s.ID}
	h := http.Header{
		"Accept":       values[0:1:1],
		"User-Agent":   values[1:2:2],
		"X-Api-Key":    values[2:3:3],
		"X-Request-Id": values[3:4:4], // not documented by the service, which may ignore it
	}
	if s.Body != nil {
		h["Content-Type"] = []string{"application/json"}
	}
	if s.Class == Safe {
		h["Cache-Control"] = []string{"no-cache"}
	}
	if s.WorkspaceID != "" {
		h["Workspaceid"] = []string{s.WorkspaceID}
	}
	return h
}

// exchange passes the request to the transport and reads the response. The returned response has an
// empty body.
func (s *callState) exchange(req *http.Request) (Outcome, *http.Response) {
	transport := s.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	resp, err := transport.RoundTrip(req)
	if err == nil && (resp == nil || resp.StatusCode == 0) { // a common error in a fake transport
		err = errors.New("the Transport returned neither a response with a status nor an error")
	}
	if err != nil {
		if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
			err = urlErr.Err // the text of urlErr contains the URL with the query
		}
		return Outcome{Err: err}, nil
	}
	out := Outcome{Status: resp.StatusCode, Header: resp.Header}
	body := resp.Body
	if resp.Body = http.NoBody; body == nil { // http.Client accepts a nil body from a fake transport too
		body = http.NoBody
	}
	if out.Status < 200 { // a 101 hands over the connection, so its body may never end, not even with the context
		body.Close()
		return out, resp
	}
	limit := int64(MaxError)
	if out.Status/100 == 2 {
		limit = maxAnswer
	}
	out.Body, err = readBody(body, resp.ContentLength, limit)
	switch {
	case out.Status/100 != 2: // the status is sufficient, even if the body is incomplete
		out.Body = out.Body[:min(int64(len(out.Body)), limit)]
	case err != nil:
		out.Err = err
	case int64(len(out.Body)) > limit:
		out.Err, out.tooLarge = fmt.Errorf("the response is larger than %d MiB: request fewer records with Limit", maxAnswer>>20), true
	}
	return out, resp
}

// NoAnswerText returns the text of an error for an outcome with an Err.
func (o Outcome) NoAnswerText(timeout time.Duration) string {
	switch {
	case o.timedOut:
		return fmt.Sprintf("no complete response within Options.AttemptTimeout, %s", timeout)
	case errors.Is(o.Err, errLate):
		return errLate.Error()
	case errors.Is(o.Err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(o.Err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	case errors.Is(o.Err, io.ErrUnexpectedEOF), errors.Is(o.Err, io.EOF):
		return "the connection was closed before the whole response arrived: " + o.Err.Error()
	}
	return strings.TrimSuffix(o.Err.Error(), bodyAdvice)
}

// readBody reads up to limit+1 bytes, drains a little more so that the connection can be reused, and closes the body.
func readBody(body io.ReadCloser, announced, limit int64) ([]byte, error) {
	defer body.Close()
	var buf bytes.Buffer
	buf.Grow(int(min(max(announced, 0), 1<<20)) + bytes.MinRead)
	_, err := buf.ReadFrom(io.LimitReader(body, limit+1))
	if err == nil && int64(buf.Len()) > limit {
		_, _ = io.CopyN(io.Discard, body, MaxError) // after an error here, only the connection is lost
	}
	return buf.Bytes(), err
}
