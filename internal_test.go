package signforms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
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

// TestSecretIsNeverPrinted: whatever prints it, in a field or alone, finds only an address.
func TestSecretIsNeverPrinted(t *testing.T) {
	key := "sk-Q7x9KEYSECRET"
	s := secret{&key}
	for _, v := range []any{s, &s, struct{ s secret }{s}, []secret{s}, map[string]secret{"key": s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			require.NotContains(t, fmt.Sprintf(verb, v), key, verb)
		}
		b, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, string(b), key)
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("m", "key", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "key", v)
		require.NotContains(t, log.String(), key)
	}
	require.Equal(t, key, s.reveal())
}

func TestOperationsAreAllInTheirTable(t *testing.T) {
	require.ElementsMatch(t, slices.Collect(maps.Keys(operations)), Operations())
}
