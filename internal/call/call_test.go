package call_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/call"
)

// TestSecret_isNotPrinted: whatever prints it, in a field or alone, finds only an address.
func TestSecret_isNotPrinted(t *testing.T) {
	key := "sk-Q7x9KEYSECRET"
	s := call.NewSecret(key)
	for _, v := range []any{s, &s, struct{ s call.Secret }{s}, []call.Secret{s}, map[string]call.Secret{"key": s}} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				t.Run(verb, func(t *testing.T) {
					require.NotContains(t, fmt.Sprintf(verb, v), key)
				})
			}
			b, err := json.Marshal(v)
			require.NoError(t, err)
			require.NotContains(t, string(b), key)
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("m", "key", v)
			slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "key", v)
			require.NotContains(t, log.String(), key)
		})
	}
	require.Equal(t, key, s.Reveal())
}
