package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLargeBuffers keeps one large delivery from holding its memory for ever.
func TestLargeBuffers(t *testing.T) {
	b := &buffer{body: make([]byte, 0, largestPooled+1), normal: make([]byte, 0, largestPooled+1)}
	b.release()
	require.Zero(t, cap(b.body))
	require.Zero(t, cap(b.normal))

	b = &buffer{body: make([]byte, 0, largestPooled), normal: make([]byte, 0, largestPooled)}
	b.release()
	require.Equal(t, largestPooled, cap(b.body))
	require.Equal(t, largestPooled, cap(b.normal))
}
