package signforms

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The default store is package state: nothing may stay there when a key is free.

func TestKeyIsForgottenWhenItsSlotsAreGivenBack(t *testing.T) {
	s := NewMemoryLimitStore(nil)
	var slots []string
	for range 5 {
		slot, _, err := s.Take(t.Context(), "k", 5, time.Hour)
		require.NoError(t, err)
		slots = append(slots, slot)
	}
	for _, slot := range slots {
		require.Contains(t, s.keys, "k")
		require.NoError(t, s.Settle(t.Context(), "k", slot, 0))
	}
	require.Empty(t, s.keys)
	_, err := s.Peek(t.Context(), "other", 5)
	require.NoError(t, err)
	require.Empty(t, s.keys, "asking is not holding")
}

func TestFreeKeysAreForgottenAsOthersCome(t *testing.T) {
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
	require.Less(t, most, 2*atOnce)
	require.GreaterOrEqual(t, most, atOnce-1, "keys in use")
}

func TestOperationsAreAllInTheirTable(t *testing.T) {
	require.ElementsMatch(t, slices.Collect(maps.Keys(operations)), Operations())
}
