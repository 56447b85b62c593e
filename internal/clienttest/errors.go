package clienttest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// Sentinels are the sentinel errors of package signforms.
var Sentinels = []error{
	signforms.ErrInvalid, signforms.ErrForbidden, signforms.ErrNotFound, signforms.ErrRefused, signforms.ErrRateLimited,
	signforms.ErrUnavailable, signforms.ErrIncomplete, signforms.ErrOutcomeUnknown,
}

// AsError returns err as a *signforms.Error, which the error of every call is.
func AsError(t testing.TB, err error) *signforms.Error {
	t.Helper()
	var e *signforms.Error
	require.ErrorAs(t, err, &e)
	return e
}

// RequireMatches fails the test unless err matches exactly the sentinels want.
func RequireMatches(t testing.TB, err error, want ...error) {
	t.Helper()
	for _, s := range Sentinels {
		if slices.Contains(want, s) {
			require.ErrorIs(t, err, s)
		} else {
			require.NotErrorIs(t, err, s)
		}
	}
}

// RequireUnreadable checks the error of a call whose response could not be read.
func RequireUnreadable(t *testing.T, call Call, err error, status int) {
	t.Helper()
	require.Equal(t, status, AsError(t, err).StatusCode, call.Name)
	switch {
	case call.SendsMail():
		RequireMatches(t, err, signforms.ErrOutcomeUnknown)
	case len(bytes.TrimSpace(AsError(t, err).Body)) == 0:
		RequireMatches(t, err, signforms.ErrUnavailable)
	default:
		RequireMatches(t, err, signforms.ErrBadResponse)
	}
}
