package signpages_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// clientOptions are those of a client of a service in a test.
func clientOptions(s *refserver.Server) *signforms.Options {
	return &signforms.Options{
		WorkspaceID: s.WorkspaceID, HTTPClient: s.HTTPClient(), RetryWaitMin: time.Millisecond, RetryWaitMax: time.Millisecond,
		LimitStore: signforms.NewMemoryLimitStore(s.Now),
	}
}

// clientOf returns a client of a service.
func clientOf(t testing.TB, s *refserver.Server) *signforms.Client {
	t.Helper()
	client, err := signforms.New(s.URL, s.APIKey, clientOptions(s))
	require.NoError(t, err)
	return client
}
