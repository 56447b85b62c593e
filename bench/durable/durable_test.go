package durable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every row must take deliveries, or its figure says nothing.
func TestRows(t *testing.T) {
	s := Settings{Rounds: 1, Round: 20 * time.Millisecond, Dir: t.TempDir()}
	for _, r := range receivers {
		got, err := s.measure(t.Context(), r, 4)
		require.NoError(t, err, r.name)
		require.Positive(t, got.rate, r.name)
		require.Positive(t, got.p50, r.name)
	}
	_, err := processOnce(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.Positive(t, syncTime(t.TempDir()))
}
