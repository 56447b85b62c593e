package webhook_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

// TestVerifyRecorded checks signatures that Node.js has made.
func TestVerifyRecorded(t *testing.T) {
	text, err := os.ReadFile("../testdata/signatures.json")
	require.NoError(t, err)
	var recorded []struct{ Name, Secret, Timestamp, Body, Signature string }
	require.NoError(t, json.Unmarshal(text, &recorded))
	require.NotEmpty(t, recorded)
	for _, r := range recorded {
		t.Run(r.Name, func(t *testing.T) {
			header := http.Header{"X-Signature": {r.Signature}, "X-Timestamp": {r.Timestamp}}
			at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) // all of them are within a second of it
			v := newVerifier(t, &webhook.VerifierOptions{Now: func() time.Time { return at }, Tolerance: time.Second}, r.Secret)
			got, err := v.Verify(header, []byte(r.Body))
			require.NoError(t, err)
			require.Equal(t, webhook.Verified{Payload: []byte(r.Body), Timestamp: got.Timestamp}, got)
			if len(r.Timestamp) == 10 {
				require.Equal(t, header, webhook.Sign(r.Secret, got.Timestamp, []byte(r.Body)))
			}

			_, err = v.Verify(header, []byte(r.Body+"x"))
			require.ErrorIs(t, err, webhook.ErrSignature)
		})
	}
}

func TestVerifyRefuses(t *testing.T) {
	const body = `[{"webhookEvent":"new_form_response","respondentEmail":"ann@example.com"}]`
	good := signed(secret, "1795176000", body)
	signature := good["X-Signature"][0]
	for _, c := range []struct {
		name   string
		header http.Header
		body   string
		want   error
		text   string
	}{
		{name: "no signature", header: http.Header{"X-Timestamp": good["X-Timestamp"]}, body: body, want: webhook.ErrHeaderMissing, text: "X-Signature"},
		{name: "no timestamp", header: http.Header{"X-Signature": good["X-Signature"]}, body: body, want: webhook.ErrHeaderMissing, text: "X-Timestamp"},
		{name: "two signatures", header: header(signature, signature, "1795176000"), body: body, want: webhook.ErrHeaderRepeated, text: "X-Signature"},
		{name: "two timestamps", header: http.Header{"X-Signature": {signature}, "X-Timestamp": {"1795176000", "1795176000"}}, body: body, want: webhook.ErrHeaderRepeated, text: "X-Timestamp"},
		{name: "empty signature", header: header("", "1795176000"), body: body, want: webhook.ErrHeaderMalformed, text: "X-Signature"},
		{name: "upper-case signature", header: header(strings.ToUpper(signature), "1795176000"), body: body, want: webhook.ErrHeaderMalformed, text: "lower-case"},
		{name: "short signature", header: header(signature[:62], "1795176000"), body: body, want: webhook.ErrHeaderMalformed, text: "X-Signature"},
		{name: "long signature", header: header(signature+"00", "1795176000"), body: body, want: webhook.ErrHeaderMalformed, text: "X-Signature"},
		{name: "signature not hex", header: header(signature[:63]+"g", "1795176000"), body: body, want: webhook.ErrHeaderMalformed, text: "X-Signature"},
		{name: "prefixed signature", header: header("sha256="+signature, "1795176000"), body: body, want: webhook.ErrHeaderMalformed, text: "X-Signature"},
		{name: "other signature", header: header("0"+signature[:63], "1795176000"), body: body, want: webhook.ErrSignature},
		{name: "other timestamp", header: header(signature, "1795176001"), body: body, want: webhook.ErrSignature},
		{name: "other body", header: good, body: strings.Replace(body, "ann", "bob", 1), want: webhook.ErrSignature},
		{name: "body not JSON", header: good, body: "x", want: webhook.ErrSignature},
		{name: "empty body", header: good, body: "", want: webhook.ErrSignature},
		{name: "other secret", header: signed("another secret", "1795176000", body), body: body, want: webhook.ErrSignature},
		{name: "late", header: signed(secret, "1795175699", body), body: body, want: webhook.ErrTimestamp, text: "5m1s behind the clock, 5m0s allowed"},
		{name: "early", header: signed(secret, "1795176301", body), body: body, want: webhook.ErrTimestamp, text: "5m1s ahead of the clock, 5m0s allowed"},
		{name: "late and forged", header: signed("another secret", "1795175699", body), body: body, want: webhook.ErrSignature},
		{name: "too large", header: good, body: body + strings.Repeat(" ", 200), want: webhook.ErrTooLarge, text: "more than 174 bytes, see VerifierOptions.MaxBody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVerifier(t, &webhook.VerifierOptions{Now: atNoon, MaxBody: len(body) + 100})
			got, err := v.Verify(c.header, []byte(c.body))
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
			require.Zero(t, got)
			for _, private := range []string{secret, signature, "ann@"} {
				t.Run(private, func(t *testing.T) {
					require.NotContains(t, err.Error(), private)
				})
			}
		})
	}
}

// TestVerifyMaxBody has a body of exactly the limit, and a limit beyond which there is no number.
func TestVerifyMaxBody(t *testing.T) {
	for _, limit := range []int{2, math.MaxInt} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			v := newVerifier(t, &webhook.VerifierOptions{Now: atNoon, MaxBody: limit})
			_, err := v.Verify(signed(secret, "1795176000", "[]"), []byte("[]"))
			require.NoError(t, err)
			requireAnswer(t, serve(webhook.NewHandler(v, webhook.Funcs{Default: ignore}, nil), "[]"), 200, `{"status":"ok"}`)
		})
	}
}

// header takes one or more signatures, then a timestamp.
func header(values ...string) http.Header {
	last := len(values) - 1
	return http.Header{"X-Signature": values[:last], "X-Timestamp": values[last:]}
}

func TestVerifyTolerance(t *testing.T) {
	for _, c := range []struct {
		tolerance, off time.Duration
		want           error
	}{
		{off: 5 * time.Minute},
		{tolerance: 5 * time.Minute, off: 5 * time.Minute},
		{off: -5 * time.Minute},
		{off: 5*time.Minute + time.Second, want: webhook.ErrTimestamp},
		{off: -5*time.Minute - time.Second, want: webhook.ErrTimestamp},
		{tolerance: time.Second, off: time.Second},
		{tolerance: time.Second, off: 2 * time.Second, want: webhook.ErrTimestamp},
		{tolerance: -1, off: 20 * 365 * 24 * time.Hour},
		{tolerance: -1, off: -20 * 365 * 24 * time.Hour},
	} {
		t.Run(fmt.Sprintf("tolerance %v, timestamp %v off", c.tolerance, c.off), func(t *testing.T) {
			v := newVerifier(t, &webhook.VerifierOptions{Now: atNoon, Tolerance: c.tolerance})
			_, err := v.Verify(webhook.Sign(secret, noon.Add(c.off), []byte("[]")), []byte("[]"))
			require.ErrorIs(t, err, c.want)
		})
	}
}

// TestVerifyFarTimestamps has timestamps whose distance from the clock does not fit into a time.Duration.
func TestVerifyFarTimestamps(t *testing.T) {
	for _, timestamp := range []string{"0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"} {
		t.Run(timestamp, func(t *testing.T) {
			_, err := newVerifier(t, nil).Verify(signed(secret, timestamp, "[]"), []byte("[]"))
			require.ErrorIs(t, err, webhook.ErrTimestamp)
		})
	}
}

func TestVerifySecrets(t *testing.T) {
	v := newVerifier(t, nil, "new-secret-0123456789", "old-secret-0123456789", "old-secret-0123456789")
	for i, s := range []string{"new-secret-0123456789", "old-secret-0123456789"} {
		t.Run(s, func(t *testing.T) {
			got, err := v.Verify(signed(s, "1795176000", "[]"), []byte("[]"))
			require.NoError(t, err)
			require.Equal(t, i, got.SecretIndex)
		})
	}
}

func TestVerifyReserialized(t *testing.T) {
	const sent = `[{"1":1,"name":"A & B <c>","page":0.1}]`
	const received = "[ {\"name\":\"A \\u0026 B <c>\",\n\t\"page\":1e-1,\"1\":1.0} ]\n"
	h := signed(secret, "1795176000", sent)
	got, err := newVerifier(t, nil).Verify(h, []byte(received))
	require.NoError(t, err)
	require.Equal(t, webhook.Verified{Payload: []byte(sent), Timestamp: noon, Reserialized: true}, got)
}

func TestNewVerifier_refuses(t *testing.T) {
	_, err := webhook.NewVerifier(nil, nil)
	require.ErrorContains(t, err, "no secrets")

	_, err = webhook.NewVerifier([]string{"fine-0123456789", "", "whsec_x \n", "\u00a0whsec_y"}, &webhook.VerifierOptions{MaxBody: -1})
	require.ErrorContains(t, err, "secrets[1] is empty: check the variable or file that it comes from")
	require.ErrorContains(t, err, "secrets[2] begins or ends with white space")
	require.ErrorContains(t, err, "secrets[3] begins or ends with white space")
	require.ErrorContains(t, err, "MaxBody is -1")

	const invisible = "secrets[0] holds an invisible character"
	for _, row := range []struct{ mark, want string }{
		{mark: "\ufeff", want: "secrets[0] holds a byte order mark"}, {mark: "\u200b", want: invisible}, {mark: "\u200d", want: invisible},
		{mark: "\u2060", want: invisible}, {mark: "\u200e", want: invisible},
	} {
		t.Run(row.mark, func(t *testing.T) {
			for _, bad := range []string{row.mark + secret, secret + row.mark, "whsec_" + row.mark + "0123456789", row.mark + secret + "\n"} {
				t.Run(bad, func(t *testing.T) {
					_, err := webhook.NewVerifier([]string{bad}, nil)
					require.ErrorContains(t, err, row.want, "%U", row.mark)
				})
			}
		})
	}
	require.NotContains(t, err.Error(), "whsec")
}

// TestVerify_FIPSOnly runs itself once more in FIPS 140-only mode, where crypto/hmac panics on short keys.
func TestVerify_FIPSOnly(t *testing.T) {
	if os.Getenv("GODEBUG") != "fips140=only" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestVerify_FIPSOnly$", "-test.v")
		cmd.Env = append(os.Environ(), "GODEBUG=fips140=only")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestVerify_FIPSOnly")
		return
	}
	_, err := webhook.NewVerifier([]string{"13 bytes long"}, nil)
	require.ErrorContains(t, err, "fewer than 14 bytes")
	require.NotEmpty(t, webhook.Diagnose([]string{"13 bytes long"}, webhook.Sign("14 bytes long.", noon, nil), nil))
	_, err = newVerifier(t, nil, "14 bytes long.").Verify(webhook.Sign("14 bytes long.", noon, []byte("[]")), []byte("[]"))
	require.NoError(t, err)
}

func TestVerifier_secretsAreNotPrinted(t *testing.T) {
	v := newVerifier(t, nil)
	_, err := v.Verify(webhook.Sign(secret, noon, nil), nil) // fills the pool of keyed hashes
	require.NoError(t, err)
	h := webhook.NewHandler(v, webhook.Funcs{Default: ignore}, nil)
	for _, value := range []any{v, *v, h, *h} {
		t.Run(fmt.Sprint(value), func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
				t.Run(verb, func(t *testing.T) {
					text := fmt.Sprintf(verb, value)
					require.NotContains(t, text, secret)
					require.NotContains(t, text, fmt.Sprintf("%x", secret))
					require.NotContains(t, text, strings.Trim(fmt.Sprint([]byte(secret)), "[]"))
				})
			}
			text, err := json.Marshal(value)
			require.NoError(t, err)
			require.Equal(t, "{}", string(text))
		})
	}
}
