package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

const testSecret = "a secret of the tests"

// typed runs a command line with this on stdin.
func typed(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), hasty, args, strings.NewReader(stdin), &out, &errs)
	require.NotContains(t, out.String()+errs.String(), testSecret)
	return out.String(), errs.String(), code
}

// signedSample returns a sample body, flags with its headers, and a folder with two files: the body, and the whole request.
func signedSample(t *testing.T) (body string, headers []string, dir string) {
	t.Helper()
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", testSecret)
	t.Setenv("SIGNFORMS_WEBHOOK_SECRETS", "")
	payload := webhooktest.Sample(webhook.TypeTemplateResponse)
	stdout, stderr, code := typed(t, string(payload), "webhook", "sign", "--timestamp", "2026-11-21T10:00:00Z")
	require.Equal(t, cli.ExitOK, code, stderr)
	for line := range strings.Lines(stdout) {
		headers = append(headers, "-H", strings.TrimSpace(line))
	}
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "body.json"), payload, 0o600))
	request := fmt.Sprintf("POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s", len(payload), strings.ReplaceAll(stdout, "\n", "\r\n"), payload)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "saved.http"), []byte(request), 0o600))
	return string(payload), headers, dir
}

func TestWebhookSignAndVerify(t *testing.T) {
	body, headers, dir := signedSample(t)
	require.Regexp(t, `^-H X-Timestamp: 1795255200 -H X-Signature: [0-9a-f]{64}$`, strings.Join(headers, " "))
	for name, c := range map[string]struct {
		stdin string
		args  []string
		code  int
		text  string
	}{
		"from stdin":            {body, headers, cli.ExitOK, ""},
		"a dash":                {body, append(headers, "-"), cli.ExitOK, ""},
		"from a file":           {"", append(headers, dir+"/body.json"), cli.ExitOK, ""},
		"a request":             {"", []string{"--request", dir + "/saved.http"}, cli.ExitOK, ""},
		"not the body":          {strings.Replace(body, "SIGNED", "VIEWED", 1), headers, cli.ExitFailure, "signature"},
		"no headers":            {body, nil, cli.ExitFailure, "X-Signature"},
		"too old":               {body, append(headers, "--tolerance", "5m"), cli.ExitFailure, "timestamp"},
		"another secret":        {body, append(headers, "--secret", "some other secret"), cli.ExitFailure, "signature"},
		"a header without name": {body, []string{"-H", "X-Timestamp"}, cli.ExitUsage, "say Name: value"},
		"no request":            {"", []string{"--request", dir + "/body.json"}, cli.ExitFailure, "the request cannot be read"},
		"no file":               {"", []string{dir + "/none"}, cli.ExitFailure, "no such file"},
		"two files":             {"", []string{"a", "b"}, cli.ExitUsage, "give one FILE at most"},
	} {
		stdout, stderr, code := typed(t, c.stdin, append([]string{"webhook", "verify"}, c.args...)...)
		require.Equal(t, c.code, code, "%s: %s", name, stderr)
		if code == cli.ExitOK {
			require.Regexp(t, `^EVENT\tSUBJECT\tABOUT\nnew_template_response\t[0-9a-f-]{36}\t".*" signed by all \d\n$`, stdout, name)
		} else {
			require.Empty(t, stdout, name)
			require.Contains(t, stderr, c.text, name)
		}
	}
	stdout, _, _ := typed(t, body, append([]string{"webhook", "verify", "--json"}, headers...)...)
	require.Regexp(t, `^{"type":"new_template_response","subject":"[0-9a-f-]{36}","event":{.*}}\n$`, stdout)
}

func TestWebhookSecrets(t *testing.T) {
	body, headers, dir := signedSample(t)
	verify := append([]string{"webhook", "verify"}, headers...)
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", "")
	_, stderr, code := typed(t, body, verify...)
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "no webhook secret is given: set SIGNFORMS_WEBHOOK_SECRET, or --secret-file")
	t.Setenv("SIGNFORMS_WEBHOOK_SECRETS", "a newer one,"+testSecret)
	_, stderr, code = typed(t, body, verify...)
	require.Equal(t, cli.ExitOK, code, stderr)
	t.Setenv("SIGNFORMS_WEBHOOK_SECRETS", "")
	require.NoError(t, os.WriteFile(dir+"/secret", []byte(testSecret+"\n"), 0o600))
	_, stderr, code = typed(t, body, append(verify, "--secret-file", dir+"/secret")...)
	require.Equal(t, cli.ExitOK, code, stderr)
	_, stderr, code = typed(t, body, "webhook", "sign", "--secret", " padded ")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "white space")
}

func TestWebhookDiagnose(t *testing.T) {
	body, headers, _ := signedSample(t)
	diagnose := append([]string{"webhook", "diagnose"}, headers...)
	stdout, _, code := typed(t, body, diagnose...)
	require.Equal(t, cli.ExitOK, code)
	require.Contains(t, stdout, "The signature matches the secret")
	stdout, stderr, code := typed(t, strings.TrimSuffix(strings.TrimPrefix(body, "["), "]"), diagnose...)
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stdout, "would match the secret, if the body were an array with it as the only element")
	require.Equal(t, "signforms: the delivery is not genuine\n", stderr)
	stdout, _, code = typed(t, body, "webhook", "diagnose")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stdout, "X-Signature is missing")
}

// receiving starts signforms receive and returns its address and a function that ends it and returns what it printed.
func receiving(t *testing.T, args ...string) (address string, end func() (stdout, stderr string)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var out, errs lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, hasty, append([]string{"receive", "--addr", "127.0.0.1:0"}, args...), strings.NewReader(""), &out, &errs)
	}()
	at := regexp.MustCompile(`receiving at (http://\S+/)`)
	require.Eventually(t, func() bool { return at.MatchString(errs.String()) }, 10*time.Second, time.Millisecond)
	return at.FindStringSubmatch(errs.String())[1], func() (string, string) {
		stop()
		require.Equal(t, cli.ExitOK, <-ended)
		return out.String(), errs.String()
	}
}

func TestReceive(t *testing.T) {
	s := newService(t, &signformstest.Options{})
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", s.WebhookSecret)
	dir := filepath.Join(t.TempDir(), "samples")
	address, end := receiving(t, "--record", dir)
	for _, family := range []signformstest.EventFamily{signformstest.FamilySignatureCompleted, signformstest.FamilyTemplateResponse} {
		s.AddWebhook(signformstest.Webhook{URL: address + "hook", Event: family})
	}
	require.NoError(t, s.Signer(s.lease, "ben@example.com").Sign())
	require.NoError(t, s.Signer(s.sent, "ann@example.com").View())
	require.NoError(t, s.WaitDeliveries(t.Context()))

	for _, spoil := range []func(r *http.Request){
		func(r *http.Request) { r.Header.Set(webhook.SignatureHeader, strings.Repeat("0", 64)) },
		func(r *http.Request) { r.Header.Del(webhook.TimestampHeader) },
	} {
		r := webhooktest.NewRequest(address, s.WebhookSecret, time.Now(), webhooktest.Sample(webhook.TypeFormResponse))
		spoil(r)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	}
	resp, err := http.Post(address, "application/json", bytes.NewReader(make([]byte, 1<<20+1)))
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
	require.Equal(t, "408 Request Timeout", postCutShort(t, address))

	s.Close()
	http.DefaultClient.CloseIdleConnections()
	stdout, stderr := end()
	for _, line := range []string{
		"new_signature_pdf_individual_signed\tLEASE\t\"Lease, flat 7\" signed by ben@example.com\n",
		"new_signature_pdf_completed\tLEASE\t\"Lease, flat 7\" signed by all 2\n",
		"new_template_response_individual_viewed\tOFFER\t\"Offer\" viewed by ann@example.com (Buyer)\n",
	} {
		require.Contains(t, s.named(stdout), line)
	}
	require.Equal(t, 4, strings.Count(stderr, " refused POST /: "), stderr)
	require.Contains(t, stderr, "refused POST /: the body is larger than 1048576 bytes\n")
	require.Contains(t, stderr, "refused POST /: the body did not arrive whole: the connection broke\n")
	require.Contains(t, stderr, "does not match the secret")
	require.NotContains(t, stdout+stderr, s.WebhookSecret)

	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		for _, personal := range []string{"Lease", "ann@", "ben@", "author@", s.lease, s.offer, s.URL} {
			require.NotContains(t, string(text), personal)
		}
		events, err := webhook.Parse(text)
		require.NoError(t, err)
		require.Contains(t, f.Name(), string(events[0].EventType()))
	}
}

// postCutShort sends half of a body, and returns the status of the answer.
func postCutShort(t *testing.T, address string) string {
	conn, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(address, "http:"), "/"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf")
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.Status
}

func TestReceiveJSON(t *testing.T) {
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", testSecret)
	address, end := receiving(t, "--json")
	resp, err := http.DefaultClient.Do(webhooktest.NewRequest(address, testSecret, time.Now(), []byte(`[{"webhookEvent":"something_new","x":1}]`)))
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	stdout, _ := end()
	require.Equal(t, `{"type":"something_new","subject":"","event":{"webhookEvent":"something_new","x":1}}`+"\n", stdout)
}

// A connection without a request does not keep receive from ending, and is not an error.
func TestReceiveEndsWithAnOpenConnection(t *testing.T) {
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", testSecret)
	address, end := receiving(t)
	conn, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(address, "http:"), "/"))
	require.NoError(t, err)
	defer conn.Close()
	end()
}

func TestReceiveOnATakenAddress(t *testing.T) {
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", testSecret)
	address, end := receiving(t)
	defer end()
	_, stderr, code := execute(t, "receive", "--addr", strings.Trim(strings.TrimPrefix(address, "http:"), "/"))
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "address already in use; choose another one with --addr")
}
