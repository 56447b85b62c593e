// Package cli has the code that commands share: flags, environment variables, output, the terminal,
// progress and exit codes. It contains nothing about a server.
package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/signforms/signforms-go"
)

// The exit codes of the program.
const (
	ExitOK      = 0
	ExitFailure = 1 // nothing was executed, or the command failed
	ExitUsage   = 2 // the command line is wrong
	ExitPartial = 3 // some of several calls failed, or a list is incomplete
	ExitUnknown = 4 // it is unknown whether a send or a reminder was executed

	ExitInterrupted = 130 // interrupted by a signal before the result was complete; the code that shells use for Ctrl+C
)

// exitError is an error with its own exit code. Other errors end the program with ExitFailure.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// ExitWith returns an error with its own exit code.
func ExitWith(code int, err error) error { return &exitError{code, err} }

// UsageError returns an error that means that the command line is invalid.
func UsageError(format string, args ...any) error {
	return ExitWith(ExitUsage, fmt.Errorf(format, args...))
}

// Interrupted returns the text for people in place of an error that a signal caused. It returns
// other errors, and errors with their own exit code, unchanged.
func Interrupted(err error) error {
	if !errors.Is(err, context.Canceled) || ExitCode(err) != ExitFailure {
		return err
	}
	return ExitWith(ExitInterrupted, errors.New("interrupted"))
}

// ExitCode returns the exit code for the error of a command.
func ExitCode(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		return ExitUnknown
	case errors.Is(err, signforms.ErrIncomplete):
		return ExitPartial
	case isLocalInput(err):
		return ExitUsage
	}
	return ExitFailure
}

// isLocalInput reports whether the SDK refused the inputs of a call before it sent a request.
func isLocalInput(err error) bool {
	e, ok := errors.AsType[*signforms.Error](err)
	return ok && e.Attempts == 0 && errors.Is(err, signforms.ErrInvalid)
}
