package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Without a terminal there is a line every ten seconds at most, and one at the end.
func TestProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := NewProgress(&out, "tried", 4)
		for range 4 {
			time.Sleep(6 * time.Second)
			require.NoError(t, p.Tell(func() error { return nil }))
		}
		p.End()
		require.Equal(t, "2 of 4 tried\n4 of 4 tried\n", out.String())
		out.Reset()
		p = NewProgress(&out, "tried", 1)
		require.NoError(t, p.Tell(func() error { return nil }))
		require.Empty(t, out.String())
	})
}
