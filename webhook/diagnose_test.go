package webhook_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

func TestDiagnose(t *testing.T) {
	const body = `[{"name":"A & B","id":1.0},{"webhookEvent":"new_thing"}]`
	now := time.Now().UTC()
	stamp := strconv.FormatInt(now.Unix(), 10)
	millis := stamp + "000"
	for name, c := range map[string]struct {
		secret    string // of the sender
		timestamp string
		text      string // what the sender signed
		edit      func(http.Header)
		want      string
	}{
		"years ago":              {secret: secret, timestamp: "1732180000", text: "1732180000." + body, want: " days behind this machine's clock."},
		"right":                  {secret: secret, timestamp: stamp, text: stamp + "." + body, want: "matches secret 2 of 5 over the timestamp and the body as given."},
		"body only":              {secret: secret, timestamp: stamp, text: body, want: "would match secret 2 of 5, if the body were signed without the timestamp."},
		"no full stop":           {secret: secret, timestamp: stamp, text: stamp + body, want: "no full stop between timestamp and body."},
		"milliseconds signed":    {secret: secret, timestamp: stamp, text: millis + "." + body, want: "if the timestamp were in milliseconds."},
		"seconds signed":         {secret: secret, timestamp: millis, text: stamp + "." + body, want: "if the timestamp were in seconds."},
		"trimmed secret":         {secret: "padded-secret-0123", timestamp: stamp, text: stamp + "." + body, want: "would match secret 1 of 5 without the white space around it."},
		"newline secret":         {secret: secret + "\n", timestamp: stamp, text: stamp + "." + body, want: "would match secret 2 of 5 with a newline at its end."},
		"prefix left out":        {secret: strings.TrimPrefix(secret, "whsec_"), timestamp: stamp, text: stamp + "." + body, want: "would match secret 2 of 5 without its prefix."},
		"hexadecimal secret":     {secret: "bytes of the secret", timestamp: stamp, text: stamp + "." + body, want: "would match secret 3 of 5 decoded from hexadecimal."},
		"base64 secret":          {secret: "more bytes of the secret", timestamp: stamp, text: stamp + "." + body, want: "would match secret 4 of 5 decoded from base64."},
		"base64 for URLs secret": {secret: "the bytes of a secret >>>???", timestamp: stamp, text: stamp + "." + body, want: "would match secret 5 of 5 decoded from base64."},
		"newline after the body": {secret: secret, timestamp: stamp, text: stamp + "." + body + "\n", want: "if the body ended in a newline."},
		"array of it":            {secret: secret, timestamp: stamp, text: stamp + ".[" + body + "]", want: "if the body were an array of what it is."},
		"JSON.stringify":         {secret: secret, timestamp: stamp, text: stamp + `.[{"name":"A & B","id":1},{"webhookEvent":"new_thing"}]`, want: "JSON.stringify does. A receiver in Go accepts that, unless VerifierOptions.RawOnly is set."},
		"encoding/json":          {secret: secret, timestamp: stamp, text: stamp + `.[{"id":1,"name":"A \u0026 B"},{"webhookEvent":"new_thing"}]`, want: "printed by Go's encoding/json."},
		"HTML escapes":           {secret: secret, timestamp: stamp, text: stamp + `.[{"name":"A \u0026 B","id":1.0},{"webhookEvent":"new_thing"}]`, want: "had <, > and & escaped"},
		"one element":            {secret: secret, timestamp: stamp, text: stamp + `.{"webhookEvent":"new_thing"}`, want: "if the body were its element 1 alone."},
		"array of one element":   {secret: secret, timestamp: stamp, text: stamp + `.[{"webhookEvent":"new_thing"}]`, want: "if the body were an array of its element 1 alone."},
		"two mistakes":           {secret: secret, timestamp: stamp, text: `{"webhookEvent":"new_thing"}`, want: "if the body were signed without the timestamp, if the body were its element 1 alone."},
		"something else":         {secret: secret, timestamp: stamp, text: "something else", want: "does not match any of the 5 secrets"},
		"upper case":             {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: editSignature(strings.ToUpper), want: "X-Signature is in upper-case hexadecimal"},
		"base64":                 {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: editSignature(toBase64), want: "X-Signature is in base64"},
		"base64 for URLs":        {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: editSignature(toURLBase64), want: "X-Signature is in base64"},
		"sha256=":                {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: editSignature(func(s string) string { return "sha256=" + s }), want: "begins with sha256="},
		"white space":            {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: editSignature(func(s string) string { return " " + s }), want: "X-Signature has white space around it"},
		"SHA-1":                  {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: editSignature(func(s string) string { return s[:40] }), want: "X-Signature has 40 hexadecimal digits, an HMAC-SHA256 has 64"},
		"no hexadecimal":         {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: editSignature(func(s string) string { return "!" }), want: "neither hexadecimal nor base64"},
		"no signature":           {secret: secret, timestamp: stamp, text: "", edit: func(h http.Header) { h.Del("X-Signature") }, want: "X-Signature is missing"},
		"no timestamp":           {secret: secret, timestamp: stamp, text: "", edit: func(h http.Header) { h.Del("X-Timestamp") }, want: "X-Timestamp is missing"},
		"two timestamps":         {secret: secret, timestamp: stamp, text: "", edit: func(h http.Header) { h.Add("X-Timestamp", "1") }, want: "X-Timestamp is given 2 times"},
		"lower-case key":         {secret: secret, timestamp: stamp, text: stamp + "." + body, edit: lowerCaseKey, want: `under the key "x-signature"`},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{"X-Timestamp": {c.timestamp}, "X-Signature": {macOf(c.secret, c.text)}}
			if c.edit != nil {
				c.edit(h)
			}
			secrets := []string{" padded-secret-0123\n", secret, hex.EncodeToString([]byte("bytes of the secret")), "whsec_" + toBase64(hex.EncodeToString([]byte("more bytes of the secret"))),
				toURLBase64(hex.EncodeToString([]byte("the bytes of a secret >>>???")))}
			got := webhook.Diagnose(secrets, h, []byte(body))
			require.Contains(t, got, c.want)
			for _, private := range append(secrets, "padded-secret-0123", h.Get("X-Signature"), "A & B") {
				if len(private) > 1 {
					require.NotContains(t, got, private)
				}
			}
		})
	}
}

// TestDiagnoseTransport has a genuine delivery, and what came of its body on the way to the program.
func TestDiagnoseTransport(t *testing.T) {
	const sent = `[{"webhookEvent":"new_form_response","formTitle":"A & B ?>"}]`
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	for _, c := range []struct{ name, received, want string }{
		{name: "read before", received: "", want: "The body is empty. Most likely something read it before"},
		{name: "base64", received: base64.StdEncoding.EncodeToString([]byte(sent)), want: "would match the secret, if the body were decoded from base64"},
		{name: "base64 without padding", received: base64.RawStdEncoding.EncodeToString([]byte(sent)), want: "decoded from base64"},
		{name: "base64 for URLs", received: base64.URLEncoding.EncodeToString([]byte(sent)), want: "decoded from base64"},
		{name: "base64 as a JSON string", received: `"` + base64.StdEncoding.EncodeToString([]byte(sent)) + `"`, want: "decoded from base64"},
		{name: "base64 of a reformatted body", received: base64.StdEncoding.EncodeToString([]byte(" " + sent)), want: "decoded from base64 and printed as JSON.stringify does"},
		{name: "byte order mark", received: "\ufeff" + sent, want: "would match the secret, if the body did not begin with a byte order mark"},
	} {
		got := webhook.Diagnose([]string{secret}, signed(secret, stamp, sent), []byte(c.received))
		require.Contains(t, got, c.want, c.name)
		require.NotContains(t, got, "A & B", c.name)
		require.Equal(t, c.received == "", got == "The body is empty. Most likely something read it before: verify first, or keep the bytes that were received.", c.name)
	}
	got := webhook.Diagnose([]string{secret}, signed(secret, stamp, "\ufeff"+sent), []byte(sent))
	require.Contains(t, got, "if the body began with a byte order mark")
}

// TestDiagnoseSecrets has secrets that were copied with something that nobody sees.
func TestDiagnoseSecrets(t *testing.T) {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	header := signed(secret, stamp, "[{}]")
	for given, want := range map[string]string{
		"\ufeff" + secret:          "would match the secret without its byte order mark.",
		"\ufeff" + secret + "\r\n": "would match the secret without its byte order mark without the white space around it.",
		"whsec_\u200b" + strings.TrimPrefix(secret, "whsec_"): "would match the secret without its invisible characters.",
		"\ufeffanother":   "The secret holds a byte order mark: save the file that it comes from without one, or copy the secret anew.\nThe signature does not match",
		"another\u200b":   "The secret holds an invisible character, such as a zero-width space: copy the secret anew.\nThe signature does not match",
		"another\n":       "The secret begins or ends with white space",
		"an\xffother\xfe": "The signature does not match the secret",
		"":                "The secret is empty",
	} {
		got := webhook.Diagnose([]string{given}, header, []byte("[{}]"))
		require.Contains(t, got, want)
		require.NotContains(t, got, "another")
	}
	got := webhook.Diagnose([]string{"another", "\ufeffanother"}, header, []byte("[{}]"))
	require.Contains(t, got, "Secret 2 of 2 holds a byte order mark")
	require.NotContains(t, got, "Secret 1 of 2 ")
	require.NotContains(t, webhook.Diagnose([]string{"\ufeff" + secret}, signed("other", stamp, ""), nil), "byte order mark", "nothing but the empty body matters")
	binary := "\xff\xfe\ufeff\xff-secret"
	got = webhook.Diagnose([]string{binary}, signed(strings.ReplaceAll(binary, "\ufeff", ""), stamp, "[{}]"), []byte("[{}]"))
	require.Contains(t, got, "would match the secret without its byte order mark.", "other bytes stay as they are")
}

func TestDiagnoseOdd(t *testing.T) {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	for timestamp, want := range map[string]string{
		"1600000000": "behind this machine's clock",
		"9600000000": "ahead of this machine's clock",
		"yesterday":  "in none of the known forms",
		time.Now().UTC().Format("2006-01-02T15:04:05Z"): "The signature matches the secret over the timestamp and the body as given.",
	} {
		require.Contains(t, webhook.Diagnose([]string{secret}, signed(secret, timestamp, "[]"), []byte("[]")), want)
	}
	many := "[" + strings.Repeat("{},", 99) + `{"a":1},{"b":1}]`
	require.Contains(t, webhook.Diagnose([]string{secret}, signed(secret, stamp, `{"a":1}`), []byte(many)), "its element 99 alone")
	require.Contains(t, webhook.Diagnose([]string{secret}, signed(secret, stamp, `{"b":1}`), []byte(many)), "does not match the secret", "the first 100 are tried")
	require.Contains(t, webhook.Diagnose(nil, signed(secret, stamp, "[]"), []byte("[]")), "No secret was given.")
	require.Contains(t, webhook.Diagnose([]string{secret}, signed(secret, stamp, "not JSON"), []byte(" not JSON")), "no white space around it")
}

func editSignature(edit func(string) string) func(http.Header) {
	return func(h http.Header) { h.Set("X-Signature", edit(h.Get("X-Signature"))) }
}

func lowerCaseKey(h http.Header) {
	h["x-signature"] = h["X-Signature"]
	delete(h, "X-Signature")
}

func toURLBase64(digits string) string {
	return strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(toBase64(digits))
}

// toBase64 turns hexadecimal digits into base64.
func toBase64(digits string) string {
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b)
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
	for body, want := range map[string]bool{
		`[{"a":1,"b":2,"c":3,"d":4,"e":5}]`:                    true,
		`[{"a":1,"b":2,"c":3,"d":4,"e":5},{"y":1,"\u007a":2}]`: true,
		`[{"a":1,"b":2,"c":3,"d":4}]`:                          false, // may be so by accident
		`[{"a":1,"b":2,"c":3,"d":4,"e":5},{"z":1,"y":2}]`:      false,
		`[{"a":{"z":1,"y":2},"b":2,"c":3,"d":4,"e":5}]`:        false,
		`[{"a":1,"b":2,"c":3,"d":4,"e":5,"e":6}]`:              false, // nothing that was decoded
		`[{"a":1,"b":2,"c":3,"d":4,"e":5}`:                     false,
		`[{"a":1,"b":2,"c":3,"d":4,"e":5}]]`:                   false,
	} {
		got := webhook.Diagnose([]string{secret}, signed("another secret", stamp, body), []byte(body))
		require.Equal(t, want, strings.Contains(got, guess), body)
	}
}

// A secret that was copied with what stood around it.
func TestDiagnoseCopiedSecret(t *testing.T) {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	for given, want := range map[string]string{
		`"` + secret + `"`:                 "would match the secret without the quotes around it.",
		`'` + secret + "'\n":               "would match the secret without the quotes around it.",
		"WEBHOOK_SECRET=" + secret:         "would match the secret without the name and the equals sign before it.",
		`export S="` + secret + `"` + "\n": "would match the secret without the name and the equals sign before it.",
	} {
		text := webhook.Diagnose([]string{given}, signed(secret, stamp, "[]"), []byte("[]"))
		require.Contains(t, text, want, given)
		require.NotContains(t, text, secret)
	}
	text := webhook.Diagnose([]string{""}, signed(secret, stamp, "[]"), []byte("[]"))
	require.Contains(t, text, "The secret is empty: check the variable or file that it comes from.")
}
