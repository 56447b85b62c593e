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
	m := cmp.Or(w.Message, w.Error, w.Data.Message, w.Data.Error)
	return m[:min(len(m), maxSearched)]
}

func (w *wireAction) status() DocumentStatus { return cmp.Or(w.Status, w.Data.Status).normal() }

func (w *wireAction) documentID() string { return cmp.Or(w.DocumentID, w.Data.DocumentID) }

func (w *wireAction) remindersSent() *int { return cmp.Or(w.RemindersSent, w.Data.RemindersSent) }

// known returns the status as one of the constants, or "" where it is another word, such as "success".
func (w *wireAction) known() DocumentStatus {
	s := DocumentStatus(strings.ToUpper(string(w.status()))).normal()
	if slices.Contains(DocumentStatuses(), s) {
		return s
	}
	return ""
}

// refused is the text of an error about an answer that says why nothing was done, by its status or in words.
func (w *wireAction) refused() string {
	if s := w.known(); s != "" {
		return fmt.Sprintf("the document's status is %s: %s", s, w.message())
	}
	return w.message()
}

// denial finds words that say that something was not done, such as "cannot be voided" or "void failed". The words are not
// documented by the service.
func denial(verb string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(no|not|cannot|can['’]t|couldn['’]t|unable|failed)(\s+\w+){0,3}\s+` + verb +
		`|\b` + verb + `\w*\s+((is|was|has|been|could)\s+)*(not|failed|refused|forbidden|impossible)\b`)
}

var (
	alreadyText  = regexp.MustCompile(`(?i)\balready\b`)
	voidText     = regexp.MustCompile(`(?i)\bvoid`)
	alreadyVoid  = regexp.MustCompile(`(?i)\balready\s+((been|in|is|marked|as|status)\s+)*void|\bvoid(ed)?\s+already\b`)
	notVoided    = denial("void")
	remindText   = regexp.MustCompile(`(?i)\bremind`)
	notReminded  = denial("remind")
	limitReached = regexp.MustCompile(`(?i)\blimit\s+((is|was|has|been)\s+)*(reached|exceeded)\b`)
)

// wireVoid is the answer to a void. A document's status in it decides: VOID is a success, any other a refusal. Without one the
// message does: "already" beside "void" is a success, and a denial, or "already" without "void", is a refusal.
type wireVoid struct{ wireAction }

func (w *wireVoid) already() bool { return alreadyVoid.MatchString(w.message()) }

func (w *wireVoid) decided() bool {
	s := w.known()
	return s == StatusVoid || !s.CanVoid() || s == "" && w.already()
}

func (w *wireVoid) refusal() string {
	s, m := w.known(), w.message()
	other := alreadyText.MatchString(m) && !voidText.MatchString(m)
	if s == StatusVoid || s == "" && (w.already() || !other && !notVoided.MatchString(m)) {
		return ""
	}
	return w.refused()
}

// wireReminder is the answer to a reminder. When signers were reminded, it is a success. Otherwise a status that forbids
// reminders is a refusal. When the answer does not count reminders, a message that denies one is a refusal too.
type wireReminder struct{ wireAction }

func (w *wireReminder) decided() bool { return !w.known().CanRemind() }

func (w *wireReminder) refusal() string {
	n, m := w.remindersSent(), w.message()
	other := alreadyText.MatchString(m) && !remindText.MatchString(m)
	denied := other || notReminded.MatchString(m) || limitReached.MatchString(m)
	if n != nil && *n > 0 || w.known().CanRemind() && (n != nil || !denied) {
		return ""
	}
	return w.refused()
}
