package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/webhook"
)

// TestRefusalsSpeakToEverybody checks that the reasons for refusing a delivery use no terms of Go.
func TestRefusalsSpeakToEverybody(t *testing.T) {
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", testSecret)
	t.Setenv("SIGNFORMS_WEBHOOK_SECRETS", "")
	const body = `[{"webhookEvent":"new_form_response","formTitle":"Survey"}]`
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	signed := func(body string) http.Header { return webhook.Sign(testSecret, at, []byte(body)) }
	without := func(name string) http.Header {
		h := signed(body)
		h.Del(name)
		return h
	}
	with := func(name, value string) http.Header {
		h := signed(body)
		h.Add(name, value)
		return h
	}
	for name, c := range map[string]struct {
		header http.Header
		body   string
		args   []string
		want   string
	}{
		"genuine":           {signed(body), body, nil, "\"Survey\" answered\n"},
		"no signature":      {without("X-Signature"), body, nil, "header missing: X-Signature; the request is not a delivery, or a proxy removed the header\n"},
		"two signatures":    {with("X-Signature", "00"), body, nil, "header given more than once: X-Signature; if the request is a delivery, something on the way added one\n"},
		"short signature":   {http.Header{"X-Signature": {"00"}, "X-Timestamp": {"1795255200"}}, body, nil, "is not 64 lower-case hexadecimal digits; signforms webhook diagnose looks"},
		"odd timestamp":     {http.Header{"X-Signature": {strings.Repeat("0", 64)}, "X-Timestamp": {"noon"}}, body, nil, "nor RFC 3339 ending in Z; signforms webhook diagnose looks"},
		"another body":      {signed(body), body + " ", []string{"--secret", "some other secret"}, "signature does not match; signforms webhook diagnose looks"},
		"too old":           {signed(body), body, []string{"--tolerance", "1s"}, "genuine, but its timestamp is not within --tolerance: "},
		"no JSON":           {signed("nothing"), "nothing", nil, "payload is not a JSON object or an array: byte 0: expected a value\n"},
		"an odd event":      {signed("[1]"), "[1]", nil, "cannot be read: element is not a JSON object\n"},
		"an empty delivery": {signed(""), "", nil, "payload is not a JSON object or an array: byte 0: unexpected end\n"},
	} {
		args := append([]string{"webhook", "verify"}, c.args...)
		for key, values := range c.header {
			for _, value := range values {
				args = append(args, "-H", fmt.Sprintf("%s: %s", key, value))
			}
		}
		stdout, stderr, _ := typed(t, c.body, args...)
		require.Contains(t, stdout+stderr, c.want, name)
		for _, code := range []string{"Verifier", "http.Header", "Diagnose ", "webhook: "} {
			require.NotContains(t, stdout+stderr, code, name)
		}
	}
}

func TestFlagsThatGoTogether(t *testing.T) {
	for args, want := range map[string]string{
		"templates send x": "signforms: give --to or --csv; see signforms templates send --help\n",
		"templates send x --csv a --to name=A,email=a@b": "signforms: give --to or --csv, not both; see signforms templates send --help\n",
		"documents list --json --csv":                    "signforms: give --csv or --json, not both; see signforms documents list --help\n",
	} {
		_, stderr, code := execute(t, strings.Fields(args)...)
		require.Equal(t, cli.ExitUsage, code)
		require.Equal(t, want, stderr, args)
	}
}
