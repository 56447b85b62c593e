package cli

import (
	"errors"
	"fmt"

	"github.com/signforms/signforms-go"
)

// The exit codes of the program.
const (
	exitOK      = 0
	exitFailure = 1 // nothing was done, or it failed
	exitUsage   = 2 // the command line is wrong
	exitPartial = 3 // some of several failed
	exitUnknown = 4 // it is unknown whether a send or a reminder was carried out
)

// exitError is an error with an exit code of its own. Other errors end the program with exitFailure.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// exitWith gives an error an exit code of its own.
func exitWith(code int, err error) error { return &exitError{code, err} }

// usageError says that the command line is wrong.
func usageError(format string, args ...any) error {
	return exitWith(exitUsage, fmt.Errorf(format, args...))
}

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	var coded *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		return exitUnknown
	case isLocalInput(err):
		return exitUsage
	}
	return exitFailure
}

// isLocalInput reports whether the SDK refused the inputs of a call before it sent anything.
func isLocalInput(err error) bool {
	e, ok := errors.AsType[*signforms.Error](err)
	return ok && e.Local && errors.Is(err, signforms.ErrInvalid)
}
