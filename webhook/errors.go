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

// The reasons why a delivery is refused. Distinguish them with [errors.Is]. All of them may be
// logged, because no error of this package contains a secret, a computed signature or a part of the
// body. Do not report the reason to the sender, because it would only help somebody who forges
// deliveries.
var (
	// ErrHeaderMissing means that X-Signature or X-Timestamp is missing. The text names the header.
	ErrHeaderMissing = errors.New("webhook: header missing")

	// ErrHeaderRepeated means that X-Signature or X-Timestamp occurs more than once. Two readers
	// could then use two different values.
	ErrHeaderRepeated = errors.New("webhook: header given more than once")

	// ErrHeaderMalformed means that X-Signature is not 64 lower-case hexadecimal digits, or that
	// X-Timestamp has none of the known forms (see [VerifierOptions.ParseTimestamp]).
	ErrHeaderMalformed = errors.New("webhook: header malformed")

	// ErrSignature means that no secret gives this signature for this timestamp and body. The
	// delivery is forged, the secret is wrong, or something changed the body between the service
	// and this process. [Diagnose] tries the known errors.
	ErrSignature = errors.New("webhook: signature does not match; webhook.Diagnose, or the command " +
		`"signforms webhook diagnose", tries the known mistakes`)

	// ErrTimestamp means that the delivery is genuine, but its timestamp is further from the clock
	// than [VerifierOptions.Tolerance] allows. The delivery is a replay or was delayed, or the
	// clock of the service or of this machine is wrong. The text gives the difference and the
	// tolerance.
	ErrTimestamp = errors.New("webhook: genuine, but its timestamp is outside VerifierOptions.Tolerance")

	// ErrNoSecret means that the Verifier is nil or was not made by [NewVerifier]. A Verifier
	// without a secret refuses everything.
	ErrNoSecret = errors.New("webhook: Verifier has no secret: make it with NewVerifier and check its error")

	// ErrBodyConsumed means that the body is empty, or shorter than the request announced, because
	// something read it before. The error matches ErrSignature too.
	ErrBodyConsumed = errors.New("webhook: the body was read before, completely or in part; " +
		"put the Handler or Middleware before other code that reads bodies, or give Verify the bytes that were received")

	// ErrTooLarge means that the body is larger than [VerifierOptions.MaxBody], or larger than an
	// [http.MaxBytesReader] before the handler allows. The text names the limit that was exceeded,
	// in bytes.
	ErrTooLarge = errors.New("webhook: body too large")

	// ErrPayload means that the delivery is genuine, but its payload is not a JSON object or array.
	// Every error of [Parse] matches ErrPayload.
	ErrPayload = errors.New("webhook: payload is not a JSON object or an array")
)

// ErrEventBusy is the Err of an [EventError] for an event that is being processed for another
// delivery at this moment. The delivery gets the response 503, or 500 if another of its events
// failed.
var ErrEventBusy = errors.New("webhook: event is being processed for another delivery")

// EventError is the error that [HandlerOptions.OnError] gets for one event. Either the event was
// not processed, or it was not recorded as processed, or it was processed although a field could
// not be read.
//
// The text contains the index, the event type, the subject's id and the text of Err. The type and
// the id are cut off after 100 bytes, and their unprintable characters are escaped as in Go.
type EventError struct {
	Index int   // position in the delivery, from 0
	Event Event // contains personal data
	Err   error // from the function, the decoder or the replay store, or ErrEventBusy; a *PanicError has the stack, a *FieldError the field
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

// printed returns a type or an id for one line of text. The sender may put anything into a type or
// an id, so printed uses at most 100 bytes and writes unprintable characters as strconv.Quote does.
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
	Field string // path of the field in the event, such as signers[2].email
	Want  string // what the field should be, such as "a string"
}

// Error returns a text such as: webhook: field signers[2].email is not a string.
func (e *FieldError) Error() string {
	return "webhook: field " + e.Field + " is not " + e.Want
}

// RefusedError is the error that [HandlerOptions.OnError] and [MiddlewareOptions.OnError] get for a
// delivery that was refused as a whole. Unauthenticated requests can cause any number of
// RefusedErrors.
type RefusedError struct {
	Status int   // HTTP status of the response
	Err    error // the reason, such as an error that matches ErrSignature
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

// Permanent marks an error that another delivery would not resolve. The event is then acknowledged
// as if it had been processed, and the error is reported. Wrap the error that the function returns:
// an error that is joined to it later is not marked.
//
// Permanent(nil) is nil. An error with a method that panics, such as a nil pointer, is not
// permanent.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// IsPermanent reports whether err, or an error that err wraps, is marked by [Permanent]. If an
// error wraps several errors, as those of [errors.Join] and [fmt.Errorf] do, each of them must be
// marked, because an unmarked one may be resolved by another delivery. A panic is never permanent,
// whatever its value.
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

// readableError returns err, or another error if a method of err panics, as Error of a nil pointer
// may. It calls the methods of every error in err.
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

// guarded calls f and turns a panic of f into an error. The methods of the returned error do not
// panic.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = stopped(p, debug.Stack())
		}
	}()
	return readableError(f())
}

// stopped returns the error of a function that did not return. The function panicked with p or, if
// p is nil, ended its goroutine.
func stopped(p any, stack []byte) error {
	if p == nil {
		return errGoexit
	}
	if cause, ok := p.(error); ok {
		p = readableError(cause)
	}
	return &PanicError{Value: p, Stack: stack}
}

// PanicError is the error for a panic in a function of [Funcs] or in a method of a [ReplayStore].
// Its text contains the value of the panic.
type PanicError struct {
	Value any    // the argument of panic; a *runtime.PanicNilError for nil; if a method of the argument panics, an error that says so
	Stack []byte // the stack of the goroutine that panicked
}

// Error returns a text such as: panic: index out of range.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns Value when it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
