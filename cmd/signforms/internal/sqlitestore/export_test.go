package sqlitestore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Synchronous returns the setting synchronous of the connection that writes.
func (s *Store) Synchronous(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, s.writer.conn.QueryRowContext(t.Context(), `pragma synchronous`).Scan(&n))
	return n
}

// StampNext makes the next Save stamp the file.
func (s *Store) StampNext() { s.open.stamped = time.Unix(1, 0) }

// NameCopy gives a copy its name.
var NameCopy = nameCopy

// Doubt makes the store believe that its last commit may have stayed in the file.
func (s *Store) Doubt() { s.doubt = true }
