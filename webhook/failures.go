package webhook

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
)

// Permanent marks an error that another delivery would not resolve. The event is acknowledged as if it had been processed,
// and the error is reported. Mark the error that the function returns, after the last one was joined to it. Permanent(nil) is nil.
// An error with a method that panics, such as a nil pointer, is not permanent.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// IsPermanent reports whether err, or an error that it wraps, is marked by [Permanent]. Of an error that wraps several, as
// [errors.Join] and [fmt.Errorf] make them, each must be: one that is not may resolve with another delivery. A panic is
// never permanent, whatever its value.
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

// usable returns err, or another error if a method of err panics, as Error of a nil pointer may. It asks every error in err.
func usable(err error) (result error) {
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

// recoverAs sets *err to a PanicError if there is a panic. It is for a defer statement.
func recoverAs(err *error) {
	p := recover()
	if p == nil {
		return
	}
	stack := debug.Stack()
	if cause, ok := p.(error); ok {
		p = usable(cause)
	}
	*err = &PanicError{Value: p, Stack: stack}
}

// PanicError is what a panic in a function of [Funcs] or a method of a [ReplayStore] becomes. Its text contains the value.
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
