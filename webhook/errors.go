package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// The reasons why a delivery is refused; distinguish them with [errors.Is]. Each may be logged: no error of this
// package contains a secret, a computed signature or a part of the body. Do not tell the sender which one it was,
// because that helps only those who forge.
var (
	// ErrHeaderMissing: X-Signature or X-Timestamp is missing. The text says which.
	ErrHeaderMissing = errors.New("webhook: header missing")

	// ErrHeaderRepeated: X-Signature or X-Timestamp occurs more than once, so that two readers could see two values.
	ErrHeaderRepeated = errors.New("webhook: header given more than once")

	// ErrHeaderMalformed: X-Signature is not 64 lower-case hexadecimal digits, or X-Timestamp has none of the known forms
	// (see [VerifierOptions.ParseTimestamp]).
	ErrHeaderMalformed = errors.New("webhook: header malformed")

	// ErrSignature: no secret gives this signature for this timestamp and body. The delivery is forged, the secret is
	// wrong, or something changed the body on its way. [Diagnose] tries the known mistakes.
	ErrSignature = errors.New("webhook: signature does not match; webhook.Diagnose, or the command " +
		`"signforms webhook diagnose", tries the known mistakes`)

	// ErrTimestamp: the delivery is genuine, but its timestamp is further from the clock than
	// [VerifierOptions.Tolerance] allows. It is a replay or was delayed, or one of the two clocks is wrong. The text gives
	// the difference and the tolerance.
	ErrTimestamp = errors.New("webhook: genuine, but its timestamp is outside VerifierOptions.Tolerance")

	// ErrNoSecret: the Verifier is nil or was not made by [NewVerifier]. It has no secret and refuses everything.
	ErrNoSecret = errors.New("webhook: Verifier has no secret: make it with NewVerifier and check its error")

	// ErrBodyConsumed: the body is empty, or is shorter than the request announced, because something read it before. The
	// error matches ErrSignature too.
	ErrBodyConsumed = errors.New("webhook: nothing, or not all, is left of the body: something read it before; " +
		"put the Handler or Middleware before whatever reads bodies, or give Verify the bytes that were received")

	// ErrTooLarge: the body is larger than [VerifierOptions.MaxBody], or than an [http.MaxBytesReader] before the handler
	// allows. The text says which, and gives the limit in bytes.
	ErrTooLarge = errors.New("webhook: body too large")

	// ErrPayload: the delivery is genuine, but the payload is not JSON, or not an object or an array. Every error of
	// [Parse] matches it.
	ErrPayload = errors.New("webhook: payload is not a JSON object or an array")
)

// ErrEventBusy is the Err of an [EventError] for an event that is being processed for another delivery. The answer is
// 503, or 500 if another event failed.
var ErrEventBusy = errors.New("webhook: event is being processed for another delivery")

// EventError is what [HandlerOptions.OnError] gets for an event that was not processed, or not recorded as processed,
// or processed although a field could not be read. Its text contains the index, the event type, the subject's id and
// the text of Err. Of the type and the id it contains at most 100 bytes, with unprintable characters escaped as in Go.
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

// printed returns a type or an id, which the sender may fill with anything, for one line of text: at most 100 bytes of
// it, and unprintable characters as strconv.Quote writes them.
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

// FieldError names a field whose value could not be read and was left zero. It never contains the value.
type FieldError struct {
	Field string // path from the event, such as signers[2].email
	Want  string // what it should be, such as "a string"
}

// Error returns a text such as: webhook: field signers[2].email is not a string.
func (e *FieldError) Error() string {
	return "webhook: field " + e.Field + " is not " + e.Want
}

// RefusedError is what [HandlerOptions.OnError] and [MiddlewareOptions.OnError] get for a delivery that was refused as
// a whole. Strangers can cause any number of them.
type RefusedError struct {
	Status int   // of the answer
	Err    error // the reason, such as one that matches ErrSignature
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

// Permanent marks an error that another delivery would not resolve. The event is acknowledged as if it had been
// processed, and the error is reported. Mark the error that the function returns, after the last one was joined to it.
// Permanent(nil) is nil. An error with a method that panics, such as a nil pointer, is not permanent.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// IsPermanent reports whether err, or an error that it wraps, is marked by [Permanent]. Of an error that wraps several,
// as [errors.Join] and [fmt.Errorf] make them, each must be: one that is not may resolve with another delivery. A panic
// is never permanent, whatever its value.
func IsPermanent(err error) bool {
	if _, panicked := errors.AsType[*PanicError](err); panicked {
		return false
	}
	return allPermanent(err)
}

func allPermanent(err error) bool {
	switch e := err.(type) {
	case *permanentError:
		return true
	case interface{ Unwrap() error }:
		return allPermanent(e.Unwrap())
	case interface{ Unwrap() []error }:
		branches := e.Unwrap()
		return len(branches) > 0 && !slices.ContainsFunc(branches, func(err error) bool { return !allPermanent(err) })
	}
	return false
}

// readableError returns err, or another error if a method of err panics, as Error of a nil pointer may. It asks every
// error in err.
func readableError(err error) (result error) {
	if err == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			result = fmt.Errorf("webhook: an error of type %T cannot be read: its methods panic", err)
		}
	}()
	_, _, _ = err.Error(), IsPermanent(err), errors.Is(err, errGoexit)
	return err
}

// guarded calls f and makes an error of its panic. The methods of the error do not panic.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = stopped(p, debug.Stack())
		}
	}()
	return readableError(f())
}

// stopped returns the error of a function that did not return: it panicked with p or, if p is nil, ended its goroutine.
func stopped(p any, stack []byte) error {
	if p == nil {
		return errGoexit
	}
	if cause, ok := p.(error); ok {
		p = readableError(cause)
	}
	return &PanicError{Value: p, Stack: stack}
}

// PanicError is what a panic in a function of [Funcs] or a method of a [ReplayStore] becomes. Its text contains the
// value.
type PanicError struct {
	Value any    // what panic was called with; a *runtime.PanicNilError for nil; of an error with a method that panics, one that says so
	Stack []byte // the stack of the goroutine that panicked
}

// Error returns a text such as: panic: index out of range.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns Value when it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
