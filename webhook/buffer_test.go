package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargeBuffers keeps one large delivery from holding its memory for ever.
func TestLargeBuffers(t *testing.T) {
	s := &space{body: make([]byte, 0, largestPooled+1), normal: make([]byte, 0, largestPooled+1)}
	s.release()
	require.Zero(t, cap(s.body))
	require.Zero(t, cap(s.normal))

	s = &space{body: make([]byte, 0, largestPooled), normal: make([]byte, 0, largestPooled)}
	s.release()
	require.Equal(t, largestPooled, cap(s.body))
	require.Equal(t, largestPooled, cap(s.normal))
}
