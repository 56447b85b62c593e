package signforms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecretIsNeverPrinted: nothing prints it where it stands now, in a field that fmt does not look into; nor would it be
// printed elsewhere.
func TestSecretIsNeverPrinted(t *testing.T) {
	key := "sk-Q7x9KEYSECRET"
	s := secret{&key}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		require.Equal(t, "[redacted]", fmt.Sprintf(verb, s), verb)
	}
	b, err := json.Marshal(s)
	require.NoError(t, err)
	require.Equal(t, `"[redacted]"`, string(b))
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "key", s)
	require.Contains(t, log.String(), "key=[redacted]")
	require.Equal(t, slog.KindString, slog.AnyValue(s).Resolve().Kind(), "for handlers that know nothing else")
	require.Equal(t, key, s.reveal())
}
