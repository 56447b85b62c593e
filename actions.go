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

// This file decides what a 2xx means to a void, a reminder, and the send of a form, which return no record. Fields decide.
// A text only makes the outcome doubtful, except for the one sentence that is documented: "already void".

// ruling is what a response with a status of success means for a void or reminder. Only fields refuse.
type ruling int

const (
	wasDone    ruling = iota
	hasFailed         // it reports a failure, and no other field says more
	inDoubt           // a word may mean that nothing was done
	wasRefused        // a field refuses
)

// readFormSend fills res. The service returns no id of what it sent, so a text that may report a failure makes the
// outcome unknown, as for a reminder.
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

// readAction fills w, from an empty response or a JSON string too, and returns the error that rule decides.
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

// actionFields are those of an answer to a void or reminder. Only the message is documented by the service.
type actionFields struct {
	Message       string         `json:"message"`
	Error         string         `json:"error"`
	Status        DocumentStatus `json:"status"`
	RemindersSent *int           `json:"remindersSent"`
}

// wireAction is such an answer. Clients have seen messages below data.
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

// message returns the beginning of the service's text, as far as it is searched.
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

// doubtText finds the words that raise a doubt. They are not documented by the service.
var doubtText = regexp.MustCompile(`(?i)\b(no|not|none|nobody|nothing|cannot|too|must|only)\b|n['’]t\b|` +
	`\b(unable|fail|deny|deni|declin|refus|reject|disabl|limit|exceed|already|error|forbid|invalid|wait|expired)`)

// doubts searches every text of the answer that no field settles.
func (w *wireAction) doubts() bool {
	return slices.ContainsFunc([]string{w.Message, string(w.Status), w.Data.Message, string(w.Data.Status)}, func(text string) bool {
		return doubtText.MatchString(beginning(text))
	})
}

// alreadyVoidText finds the one sentence that is documented: that the document is void already.
var alreadyVoidText = regexp.MustCompile(`(?i)\balready\s+((been|in|is|marked|as|status)\s+)*void|\bvoid(ed)?\s+already\b`)

func (w *wireAction) alreadyVoid() bool { return alreadyVoidText.MatchString(w.message()) }

// ruleVoid decides about a void.
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

// voidInDoubt reports whether a void is repeated as after a 5xx, which does no harm: the next answer may say "already".
func voidInDoubt(o call.Outcome) bool {
	var w wireAction
	failed, err := w.fill(o)
	return err == nil && ruleVoid(&w, failed) == inDoubt
}

// ruleReminder decides about a reminder.
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
