package refserver

import (
	"errors"
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// The kinds of errors of a server's methods, for errors.Is. They are not the sentinels of package
// signforms, which the errors of the client match.
var (
	// ErrRefused means that the service's rules forbid an act. The reason is the status of the
	// document, the signing order, or the signer: the signer has already signed, or is not a signer
	// of the document.
	ErrRefused = signing.ErrRefused

	// ErrNotFound means that no record has the id.
	ErrNotFound = store.ErrNotFound

	// ErrInvalid means that an argument is invalid, whatever the state of the service.
	ErrInvalid = signing.ErrInvalid

	// ErrStorage means that the Storage failed and a change was not made. The change may be
	// retried, unless [ErrStopped] matches too.
	ErrStorage = store.ErrUnavailable

	// ErrStopped means that the service has stopped because it is unknown whether a change was
	// saved. After a restart, the service has the state in the Storage.
	ErrStopped = store.ErrStopped

	// ErrClosed means that the server is closed. Either a change was not made, or a wait ended
	// because its event can no longer happen.
	ErrClosed = store.ErrClosed

	// ErrNotMade means that a finished file could not be made now.
	ErrNotMade = errors.New("the finished file could not be made")
)

// The names of these errors in the packages below.
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
