package webhook_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

func TestParseTimestamp(t *testing.T) {
	var seen []string
	v := newVerifier(t, &webhook.VerifierOptions{Now: atNoon, ParseTimestamp: func(s string) (time.Time, error) {
		seen = append(seen, s)
		if s == "bad" {
			return time.Time{}, errors.New("ann@example.com")
		}
		return time.Parse(time.RFC1123, s)
	}})
	got, err := v.Verify(signed(secret, "Fri, 20 Nov 2026 12:00:01 UTC", "[]"), []byte("[]"))
	require.NoError(t, err)
	require.True(t, got.Timestamp.Equal(noon.Add(time.Second)))

	_, err = v.Verify(signed(secret, "bad", "[]"), []byte("[]"))
	require.ErrorIs(t, err, webhook.ErrHeaderMalformed)
	require.NotContains(t, err.Error(), "ann@")

	seen = nil
	for _, text := range []string{"", "a[", "{Z", "1\n", "é", strings.Repeat("1", 65)} {
		t.Run(text, func(t *testing.T) {
			_, err := v.Verify(signed(secret, text, "[]"), []byte("[]"))
			require.ErrorIs(t, err, webhook.ErrHeaderMalformed, "timestamp %q", text)
		})
	}
	require.Empty(t, seen, "timestamps that ParseTimestamp should not have been asked about")
}

// TestParseTimestampAcceptsAnyForm has forms that a service could use, with full stops, quotes and offsets in them.
func TestParseTimestampAcceptsAnyForm(t *testing.T) {
	for _, text := range []string{"1795176000.5", "2026-11-20T12:00:00.5+00:00", "a.b", `"2026"`, "t=1.", ".", strings.Repeat("1", 64)} {
		t.Run(text, func(t *testing.T) {
			v := newVerifier(t, &webhook.VerifierOptions{Now: atNoon, ParseTimestamp: func(s string) (time.Time, error) {
				require.Equal(t, text, s)
				return noon, nil
			}})
			for _, body := range []string{"[]", "{}", " \t\r\n[{}]"} {
				t.Run(body, func(t *testing.T) {
					_, err := v.Verify(signed(secret, text, body), []byte(body))
					require.NoError(t, err, "%q.%q", text, body)
				})
			}
			for _, body := range []string{"", " ", "1", "x[", "\v[]", "\ufeff[]"} {
				t.Run(body, func(t *testing.T) {
					_, err := v.Verify(signed(secret, text, body), []byte(body))
					require.ErrorIs(t, err, webhook.ErrPayload, "%q.%q", text, body)
				})
			}
		})
	}
	for _, body := range []string{"", "x"} {
		t.Run(body, func(t *testing.T) {
			_, err := newVerifier(t, nil).Verify(signed(secret, "1795176000", body), []byte(body))
			require.NoError(t, err, "without ParseTimestamp a body need not be JSON")
		})
	}
}
