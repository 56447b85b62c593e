package refserver

import (
	"errors"
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// The kinds of errors of a server's methods, for errors.Is. They differ from those of package signforms, which the
// errors of its client match.
var (
	// ErrRefused says that the service's rules forbid an act: because of the document's status or the signing order, or
	// because the signer has signed before or is not one of the document's.
	ErrRefused = signing.ErrRefused

	// ErrNotFound says that no record has the id.
	ErrNotFound = store.ErrNotFound

	// ErrInvalid says that an argument is invalid, whatever the state of the service.
	ErrInvalid = signing.ErrInvalid

	// ErrStorage says that the Storage failed: a change was not made and may be retried, unless [ErrStopped] matches too.
	ErrStorage = store.ErrUnavailable

	// ErrStopped says that the service has stopped because nobody knows whether a change was saved. Started again, it has
	// what is in the Storage.
	ErrStopped = store.ErrStopped

	// ErrClosed says that the server is closed: a change was not made, or what was waited for does not happen any more.
	ErrClosed = store.ErrClosed

	// ErrNotMade says that a finished file could not be made now.
	ErrNotMade = errors.New("the finished file could not be made")
)

// What the packages below call these errors.
type (
	InvalidError = signing.Invalid // an argument or option that is invalid; matches [ErrInvalid]
	Refusal      = signing.Refusal // matches [ErrRefused]
)

// failure is an error with the sentinel that it matches.
type failure struct {
	error
	sentinel error
}

func (f *failure) Is(target error) bool { return target == f.sentinel }

func (f *failure) Unwrap() error { return f.error }

func invalid(field, format string, args ...any) error {
	return &InvalidError{Field: field, Problem: fmt.Sprintf(format, args...)}
}
