package refserver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// The kinds of errors of a server's methods, for errors.Is. They differ from those of package signforms, which the errors of
// its client match.
var (
	// ErrRefused says that the service's rules forbid an act: because of the document's status or the signing order, or because
	// the signer has signed before or is not one of the document's.
	ErrRefused = errors.New("refused by the service's rules")

	// ErrNotFound says that no record has the id.
	ErrNotFound = errors.New("not found")

	// ErrInvalid says that an argument is invalid, whatever the state of the service.
	ErrInvalid = errors.New("invalid")

	// ErrStorage says that the Storage failed: a change was not made and can be tried again, unless the error matches [ErrStopped] too.
	ErrStorage = errors.New("the storage failed")

	// ErrStopped says that the service has stopped because nobody knows whether a change was saved. Started again, it has what
	// is in the Storage.
	ErrStopped = store.ErrStopped

	// ErrNotMade says that a finished file could not be made now.
	ErrNotMade = errors.New("the finished file could not be made")

	// ErrClosed says that the server is closed: a change was not made, or what was waited for does not happen any more.
	ErrClosed = errors.New("the server is closed")
)

// failure is an error with the sentinel that it matches.
type failure struct {
	error
	sentinel error
}

func (f *failure) Is(target error) bool { return target == f.sentinel }

func (f *failure) Unwrap() error { return f.error }

// InvalidError is an argument or option that is invalid. It matches [ErrInvalid].
type InvalidError struct {
	Field   string // its Go name, such as Fields[0].Name or Options.PublicURL; may be empty
	Problem string // what is wrong with it, such as: is empty
}

// Error returns the field and the problem.
func (e *InvalidError) Error() string { return strings.TrimPrefix(e.Field+": "+e.Problem, ": ") }

// Is reports whether target is [ErrInvalid].
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

func invalid(field, format string, args ...any) error {
	return &InvalidError{field, fmt.Sprintf(format, args...)}
}

// ownInvalid converts the packages' below error for a wrong input.
func ownInvalid(err error) error {
	if e, ok := errors.AsType[*signing.Invalid](err); ok {
		return &InvalidError{e.Field, e.Message}
	}
	return err
}

// publicError gives an error of the packages below its sentinel.
func (s *Server) publicError(err error) error {
	if err == nil {
		return nil
	}
	if r, ok := errors.AsType[*signing.Refusal](err); ok {
		return &refusal{r}
	}
	if err = ownInvalid(err); errors.Is(err, ErrInvalid) {
		return err
	}
	if _, ok := errors.AsType[*store.Missing](err); ok {
		return &failure{s.explain(err), ErrNotFound}
	}
	if errors.Is(err, store.ErrClosed) || errors.Is(err, delivery.ErrClosed) {
		return &failure{err, ErrClosed}
	}
	if _, ok := errors.AsType[*store.Unavailable](err); ok {
		return &failure{err, ErrStorage}
	}
	return err
}
