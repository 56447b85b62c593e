package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// Outcome is what became of one event of a delivery. OutcomeFailed is not final: the answer asks for another delivery. It differs
// from the failure of an event in module queue, which is final.
type Outcome int

// The outcomes. The zero value is none of them.
const (
	OutcomeProcessed Outcome = iota + 1 // its function returned nil
	OutcomeGivenUp                      // its function returned an error marked Permanent; acknowledged
	OutcomeIgnored                      // no function is set for it; acknowledged
	OutcomeRepeated                     // processed before, not run again
	OutcomePutOff                       // not run: it is being processed elsewhere, the replay store failed, or the request's deadline passed
	OutcomeFailed                       // its function failed or panicked, or it could not be decoded
)

// outcomes has the name of each outcome, and how it is logged when there is no error.
var outcomes = [...]struct {
	name    string
	level   slog.Level
	message string
}{
	OutcomeProcessed: {name: "processed", level: slog.LevelDebug, message: "webhook: event processed"},
	OutcomeGivenUp:   {name: "given_up", level: slog.LevelWarn, message: "webhook: event given up"},
	OutcomeIgnored:   {name: "ignored", level: slog.LevelInfo, message: "webhook: event acknowledged, no function is set for it"},
	OutcomeRepeated:  {name: "repeated", level: slog.LevelInfo, message: "webhook: event skipped, it was processed before"},
	OutcomePutOff:    {name: "put_off", level: slog.LevelWarn, message: "webhook: event put off"},
	OutcomeFailed:    {name: "failed", level: slog.LevelWarn, message: "webhook: event failed"},
}

// String returns the outcome as a word for logs and metrics: processed, given_up, ignored, repeated, put_off or failed.
func (o Outcome) String() string {
	if o < OutcomeProcessed || o > OutcomeFailed {
		return fmt.Sprintf("Outcome(%d)", int(o))
	}
	return outcomes[o].name
}

// EventResult describes what became of one event, for [HandlerOptions.OnEvent].
type EventResult struct {
	Index    int           // position in the delivery, from 0
	Event    Event         // contains personal data
	Outcome  Outcome       // what became of it
	Err      error         // why it was not processed, or not recorded as processed; nil otherwise
	Duration time.Duration // how long its function ran; 0 when none ran
	SignedAt time.Time     // when the service signed the delivery
}

// ErrEventBusy is the Err of an [EventError] for an event that is being processed for another delivery. The answer is 503, or
// 500 if another event failed.
var ErrEventBusy = errors.New("webhook: event is being processed for another delivery")

// EventError is what [HandlerOptions.OnError] gets for an event that was not processed, or not recorded as processed, or
// processed although a field could not be read. Its text contains the index, the event type, the subject's id and the text
// of Err. Of the type and the id it contains at most 100 bytes, with unprintable characters escaped as in Go.
type EventError struct {
	Index int   // position in the delivery, from 0
	Event Event // contains personal data
	Err   error // of the function, the decoder or the replay store, or ErrEventBusy; a *PanicError has the stack, a *FieldError the field
}

// Error returns a text such as: event 2 (new_form_response 602c2631-97b9-4a3c-92b8-7a2bf3a5bb6d): disk full.
func (e *EventError) Error() string {
	about := "no type"
	if e.Event != nil {
		about = cmp.Or(printed(string(e.Event.EventType())), about)
		if subject := printed(e.Event.SubjectID()); subject != "" {
			about += " " + subject
		}
	}
	return fmt.Sprintf("event %d (%s): %v", e.Index, about, e.Err)
}

// printed returns a type or an id, which the sender may fill with anything, for one line of text: at most 100 bytes of it, and
// unprintable characters as strconv.Quote writes them.
func printed(text string) string {
	const most = 100
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		quoted := strconv.Quote(text)
		text = quoted[1 : len(quoted)-1]
	}
	return text
}

// Unwrap returns Err.
func (e *EventError) Unwrap() error { return e.Err }

// RefusedError is what [HandlerOptions.OnError] and [MiddlewareOptions.OnError] get for a delivery that was refused as a
// whole. Strangers can cause any number of them.
type RefusedError struct {
	Status    int    // of the answer
	Err       error  // the reason, such as one that matches ErrSignature
	Diagnosis string // the text of Diagnose; empty unless the Diagnose option is set and this delivery was diagnosed
}

// Error returns the text of Err.
func (e *RefusedError) Error() string {
	if e.Err == nil {
		return "webhook: the delivery was refused"
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }
