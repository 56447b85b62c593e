package signforms

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// actionFields are those of an answer to a void or reminder. Only the message is documented by the service.
type actionFields struct {
	Message       string         `json:"message"`
	Error         string         `json:"error"`
	DocumentID    string         `json:"documentId"`
	Status        DocumentStatus `json:"status"`
	RemindersSent *int           `json:"remindersSent"`
}

// wireAction is such an answer. Clients have seen messages below data.
type wireAction struct {
	actionFields
	Data actionFields `json:"data"`
}

func (w *wireAction) setMessage(m string) { w.Message = m }

// message returns the beginning of the service's text, as far as it is searched.
func (w *wireAction) message() string {
	return beginning(cmp.Or(w.Message, w.Error, w.Data.Message, w.Data.Error))
}

func beginning(text string) string { return text[:min(len(text), maxSearched)] }

func (w *wireAction) status() DocumentStatus { return cmp.Or(w.Status, w.Data.Status).normal() }

func (w *wireAction) documentID() string { return cmp.Or(w.DocumentID, w.Data.DocumentID) }

func (w *wireAction) remindersSent() *int { return cmp.Or(w.RemindersSent, w.Data.RemindersSent) }

// known returns the status as one of the constants, or "" where it is another word, such as "success".
func (w *wireAction) known() DocumentStatus {
	for _, s := range []DocumentStatus{w.Status, w.Data.Status} {
		s = DocumentStatus(strings.ToUpper(string(s))).normal()
		if slices.Contains(DocumentStatuses(), s) {
			return s
		}
	}
	return ""
}

// reason is the text of an error about an answer that was no success.
func (w *wireAction) reason() string {
	if s := w.known(); s != "" {
		return fmt.Sprintf("the document's status is %s: %s", s, w.message())
	}
	return w.message()
}

// ruling is what an answer with a status of success says of a void or reminder. Only fields refuse.
type ruling int

const (
	wasDone    ruling = iota
	inDoubt           // a word may mean that nothing was done
	wasRefused        // a field says so
)

// doubtText finds the words that raise a doubt. They are not documented by the service.
var doubtText = regexp.MustCompile(`(?i)\b(no|not|none|nobody|nothing|cannot|too|must|only)\b|n['’]t\b|` +
	`\b(unable|fail|deny|deni|declin|refus|reject|disabl|limit|exceed|already|error|forbid|invalid|wait|expired)`)

// doubts searches every text of the answer that no field settles.
func (w *wireAction) doubts() bool {
	for _, text := range []string{w.Message, string(w.Status), w.Data.Message, w.Data.Error, string(w.Data.Status)} {
		if doubtText.MatchString(beginning(text)) {
			return true
		}
	}
	return false
}

// alreadyVoid finds the one sentence that is documented: that the document is void already.
var alreadyVoid = regexp.MustCompile(`(?i)\balready\s+((been|in|is|marked|as|status)\s+)*void|\bvoid(ed)?\s+already\b`)

// wireVoid is the answer to a void.
type wireVoid struct{ wireAction }

func (w *wireVoid) already() bool { return alreadyVoid.MatchString(w.message()) }

func (w *wireVoid) ruling() ruling {
	switch s := w.known(); {
	case s == StatusVoid, s == "" && w.already():
		return wasDone
	case !s.CanVoid():
		return wasRefused
	case s != "", w.doubts():
		return inDoubt
	}
	return wasDone
}

func (w *wireVoid) decided() bool {
	return w.ruling() != inDoubt && (w.known() != "" || w.already())
}

// wireReminder is the answer to a reminder.
type wireReminder struct{ wireAction }

func (w *wireReminder) ruling() ruling {
	switch n := w.remindersSent(); {
	case n != nil && *n > 0:
		return wasDone
	case !w.known().CanRemind():
		return wasRefused
	case n == nil && w.doubts():
		return inDoubt
	}
	return wasDone
}

func (w *wireReminder) decided() bool { return w.ruling() == wasRefused }
