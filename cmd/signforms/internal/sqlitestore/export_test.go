package sqlitestore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Synchronous returns the setting synchronous of the connection that writes.
func (s *Store) Synchronous(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, s.writer.conn.QueryRowContext(t.Context(), `pragma synchronous`).Scan(&n))
	return n
}
