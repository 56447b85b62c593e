package signforms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/internal/jsonfill"
	"github.com/signforms/signforms-go/internal/jsonscan"
)

// decodedSize is how much memory the records of an answer of n bytes may take: 7 times n. With the answer itself and the
// growth of its buffer that is at most 12 times n. Ordinary records take 1 to 2 times n. Small answers may take 64 KiB.
func decodedSize(n int) int { return max(7*n, 64<<10) }

// A verdict holds the fields by which a 2xx may report a failure. None is documented by the service; clients have seen
// answers with status 200 and an error.
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

// read fills out from the answer of the last attempt, a 2xx.
func (r *run) read(out any) error {
	body := r.last.text()
	if m, ok := out.(messageOnly); ok {
		if message, alone := loneMessage(body); alone {
			m.setMessage(message)
			return nil
		}
	}
	var v verdict
	err := jsonfill.Object(body, decodedSize(len(r.last.body)), out, &v)
	missing := ""
	if c, ok := out.(completer); ok && err == nil {
		if missing = c.missing(r); missing == "" && r.call.op == OpSend {
			return nil // the document was created, whatever else the answer says
		}
	}
	switch {
	case v.failed():
		if a, ok := out.(action); ok && a.decided() {
			return nil // perform asks for the ruling
		}
		return r.failure()
	case errors.Is(err, jsonfill.ErrNotObject):
		return r.unreadable("it is not a JSON object: check the base URL")
	case err != nil:
		return r.unreadable(err.Error())
	case missing != "":
		return r.unreadable(missing)
	}
	return nil
}

// verdict reads the verdict of the last answer; it is zero when the answer is not an object.
func (r *run) verdict() (v verdict) {
	_ = jsonfill.Object(r.last.text(), decodedSize(len(r.last.body)), &v)
	return v
}

// A completer says what its answer lacks; empty when it has all it needs.
type completer interface{ missing(*run) string }

// An action is an answer that may be no success although its status is one.
type action interface {
	ruling() ruling
	// decided reports whether ruling tells the outcome although the answer also says that it failed.
	decided() bool
	// reason is the text of an error.
	reason() string
}

// messageOnly is a result with nothing but an optional message, so an empty body or a JSON string is a success.
type messageOnly interface{ setMessage(string) }

// loneMessage reads an answer that is empty or a JSON string. ok is false for any other.
func loneMessage(body []byte) (message string, ok bool) {
	if len(body) == 0 {
		return "", true
	}
	if body[0] != '"' || json.Unmarshal(body, &message) != nil {
		return "", false
	}
	return message, true
}

// failure is the error of a 2xx that reports a failure.
func (r *run) failure() error {
	code, message := answerText(r.last)
	e := r.newError(true, code, message)
	if e.Message == "" || e.Message == "OK" {
		e.Message = "the answer says that it failed"
	}
	return e
}

// keysOf lists the first keys of an object: at most maxKeys, each cut to maxKey bytes.
func keysOf(answer []byte) (keys []string) {
	answer = bytes.TrimPrefix(answer, byteOrderMark)
	s := jsonscan.New(answer)
	s.Next()
	s.Open()
	for first := true; len(keys) < maxKeys; first = false {
		key, more := s.Member(first)
		if !more {
			break
		}
		s.Skip()
		keys = append(keys, string(answer[key.Start:min(key.End, key.Start+maxKey)]))
	}
	return keys
}

// The bounds of keysOf: the number of keys, and the bytes of each.
const (
	maxKeys = 12
	maxKey  = 32
)

// noList says that an answer lacks its list, and what it has instead.
func noList(name string, answer []byte) string {
	keys := keysOf(answer)
	has := "it is empty"
	if len(keys) > 0 {
		has = "it has " + strings.Join(keys, ", ")
	}
	if slices.Contains(keys, name) {
		return fmt.Sprintf("its %s is null or {}, and nothing in it says that there are none; %s", name, has)
	}
	return fmt.Sprintf("it has no %s, and nothing in it says that there are none; %s", name, has)
}
