package signforms

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/internal/call"
)

// This file decides what a 2xx response means for a void, a reminder, and the send of a form, which
// return no record. The fields of the response decide. A text only makes the outcome doubtful. The
// exception is the one documented sentence: "already void".

// ruling is the meaning of a 2xx response to a void or reminder. Only fields can mean a refusal.
type ruling int

const (
	wasDone    ruling = iota
	hasFailed         // the response reports a failure, without further details
	inDoubt           // a word in a text may mean that nothing was executed
	wasRefused        // a field means a refusal
)

// readFormSend fills res. The service returns no id of the sent form. So a text that may report a
// failure makes the outcome unknown, as for a reminder.
func (r *response) readFormSend(res *FormSendResult) error {
	var w wireAction
	if err := r.readRecord(&w, nil); err != nil {
		return err
	}
	res.Message = w.message()
	if w.doubts() {
		return r.newError("", w.message())
	}
	return nil
}

// readAction fills w from an object, an empty response or a JSON string. It returns the error for
// the ruling of rule.
func (r *response) readAction(w *wireAction, rule func(w *wireAction, failed bool) ruling) error {
	failed, err := w.fill(r.outcome)
	switch {
	case err != nil && failed:
		return r.failure()
	case err != nil:
		return r.unreadable(err, nil)
	}
	switch rule(w, failed) {
	case hasFailed:
		return r.failure()
	case wasRefused:
		return r.errorOf(ErrRefused, w.errorText())
	case inDoubt:
		return r.newError("", w.errorText())
	}
	return nil
}

// actionFields are the fields of a response to a void or reminder. The service documents only the
// message.
type actionFields struct {
	Message       string         `json:"message"`
	Error         string         `json:"error"`
	Status        DocumentStatus `json:"status"`
	RemindersSent *int           `json:"remindersSent"`
}

// wireAction is a response to a void or reminder. Clients have observed messages below data.
type wireAction struct {
	actionFields
	Data actionFields `json:"data"`
}

// fill fills w. An empty response or a JSON string is a success too.
func (w *wireAction) fill(o call.Outcome) (failed bool, err error) {
	body := text(o)
	if len(body) == 0 || body[0] == '"' && json.Unmarshal(body, &w.Message) == nil {
		return false, nil
	}
	return fill(o, w)
}

// message returns the beginning of the service's text, which is the part that is searched.
func (w *wireAction) message() string {
	return beginning(cmp.Or(w.Message, w.Error, w.Data.Message, w.Data.Error))
}

func beginning(text string) string { return text[:min(len(text), call.MaxSearched)] }

func (w *wireAction) status() DocumentStatus { return cmp.Or(w.Status, w.Data.Status).normal() }

func (w *wireAction) remindersSent() *int { return cmp.Or(w.RemindersSent, w.Data.RemindersSent) }

// knownStatus returns the status as one of the constants, or "" where it is another word, such as "success".
func (w *wireAction) knownStatus() DocumentStatus {
	for _, s := range []DocumentStatus{w.Status, w.Data.Status} {
		s = DocumentStatus(strings.ToUpper(string(s))).normal()
		if slices.Contains(documentStatuses, s) {
			return s
		}
	}
	return ""
}

func (w *wireAction) errorText() string {
	if s := w.knownStatus(); s != "" {
		return fmt.Sprintf("the document's status is %s: %s", s, w.message())
	}
	return w.message()
}

// doubtText matches the words that make an outcome doubtful. The service does not document them.
var doubtText = regexp.MustCompile(`(?i)\b(no|not|none|nobody|nothing|cannot|too|must|only)\b|n['’]t\b|` +
	`\b(unable|fail|deny|deni|declin|refus|reject|disabl|limit|exceed|already|error|forbid|invalid|wait|expired)`)

// doubts searches every text of the response for words that make the outcome doubtful.
func (w *wireAction) doubts() bool {
	return slices.ContainsFunc([]string{w.Message, string(w.Status), w.Data.Message, string(w.Data.Status)}, func(text string) bool {
		return doubtText.MatchString(beginning(text))
	})
}

// alreadyVoidText matches the one documented sentence, which reports that the document is already
// void.
var alreadyVoidText = regexp.MustCompile(`(?i)\balready\s+((been|in|is|marked|as|status)\s+)*void|\bvoid(ed)?\s+already\b`)

func (w *wireAction) alreadyVoid() bool { return alreadyVoidText.MatchString(w.message()) }

// ruleVoid returns the ruling for a void.
func ruleVoid(w *wireAction, failed bool) ruling {
	switch s := w.knownStatus(); {
	case s == StatusVoid:
		return wasDone
	case !s.CanVoid():
		return wasRefused
	case failed:
		return hasFailed
	case s == "" && w.alreadyVoid():
		return wasDone
	case s != "", w.doubts():
		return inDoubt
	}
	return wasDone
}

// voidInDoubt reports whether a void is repeated as after a 5xx. A repeat does no harm, and the
// next response may contain "already".
func voidInDoubt(o call.Outcome) bool {
	var w wireAction
	failed, err := w.fill(o)
	return err == nil && ruleVoid(&w, failed) == inDoubt
}

// ruleReminder returns the ruling for a reminder.
func ruleReminder(w *wireAction, failed bool) ruling {
	n := w.remindersSent()
	sent := n != nil && *n > 0
	switch {
	case sent && !failed:
		return wasDone
	case !sent && !w.knownStatus().CanRemind():
		return wasRefused
	case failed:
		return hasFailed
	case n == nil && w.doubts():
		return inDoubt
	}
	return wasDone
}
