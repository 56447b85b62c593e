package webhook_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

// TestDiagnose has a genuine delivery, and one mistake at a time.
func TestDiagnose(t *testing.T) {
	const body = `[{"name":"A & B","id":1.0},{"webhookEvent":"new_thing"}]`
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	const bare, decoded, padded, umlaut = "7f3c1b52d9e84a06", "0123456789abcdef", "MDEyMzQ1Njc4OWFiY2RlZg==", `["Zöe"]`
	long := `["` + strings.Repeat("x", 64<<10) + `"]`
	inBase64 := base64.StdEncoding.EncodeToString([]byte(body))
	for _, c := range []struct {
		name      string
		key       string // the secret that the sender signs with
		given     string // the secret of the receiver
		timestamp string
		sent      string // what the sender signed
		received  string
		edit      func(http.Header)
		want      string
	}{
		{name: "none", want: "The signature matches secret 2 of 2."},
		{name: "missing", edit: without("X-Timestamp"), want: "X-Timestamp is missing"},
		{name: "repeated", edit: func(h http.Header) { h.Add("X-Signature", "1") }, want: "X-Signature is given 2 times"},
		{name: "lower-case key", edit: lowerCaseKey, want: "or was the map not built with http.Header.Add?"},
		{name: "sha256=", edit: editSignature(func(s string) string { return " sha256=" + strings.ToUpper(s) }), want: "is not 64 lower-case hexadecimal digits.\nThe signature matches secret 2 of 2."},
		{name: "odd timestamp", timestamp: "noon", want: "in none of the known forms"},
		{name: "late", timestamp: "1732180000", want: " from this machine's clock."},
		{name: "white space", given: " " + secret + "\n", want: "would match secret 2 of 2 without what stands around it."},
		{name: "byte order mark", given: "\ufeff" + secret, want: "would match secret 2 of 2 without what stands around it."},
		{name: "assignment", given: `export S='` + secret + "'\n", want: "would match secret 2 of 2 without"},
		{name: "quotes, =", key: padded, given: `"` + padded + `";`, want: "would match secret 2 of 2 without what stands around it."},
		{name: "assigned, =", key: padded, given: `S="` + padded + `"`, want: "would match secret 2 of 2 without what stands around it."},
		{name: "read before", received: "-", want: "The body is empty. Most likely something read it before"},
		{name: "base64", received: inBase64, want: "would match secret 2 of 2, if the body were decoded from base64"},
		{name: "reformatted", sent: `[{"name":"A & B","id":1}]`, received: `[{"name":"A \u0026 B","id":1.0}]`, want: "JSON.stringify prints it, which a receiver in Go accepts."},
		{name: "above 64 KiB", sent: long, received: long + " ", want: "accepts up to 64 KiB alone."},
		{name: "prefix", key: bare, given: "whsec_" + bare, want: "would match secret 2 of 2 without its prefix."},
		{name: "no prefix", key: "whsec_" + bare, given: bare, want: "would match secret 2 of 2 with the prefix whsec_."},
		{name: "without =", key: padded, given: strings.TrimRight(padded, "="), want: "would match secret 2 of 2 with == at its end."},
		{name: "with =", key: bare, given: bare + "=", want: "would match secret 2 of 2 without = at its end."},
		{name: "not decoded", key: decoded, given: padded, want: "would match secret 2 of 2 decoded from base64."},
		{name: "prefix, decoded", key: decoded, given: "whsec_" + strings.TrimRight(padded, "="), want: "would match secret 2 of 2 decoded from base64."},
		{name: "decoded", key: padded, given: decoded, want: "would match secret 2 of 2 encoded in base64."},
		{name: "body with BOM", received: "\ufeff" + body, want: "would match secret 2 of 2, if the body had no byte order mark before it."},
		{name: "UTF-16", sent: umlaut, received: utf16LE(umlaut), want: "if the body were in UTF-8: its charset was changed on the way."},
		{name: "Latin-1", sent: umlaut, received: "[\"Z\xf6e\"]", want: "if the body were in UTF-8: its charset was changed on the way."},
		{name: "gzip", received: "\x1f\x8b\x08\x00", want: "The body is gzip"},
		{name: "element", received: `[{"x":1},` + body + `]`, want: "if the body were its element 1 alone."},
		{name: "without brackets", sent: `[{"id":1}]`, received: ` {"id":1.0}`, want: "if the body were an array with it as the only element."},
		{name: "another secret", given: "another secret", want: "does not match the secret, or any of several."},
	} {
		t.Run(c.name, func(t *testing.T) {
			orElse := func(s *string, otherwise string) {
				if *s == "" {
					*s = otherwise
				}
			}
			orElse(&c.key, secret)
			orElse(&c.given, secret)
			orElse(&c.timestamp, stamp)
			orElse(&c.sent, body)
			orElse(&c.received, body)
			h := signed(c.key, c.timestamp, c.sent)
			if c.edit != nil {
				c.edit(h)
			}
			got := webhook.Diagnose([]string{"one more secret", c.given}, h, []byte(strings.TrimPrefix(c.received, "-")))
			require.Contains(t, got, c.want)
			for _, private := range []string{c.key, "one more secret", "A & B", macOf(c.key, c.timestamp+"."+c.sent)} {
				t.Run(private, func(t *testing.T) {
					require.NotContains(t, got, private)
				})
			}
		})
	}
	require.Contains(t, webhook.Diagnose(nil, signed(secret, stamp, "[]"), []byte("[]")), "No secret was given.")
}

func utf16LE(text string) string {
	out := "\xff\xfe"
	for _, unit := range utf16.Encode([]rune(text)) {
		out += string([]byte{byte(unit), byte(unit >> 8)})
	}
	return out
}

func without(name string) func(http.Header) { return func(h http.Header) { h.Del(name) } }

func editSignature(edit func(string) string) func(http.Header) {
	return func(h http.Header) { h.Set("X-Signature", edit(h.Get("X-Signature"))) }
}

func lowerCaseKey(h http.Header) {
	h["x-signature"] = h["X-Signature"]
	delete(h, "X-Signature")
}

// TestDiagnoseOrder has a proxy on the way that decodes the body into maps and prints it with sorted keys.
func TestDiagnoseOrder(t *testing.T) {
	const guess = "in alphabetical order"
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	files, err := filepath.Glob("../testdata/events/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		sent, err := os.ReadFile(file)
		require.NoError(t, err)
		var value any
		require.NoError(t, json.Unmarshal(sent, &value))
		sorted, err := json.Marshal(value)
		require.NoError(t, err)

		got := webhook.Diagnose([]string{secret}, signed(secret, stamp, string(sent)), sorted)
		if name := filepath.Base(file); name != "empty.json" && name != "unknown_event.json" {
			require.Contains(t, got, guess, name)
			require.Contains(t, got, "does not match the secret", name)
		}
		got = webhook.Diagnose([]string{secret}, signed("another secret", stamp, string(sent)), sent)
		require.NotContains(t, got, guess, "%s as the service prints it", file)
		got = webhook.Diagnose([]string{secret}, signed(secret, stamp, string(sorted)), sorted)
		require.NotContains(t, got, guess, "%s, signed in this order", file)
	}
	for _, row := range []struct {
		body string
		want bool
	}{
		{body: `[{"a":1,"b":2,"c":3,"d":4,"e":5}]`, want: true},
		{body: `"{\"b\":1,\"a\":2,\"c\":3,\"d\":4,\"e\":5}"`, want: false},
		{body: `[{"a":1,"b":2,"c":3,"d":4,"e":5},{"y":1,"\u007a":2}]`, want: true},
		{body: `[{"a":1,"b":2,"c":3,"d":4}]`, want: false}, // may be so by accident
		{body: `[{"a":1,"b":2,"c":3,"d":4,"e":5},{"z":1,"y":2}]`, want: false},
		{body: `[{"a":{"z":1,"y":2},"b":2,"c":3,"d":4,"e":5}]`, want: false},
		{body: `[{"a":1,"b":2,"c":3,"d":4,"e":5}`, want: false},
	} {
		t.Run(row.body, func(t *testing.T) {
			got := webhook.Diagnose([]string{secret}, signed("another secret", stamp, row.body), []byte(row.body))
			require.Equal(t, row.want, strings.Contains(got, guess))
		})
	}
}
