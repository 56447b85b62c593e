package webhook_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

var timestampForm = regexp.MustCompile(`^([1-9][0-9]{9}|[1-9][0-9]{12}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z)$`)

// FuzzTimestamp compares the timestamps accepted with a grammar written another way.
func FuzzTimestamp(f *testing.F) {
	for _, s := range []string{
		"1795176000", "9999999999999", "2026-11-20T12:00:00Z", "2026-11-20T12:00:00.123456789Z", "2028-02-29T23:59:59Z", "2026-02-29T12:00:00Z",
		"0795176000", "0795176000123", "179517600", "17951760000", "+179517600", "1795176000.5", "1795176000 ", "１７９５１７６０００", "9223372036854775807",
		"2026-11-20T12:00:00,5Z", "2026-11-20T12:00:00.Z", "2026-11-20T12:00:00.1234567890Z", "2026-11-20T12:00:00+00:00", "2026-11-20t12:00:00z",
		"2026-11-20T24:00:00Z", "2026-11-20T23:59:60Z", "2026-11-20T12:00Z", "2026-11-20T12:00:00Z\x00", strings.Repeat("1", 10_000),
	} {
		f.Add(s)
	}
	v := newVerifier(f, &webhook.VerifierOptions{Tolerance: -1})
	f.Fuzz(func(t *testing.T, text string) {
		got, err := v.Verify(signed(secret, text, "[]"), []byte("[]"))
		want, ok := readTimestamp(text)
		if ok != (err == nil) || ok && !got.Timestamp.Equal(want) {
			t.Fatalf("timestamp %q = %v, %v; want %v, %v", text, got.Timestamp, err, want, ok)
		}
	})
}

func readTimestamp(text string) (time.Time, bool) {
	if !timestampForm.MatchString(text) {
		return time.Time{}, false
	}
	if strings.Contains(text, "T") {
		at, err := time.Parse(time.RFC3339Nano, text)
		return at, err == nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if len(text) == 13 {
		return time.UnixMilli(n), err == nil
	}
	return time.Unix(n, 0), err == nil
}

// FuzzVerify signs one timestamp and body, and verifies another timestamp and body with that signature, xored with flip.
// Nothing may be accepted but what was signed.
func FuzzVerify(f *testing.F) {
	const body = `[{"webhookEvent":"new_form_response","formTitle":"1.5 {}"}]`
	f.Add("1795176000", []byte(body), "1795176000", []byte(body), []byte{})
	f.Add("1795176000", []byte(body), "1795176000", []byte(" "+body), []byte{})
	f.Add("1795176000", []byte(body), "1795176000", []byte(body), []byte{1})
	f.Add("2026-11-20T12:00:00.5Z", []byte(body), "2026-11-20T12:00:00", []byte("5Z."+body), []byte{})
	v := newVerifier(f, &webhook.VerifierOptions{Tolerance: -1})
	f.Fuzz(func(t *testing.T, signedAt string, signedBody []byte, sentAt string, sentBody, flip []byte) {
		signature, err := hex.DecodeString(macOf(secret, signedAt+"."+string(signedBody)))
		if err != nil {
			t.Fatal(err)
		}
		flipped := false
		for i, b := range flip[:min(len(flip), len(signature))] {
			signature[i] ^= b
			flipped = flipped || b != 0
		}
		got, err := v.Verify(http.Header{"X-Signature": {hex.EncodeToString(signature)}, "X-Timestamp": {sentAt}}, sentBody)
		if err != nil {
			return
		}
		switch {
		case flipped:
			t.Fatal("accepted another signature")
		case sentAt != signedAt || !bytes.Equal(got.Payload, signedBody):
			t.Fatalf("accepted timestamp %q and payload %q, signed were %q and %q", sentAt, got.Payload, signedAt, signedBody)
		case got.Reserialized == bytes.Equal(sentBody, signedBody):
			t.Fatalf("Reserialized = %v for body %q, signed was %q", got.Reserialized, sentBody, signedBody)
		}
	})
}

// FuzzParseTimestampSplit splits a text at each full stop into a timestamp and a body, with one signature for all, and a
// ParseTimestamp that accepts whatever it is asked about. At most one of them may pass.
func FuzzParseTimestampSplit(f *testing.F) {
	for _, text := range []string{`2026-11-20T12:00:00.5+00:00.[{"a":"1.[]"}]`, `1.2. [.[]`, `a.b.{}.{}`, "1.\n[].5", `.[.{`} {
		f.Add(text)
	}
	v := newVerifier(f, &webhook.VerifierOptions{Tolerance: -1, ParseTimestamp: func(string) (time.Time, error) { return noon, nil }})
	f.Fuzz(func(t *testing.T, text string) {
		signature := macOf(secret, text)
		accepted := ""
		for i := range len(text) {
			if text[i] != '.' {
				continue
			}
			got, err := v.Verify(header(signature, text[:i]), []byte(text[i+1:]))
			if err != nil {
				continue
			}
			if accepted != "" {
				t.Fatalf("accepted timestamps %q and %q with one signature", accepted, text[:i])
			}
			accepted = text[:i]
			if string(got.Payload) != text[i+1:] {
				t.Fatalf("payload %q, signed was %q", got.Payload, text[i+1:])
			}
		}
	})
}
