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

// decodedSize bounds what the records of an answer of n bytes may take: 7 times as much, which with the answer itself and
// the growth of its buffer stays within 12 times. Ordinary records take 1 to 2 times as much. Any answer may fill 64 KiB.
func decodedSize(n int) int { return max(7*n, 64<<10) }

// A verdict is what a 2xx says about itself beside its records. None of it is documented by the service; clients have met
// answers with status 200 that hold an error.
type verdict struct {
	Success    *bool           `json:"success"`
	Error      json.RawMessage `json:"error"`
	StatusCode int             `json:"statusCode"`
}

// failed reports an answer that contradicts its status.
func (v verdict) failed() bool {
	noError := []string{"", "null", "false", `""`, "0", "{}", "[]"}
	return v.Success != nil && !*v.Success || v.StatusCode >= 300 || !slices.Contains(noError, string(v.Error))
}

// read fills out from the answer of the last attempt, a 2xx.
func (r *run) read(out any) error {
	body := bytes.TrimSpace(r.last.body)
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
			return nil // what was made is there, whatever the answer says besides
		}
	}
	switch {
	case v.failed():
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

// verdict is what the last answer says about itself, if it is an object.
func (r *run) verdict() (v verdict) {
	_ = jsonfill.Object(r.last.body, decodedSize(len(r.last.body)), &v)
	return v
}

// A completer knows what its answer cannot do without, and says what of it is missing.
type completer interface{ missing(*run) string }

// messageOnly is a result of which nothing but a message is promised, so that no body or a text alone will do.
type messageOnly interface{ setMessage(string) }

// loneMessage reads an answer that is empty or one JSON string.
func loneMessage(body []byte) (message string, ok bool) {
	if len(body) == 0 {
		return "", true
	}
	if body[0] != '"' || json.Unmarshal(body, &message) != nil {
		return "", false
	}
	return message, true
}

// failure is the error of a 2xx that says that it failed.
func (r *run) failure() error {
	code, message := answerText(r.last)
	e := r.newError(true, code, message)
	if e.Message == "" || e.Message == "OK" {
		e.Message = "the answer says that it failed"
	}
	return e
}

// keysOf lists the keys of an object, for the text of an error.
func keysOf(answer []byte) (keys []string) {
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

// How many keys of an answer keysOf returns, and how much of each.
const (
	maxKeys = 12
	maxKey  = 32
)

// noList says what an answer without the list that was asked for has instead.
func noList(name string, answer []byte) string {
	keys := keysOf(answer)
	has := "it is empty"
	if len(keys) > 0 {
		has = "it has " + strings.Join(keys, ", ")
	}
	if slices.Contains(keys, name) {
		return fmt.Sprintf("its %s is null, and nothing in it says that there are none; %s", name, has)
	}
	return fmt.Sprintf("it has no %s, and nothing in it says that there are none; %s", name, has)
}
