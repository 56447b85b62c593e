package signformstest

import (
	"errors"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// ErrClosed means that the server is closed. Either a change was not made, or a wait ended because
// its event can no longer happen.
var ErrClosed = errors.New("the server is closed")

// sdkError is an error of the service with the corresponding sentinel of package signforms.
type sdkError struct {
	error
	sentinel error
}

func (e *sdkError) Is(target error) bool { return target == e.sentinel }

func (e *sdkError) Unwrap() error { return e.error }

// asSDK adds the sentinel to an error of the service.
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
