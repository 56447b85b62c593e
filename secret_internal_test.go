package signforms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

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
