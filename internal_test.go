package signforms

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The default store is package state: nothing may stay there when a key is free.

func TestMemoryLimitStore_forgetsFreeKeys(t *testing.T) {
	now := time.Unix(0, 0)
	s := NewMemoryLimitStore(func() time.Time { return now })
	const atOnce = 1000 // keys in use at any time
	most := 0
	for n := range 50 * atOnce {
		_, _, err := s.Take(t.Context(), fmt.Sprint(n), 5, atOnce*time.Second)
		require.NoError(t, err)
		now = now.Add(time.Second)
		if n > 10*atOnce {
			most = max(most, len(s.keys))
		}
	}
	require.Less(t, most, 2*atOnce+20)
	require.GreaterOrEqual(t, most, atOnce-1, "keys in use")
}
