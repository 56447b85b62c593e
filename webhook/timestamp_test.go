package webhook_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

func TestTimestamps(t *testing.T) {
	v := newVerifier(t, &webhook.VerifierOptions{Tolerance: -1})
	for text, want := range map[string]time.Time{
		"1795176000":                     noon,
		"1000000000":                     time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC),
		"9999999999":                     time.Date(2286, 11, 20, 17, 46, 39, 0, time.UTC),
		"1795176000123":                  noon.Add(123 * time.Millisecond),
		"9999999999999":                  time.Date(2286, 11, 20, 17, 46, 39, 999e6, time.UTC),
		"2026-11-20T12:00:00Z":           noon,
		"2026-11-20T12:00:00.5Z":         noon.Add(500 * time.Millisecond),
		"2026-11-20T12:00:00.123Z":       noon.Add(123 * time.Millisecond),
		"2026-11-20T12:00:00.123456789Z": noon.Add(123456789),
		"2028-02-29T23:59:59Z":           time.Date(2028, 2, 29, 23, 59, 59, 0, time.UTC),
	} {
		got, err := v.Verify(signed(secret, text, "[]"), []byte("[]"))
		require.NoError(t, err, text)
		require.True(t, got.Timestamp.Equal(want), "timestamp of %s = %v, want %v", text, got.Timestamp, want)
	}
}

func TestTimestampsRefused(t *testing.T) {
	v := newVerifier(t, &webhook.VerifierOptions{Tolerance: -1})
	for _, text := range []string{
		"", " ", "0", "+179517600", "-179517600", "+1795176000", "-1795176000", " 1795176000", "1795176000 ", "1795176000\n",
		"0795176000", "0795176000123", "179517600", "17951760000", "179517600000", "17951760001234", "1795176000.", "1795176000.5",
		"1795176000.123", "1.79517600", "1.7951760e9", "1795176e03", "0x6b004340", "179517600a", "1_795_1760", "１７９５１７６０００",
		"99999999999999999999", "9223372036854775807", "1795176000,5", "1795176000Z",
		"2026-11-20", "2026-11-20T12:00:00", "2026-11-20T12:00:00+00:00", "2026-11-20T12:00:00-00:00", "2026-11-20T12:00:00.123",
		"2026-11-20 12:00:00Z", "2026-11-20t12:00:00Z", "2026-11-20T12:00:00z", "2026-11-20T12:00:00.Z", "2026-11-20T12:00:00,5Z",
		"2026-11-20T12:00:00.1234567890Z", "2026-11-20T12:00:00.1.2Z", "2026-11-20T12:00:00.12 Z", "2026-11-20T12:00:00.-1Z",
		"2026-13-20T12:00:00Z", "2026-02-29T12:00:00Z", "2026-11-31T12:00:00Z", "2026-11-00T12:00:00Z", "2026-11-20T24:00:00Z",
		"2026-11-20T12:60:00Z", "2026-11-20T23:59:60Z", "2026-11-20T1:00:00Z", "02026-11-20T12:00:00Z", "+2026-11-20T12:00:00Z",
		"2026-11-20T12:00Z", "20261120T120000Z", "2026-11-20T12:00:00Z.", "2026-11-20T12:00:00Z\x00", strings.Repeat("1", 10_000),
	} {
		_, err := v.Verify(signed(secret, text, "[]"), []byte("[]"))
		require.ErrorIs(t, err, webhook.ErrHeaderMalformed, "timestamp %q", text)
		require.ErrorContains(t, err, "X-Timestamp")
	}
}

// TestBoundaryShift moves the full stop at which the signed string is split to each other full stop in it. The
// signature stays the same, and so does the string that it covers.
func TestBoundaryShift(t *testing.T) {
	const body = `[{"webhookEvent":"new_form_response","formTitle":"3.5 or 1795176000.[] 2026-11-20T12:00:00.5Z.{}"}]`
	lenient := func(string) (time.Time, error) { return noon, nil }
	for _, timestamp := range []string{"1795176000", "1795176000123", "2026-11-20T12:00:00Z", "2026-11-20T12:00:00.123Z"} {
		valid := signed(secret, timestamp, body)
		whole := timestamp + "." + body
		for i := range whole {
			if whole[i] != '.' || i == len(timestamp) {
				continue
			}
			shifted := header(valid["X-Signature"][0], whole[:i])
			for name, opts := range map[string]*webhook.VerifierOptions{
				"known forms":    {Tolerance: -1},
				"ParseTimestamp": {Tolerance: -1, ParseTimestamp: lenient},
			} {
				_, err := newVerifier(t, opts).Verify(shifted, []byte(whole[i+1:]))
				if name == "ParseTimestamp" && i < len(timestamp) {
					require.ErrorIs(t, err, webhook.ErrPayload) // the body begins with what was cut off the timestamp
					continue
				}
				require.ErrorIs(t, err, webhook.ErrHeaderMalformed, "%s: split %q", name, whole[:i])
			}
		}
		_, err := newVerifier(t, nil).Verify(valid, []byte(body))
		require.NoError(t, err)
	}
}

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
		_, err := v.Verify(signed(secret, text, "[]"), []byte("[]"))
		require.ErrorIs(t, err, webhook.ErrHeaderMalformed, "timestamp %q", text)
	}
	require.Empty(t, seen, "timestamps that ParseTimestamp should not have been asked about")
}

// TestParseTimestampAcceptsAnyForm has forms that a service could use, with full stops, quotes and offsets in them.
func TestParseTimestampAcceptsAnyForm(t *testing.T) {
	for _, text := range []string{"1795176000.5", "2026-11-20T12:00:00.5+00:00", "a.b", `"2026"`, "t=1.", ".", strings.Repeat("1", 64)} {
		v := newVerifier(t, &webhook.VerifierOptions{Now: atNoon, ParseTimestamp: func(s string) (time.Time, error) {
			require.Equal(t, text, s)
			return noon, nil
		}})
		for _, body := range []string{"[]", "{}", " \t\r\n[{}]"} {
			_, err := v.Verify(signed(secret, text, body), []byte(body))
			require.NoError(t, err, "%q.%q", text, body)
		}
		for _, body := range []string{"", " ", "1", "x[", "\v[]", "\ufeff[]"} {
			_, err := v.Verify(signed(secret, text, body), []byte(body))
			require.ErrorIs(t, err, webhook.ErrPayload, "%q.%q", text, body)
		}
	}
	for _, body := range []string{"", "x"} {
		_, err := newVerifier(t, nil).Verify(signed(secret, "1795176000", body), []byte(body))
		require.NoError(t, err, "without ParseTimestamp a body need not be JSON")
	}
}
