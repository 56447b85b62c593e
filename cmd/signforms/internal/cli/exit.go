// Package cli holds what commands share: flags, the environment, output, the terminal, progress and exit codes. It
// knows no server.
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
	ExitFailure = 1 // nothing was done, or it failed
	ExitUsage   = 2 // the command line is wrong
	ExitPartial = 3 // some of several failed, or a list is incomplete
	ExitUnknown = 4 // it is unknown whether a send or a reminder was carried out

	ExitInterrupted = 130 // by a signal, before there was a whole result; what shells use for Ctrl+C
)

// exitError is an error with an exit code of its own. Other errors end the program with ExitFailure.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// ExitWith gives an error an exit code of its own.
func ExitWith(code int, err error) error { return &exitError{code, err} }

// UsageError says that the command line is wrong.
func UsageError(format string, args ...any) error {
	return ExitWith(ExitUsage, fmt.Errorf(format, args...))
}

// Interrupted returns an error that a signal caused as people read it. Others stay, and so does one that has an exit
// code of its own.
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

// isLocalInput reports whether the SDK refused the inputs of a call before it sent anything.
func isLocalInput(err error) bool {
	e, ok := errors.AsType[*signforms.Error](err)
	return ok && e.Attempts == 0 && errors.Is(err, signforms.ErrInvalid)
}
