package signformstest

import (
	"errors"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// ErrClosed says that the server is closed: a change was not made, or what was waited for does not happen any more.
var ErrClosed = errors.New("the server is closed")

// sdkError is an error of the service with the sentinel of package signforms that says the same.
type sdkError struct {
	error
	sentinel error
}

func (e *sdkError) Is(target error) bool { return target == e.sentinel }

func (e *sdkError) Unwrap() error { return e.error }

// asSDK gives an error of the service its sentinel.
func asSDK(err error) error {
	for _, s := range []struct{ service, sdk error }{
		{refserver.ErrRefused, signforms.ErrRefused},
		{refserver.ErrNotFound, signforms.ErrNotFound},
		{refserver.ErrInvalid, signforms.ErrInvalid},
		{refserver.ErrClosed, ErrClosed},
	} {
		if errors.Is(err, s.service) {
			return &sdkError{err, s.sdk}
		}
	}
	return err
}
