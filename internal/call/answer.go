package call

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/jsonfill"
	"github.com/signforms/signforms-go/internal/jsonscan"
)

// statusClientClosed is what proxies such as nginx report when a request was cancelled.
const statusClientClosed = 499

// MayBeDone reports whether the service may have carried out a request although no readable success came back. A gateway
// answers its own time-out with a 5xx while the work goes on. So the only answer that rules it out is a 4xx other than 408 and
// 499, which a proxy gives when it cancelled a request that the service has.
// Without an answer, only the proof that nothing was written does.
func (o Outcome) MayBeDone() bool {
	refused := o.Status/100 == 4 && o.Status != http.StatusRequestTimeout && o.Status != statusClientClosed
	return !refused && !o.unwritten
}

// NoAnswer is the text of an error about an attempt that has an Err.
func (o Outcome) NoAnswer(timeout time.Duration) string {
	switch {
	case o.timedOut:
		return fmt.Sprintf("no complete answer within Options.AttemptTimeout, %s", timeout)
	case errors.Is(o.Err, context.Canceled):
		return context.Canceled.Error()
	case errors.Is(o.Err, context.DeadlineExceeded):
		return context.DeadlineExceeded.Error()
	case errors.Is(o.Err, io.ErrUnexpectedEOF):
		return "the answer broke off: " + o.Err.Error()
	case errors.Is(o.Err, io.EOF):
		return "the connection was closed before an answer came: " + o.Err.Error()
	}
	return o.Err.Error()
}

// byteOrderMark is what some servers write before an answer.
var byteOrderMark = []byte("\ufeff")

// Text returns the body without a byte order mark and white space around it.
func (o Outcome) Text() []byte { return bytes.TrimSpace(bytes.TrimPrefix(o.Body, byteOrderMark)) }

var codeText = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// Reason finds the code and message of an error's body. The message is the first of message, error, data.message and
// data.error, all of which clients have seen; that the code is in code is an assumption. A body that is not JSON is the message.
func (o Outcome) Reason() (code, message string) {
	var body struct {
		Code    string `json:"code" fill:"any"`
		Message string `json:"message" fill:"any"`
		Error   string `json:"error" fill:"any"`
		Data    struct {
			Message string `json:"message" fill:"any"`
			Error   string `json:"error" fill:"any"`
		} `json:"data"`
	}
	if _, err := o.Fill(&body); err != nil && !json.Valid(o.Text()) {
		message = string(o.Text())
	}
	if codeText.MatchString(body.Code) {
		code = body.Code
	}
	message = cmp.Or(body.Message, body.Error, body.Data.Message, body.Data.Error, message)
	message = message[:min(len(message), MaxError)] // a 2xx may have a body of 32 MiB
	return code, cmp.Or(strings.TrimSpace(message), http.StatusText(o.Status))
}

// LoneMessage reads an answer that is empty or a JSON string. ok is false for any other.
func (o Outcome) LoneMessage() (message string, ok bool) {
	answer := o.Text()
	if len(answer) == 0 {
		return "", true
	}
	if answer[0] != '"' || json.Unmarshal(answer, &message) != nil {
		return "", false
	}
	return message, true
}

// decodedSize is how much memory the records of an answer of n bytes may take: 7 times n. With the answer itself and the
// growth of its buffer that is at most 12 times n. Ordinary records take 1 to 2 times n. Small answers may take 64 KiB.
func decodedSize(n int) int { return max(7*n, 64<<10) }

// verdict holds the fields by which a 2xx may report a failure. None is documented by the service; clients have seen answers
// with status 200 and an error.
type verdict struct {
	Success    *bool           `json:"success"`
	Error      json.RawMessage `json:"error"`
	StatusCode int             `json:"statusCode"`
}

// failed reports whether the answer contradicts its status.
func (v verdict) failed() bool {
	noError := []string{"", "null", "false", `""`, "0", "{}", "[]"}
	return v.Success != nil && !*v.Success || v.StatusCode >= 300 || !slices.Contains(noError, string(v.Error))
}

// Fill fills targets, pointers to structs, from the answer. failed reports whether the answer contradicts its status. The error is
// that of jsonfill.
func (o Outcome) Fill(targets ...any) (failed bool, err error) {
	var v verdict
	err = jsonfill.Object(o.Text(), decodedSize(len(o.Body)), append(targets, &v)...)
	return v.failed(), err
}

// The bounds of Keys: the number of keys, and the bytes of each.
const (
	maxKeys    = 12
	maxKeyText = 32
)

// Keys lists the first keys of an object: at most maxKeys, each cut to maxKeyText bytes.
func (o Outcome) Keys() (keys []string) {
	answer := o.Text()
	s := jsonscan.New(answer)
	s.Next()
	s.Open()
	for first := true; len(keys) < maxKeys; first = false {
		key, more := s.Member(first)
		if !more {
			break
		}
		s.Skip()
		keys = append(keys, string(answer[key.Start:min(key.End, key.Start+maxKeyText)]))
	}
	return keys
}
