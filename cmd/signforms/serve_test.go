package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// served is a sandbox within the test.
type served struct {
	wire.Credentials
	Listening string
	Console   string `json:"consoleUrl"`
	Data      string
	stderr    *syncBuffer
	stop      func() int // ends it and returns the exit code
}

type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serveInProcess runs serve on a free port until the test ends.
func serveInProcess(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{stderr: &syncBuffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	ready, write := io.Pipe()
	code := make(chan int, 1)
	if !strings.Contains(strings.Join(args, " "), "--addr") {
		args = append(args, "--addr", "127.0.0.1:0")
	}
	go func() {
		code <- run(ctx, hasty, append([]string{"serve", "--json"}, args...), strings.NewReader(""), write, s.stderr)
		write.Close()
	}()
	s.stop = sync.OnceValue(func() int {
		cancel()
		return <-code
	})
	t.Cleanup(func() { s.stop() })
	line, err := io.ReadAll(io.LimitReader(oneLine{ready}, 4096))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(line, s), s.stderr.String())
	return s
}

// oneLine reads up to the end of a line.
type oneLine struct{ r io.Reader }

func (l oneLine) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 && p[n-1] == '\n' {
		return n, io.EOF
	}
	return n, err
}

// get asks the sandbox with headers given as name and value, and returns status and body.
func (s *served) get(t *testing.T, path string, header ...string) (int, string) {
	t.Helper()
	return s.ask(t, http.MethodGet, path, header...)
}

func (s *served) ask(t *testing.T, method, path string, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.BaseURL+path, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			request.Host = header[i+1]
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}

func TestServePrintsItsAddress(t *testing.T) {
	folder := t.TempDir()
	s := serveInProcess(t, "--data", filepath.Join(folder, "sandbox.db"), "--env-file", filepath.Join(folder, "out.env"), "--api-key", "the-key")
	require.Equal(t, "the-key", s.APIKey)
	require.NotEmpty(t, s.WorkspaceID)
	require.NotEmpty(t, s.WebhookSecret)
	require.Equal(t, filepath.Join(folder, "sandbox.db"), s.Data)
	block := s.stderr.String()
	for _, want := range []string{
		"API        " + s.BaseURL + "\n", "API key    the-key\n", "console    " + s.BaseURL + "/_/\n", "data       " + s.Data + ", 0 documents\n",
		"not the real service",
	} {
		require.Contains(t, block, want)
	}
	env, err := os.ReadFile(filepath.Join(folder, "out.env"))
	require.NoError(t, err)
	require.Equal(t, "# Secrets of a sandbox. If this file is in a repository, add it to .gitignore.\n"+
		"SIGNFORMS_SANDBOX_URL="+s.BaseURL+"\nSIGNFORMS_BASE_URL="+s.BaseURL+"\nSIGNFORMS_API_KEY=the-key\nSIGNFORMS_WORKSPACE_ID="+s.WorkspaceID+
		"\nSIGNFORMS_WEBHOOK_SECRETS="+s.WebhookSecret+"\n", string(env))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Join(folder, "out.env"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	for _, path := range []string{"/livez", "/readyz"} {
		status, _ := s.get(t, path)
		require.Equal(t, http.StatusOK, status, path)
	}
	require.Equal(t, cli.ExitOK, s.stop())
}

func TestCredentialsOutliveTheProgram(t *testing.T) {
	data := filepath.Join(t.TempDir(), "sandbox.db")
	first := serveInProcess(t, "--data", data)
	require.Equal(t, cli.ExitOK, first.stop())
	second := serveInProcess(t, "--data", data)
	require.Equal(t, first.APIKey, second.APIKey)
	require.Equal(t, first.WorkspaceID, second.WorkspaceID)
	require.Equal(t, first.WebhookSecret, second.WebhookSecret)
}

func TestTakenPortNamesTheFlag(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, stderr, code := execute(t, "serve", "--memory", "--addr", l.Addr().String())
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "cannot listen on "+l.Addr().String())
	require.Contains(t, stderr, "--addr or $SIGNFORMS_SANDBOX_ADDR")
}

func TestForeignNamesAndPagesAreRefused(t *testing.T) {
	s := serveInProcess(t, "--memory", "--allow-host", "127.0.0.9")
	status, body := s.get(t, "/_/api/v1/status", "Host", "evil.example")
	require.Equal(t, http.StatusMisdirectedRequest, status)
	require.Contains(t, body, "--allow-host")
	status, _ = s.get(t, "/get-documents", "Host", "sandbox", "x-api-key", s.APIKey, "workspaceid", s.WorkspaceID)
	require.Equal(t, http.StatusOK, status, "the API needs a key, which a page under a foreign name does not have")
	for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		status, body = s.ask(t, http.MethodPost, "/_/api/v1/reset", header...)
		require.Equal(t, http.StatusForbidden, status)
		require.Contains(t, body, "origin")
	}
	status, _ = s.ask(t, http.MethodPost, "/_/api/v1/reset", "Origin", s.BaseURL)
	require.Equal(t, http.StatusOK, status)
	const nobody = "/send-reminder?documentId=fdb62a56-0061-40fc-9f41-f3ce0e39c36a"
	status, _ = s.ask(t, http.MethodPost, nobody, "Origin", "https://app.example", "x-api-key", s.APIKey)
	require.Equal(t, http.StatusNotFound, status, "a back end passes on the origin of its page")
}

func TestBeyondLoopbackOnlyTheAPIIsOpen(t *testing.T) {
	s := serveInProcess(t, "--memory", "--addr", "0.0.0.0:0")
	require.Contains(t, s.stderr.String(), "closed")
	status, _ := s.get(t, "/get-documents", "x-api-key", s.APIKey, "workspaceid", s.WorkspaceID)
	require.Equal(t, http.StatusOK, status)
	for _, path := range []string{"/_/api/v1/status", "/_/", "/_/login"} {
		status, body := s.get(t, path)
		require.Equal(t, http.StatusForbidden, status, path)
		require.Contains(t, body, "--token or $SIGNFORMS_SANDBOX_TOKEN", path)
	}
}

func TestTokenOpensTheControlAPI(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "127.0.0.1:0"} {
		s := serveInProcess(t, "--memory", "--addr", addr, "--token", "open sesame")
		for _, given := range [][]string{nil, {"Authorization", "Basic b3BlbiBzZXNhbWU="}} {
			for _, path := range []string{"/_/api/v1/status", "/_/w/" + s.WorkspaceID + "/api/v1/status"} {
				status, body := s.get(t, path, given...)
				require.Equal(t, http.StatusUnauthorized, status)
				require.Contains(t, body, "the token is missing: ")
			}
		}
		for _, wrong := range [][]string{{"Authorization", "Bearer open"}, {"Authorization", "Bearer"}, {"Cookie", "signforms_sandbox=old"}} {
			status, body := s.get(t, "/_/api/v1/status", wrong...)
			require.Equal(t, http.StatusUnauthorized, status)
			require.Contains(t, body, "the token is wrong: ")
			require.NotContains(t, body, "sesame")
		}
		for _, right := range []string{"Bearer open sesame", "bearer open sesame"} {
			status, body := s.get(t, "/_/api/v1/status", "Authorization", right)
			require.Equal(t, http.StatusOK, status, body)
		}
		status, _ := s.get(t, "/_/")
		require.Equal(t, http.StatusSeeOther, status)

		stdout, stderr, code := execute(t, "status", "--url", s.BaseURL, "--token", "open sesame", "--json")
		require.Equal(t, cli.ExitOK, code, stderr)
		require.Contains(t, stdout, `"documents": 0`)
		_, stderr, code = execute(t, "status", "--url", s.BaseURL)
		require.Equal(t, cli.ExitFailure, code)
		require.Contains(t, stderr, "set --token or $SIGNFORMS_SANDBOX_TOKEN")
	}
}

func TestLoginGivesACookieInPlaceOfTheToken(t *testing.T) {
	s := serveInProcess(t, "--memory", "--token", "open sesame")
	post := func(token string) *http.Response {
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := client.PostForm(s.BaseURL+"/_/login", map[string][]string{"token": {token}})
		require.NoError(t, err)
		answer.Body.Close()
		return answer
	}
	require.Equal(t, http.StatusUnauthorized, post("wrong").StatusCode)
	answer := post("open sesame")
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Len(t, answer.Cookies(), 1)
	cookie := answer.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.NotContains(t, cookie.Value, "sesame")
	status, _ := s.get(t, "/_/api/v1/status", "Cookie", cookie.Name+"="+cookie.Value)
	require.Equal(t, http.StatusOK, status)
	status, _ = s.get(t, "/_/api/v1/status", "Cookie", cookie.Name+"=open sesame")
	require.Equal(t, http.StatusUnauthorized, status)
}

func TestReadyWaits(t *testing.T) {
	_, stderr, code := execute(t, "ready", "--url", "http://127.0.0.1:1")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "http://127.0.0.1:1: ")
	_, stderr, code = execute(t, "ready", "--url", "http://127.0.0.1:1", "--wait", "1s")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "not ready within 1s")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	asked := make(chan int, 1)
	go func() {
		_, _, code := execute(t, "ready", "--url", "http://"+addr, "--wait", "60s")
		asked <- code
	}()
	serveInProcess(t, "--memory", "--addr", addr)
	require.Equal(t, cli.ExitOK, <-asked)
}

// Streams of events end at once, a request under way is answered, and the port is free.
func TestServeEndsWithItsStreams(t *testing.T) {
	s := serveInProcess(t, "--memory")
	answer, err := http.Get(s.BaseURL + "/_/api/v1/events")
	require.NoError(t, err)
	defer answer.Body.Close()
	began := time.Now()
	require.Equal(t, cli.ExitOK, s.stop())
	require.Less(t, time.Since(began), 10*time.Second)
	_, err = io.ReadAll(answer.Body)
	require.NoError(t, err, "the stream was broken off")
	_, err = http.Get(s.BaseURL + "/livez")
	require.Error(t, err)
}

func TestSeedIsAppliedOnce(t *testing.T) {
	folder := t.TempDir()
	seed, data := filepath.Join(folder, "seed.yaml"), filepath.Join(folder, "sandbox.db")
	require.NoError(t, os.WriteFile(seed, []byte("documents:\n- name: Lease\n  signers: [{email: ann@example.com}]\n"), 0o600))
	for range 2 {
		s := serveInProcess(t, "--data", data, "--seed", seed)
		require.Contains(t, s.stderr.String(), "1 document")
		require.Equal(t, cli.ExitOK, s.stop())
	}
	require.NoError(t, os.WriteFile(seed, []byte("documents:\n- name: Lease\n- name: \"\"\n"), 0o600))
	_, stderr, code := execute(t, "serve", "--memory", "--addr", "127.0.0.1:0", "--seed", seed)
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, seed+":2: documents[0]: ")
}

func TestCommandsOfARunningSandbox(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	hook, stderr, code := execute(t, "webhooks", "add", "http://127.0.0.1:9/hook", "--event", "new_signature_completed")
	require.Equal(t, cli.ExitOK, code, stderr)
	hook = strings.TrimSpace(hook)
	stdout, _, _ := execute(t, "webhooks", "list")
	require.Contains(t, stdout, hook+"\tnew_signature_completed\ton\thttp://127.0.0.1:9/hook\n")
	delivery, stderr, code := execute(t, "webhooks", "test", hook)
	require.Equal(t, cli.ExitOK, code, stderr)
	_, stderr, code = execute(t, "clock", "settle")
	require.Equal(t, cli.ExitOK, code, stderr)
	stdout, stderr, code = execute(t, "webhooks", "resend", strings.TrimSpace(delivery))
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, "1 delivery is sent again\n", stdout)
	_, _, code = execute(t, "clock", "settle")
	require.Equal(t, cli.ExitOK, code)
	stdout, stderr, _ = execute(t, "webhooks", "resend", hook, "--since", "1h")
	require.Equal(t, "1 delivery is sent again\n", stdout, stderr)
	stdout, _, _ = execute(t, "clock", "advance", "3d")
	require.Contains(t, stdout, "ahead of the wall clock")
	document, stderr, code := execute(t, "documents", "add", "Lease", "--signer", "Ann <ann@example.com>")
	require.Equal(t, cli.ExitOK, code, stderr)
	stdout, stderr, _ = execute(t, "documents", "decline", strings.TrimSpace(document), "--as", "ann@example.com")
	require.Equal(t, "DECLINED\n", stdout, stderr)
	stdout, _, _ = execute(t, "status", "--env")
	require.Contains(t, stdout, "SIGNFORMS_API_KEY="+s.APIKey+"\n")
}

// TestConsoleIsClosedBehindAProxy: with a public URL for others, requests of other machines come through a proxy on this machine.
func TestConsoleIsClosedBehindAProxy(t *testing.T) {
	s := serveInProcess(t, "--memory", "--public-url", "https://sandbox.example.com")
	for path, want := range map[string]int{"/_/api/v1/credentials": http.StatusForbidden, "/_/": http.StatusForbidden, "/livez": http.StatusOK} {
		answer, err := http.Get(s.Listening + path)
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, want, answer.StatusCode, path)
	}
}

// TestEveryAnswerIsSafeByDefault: browsers do not guess the type of an answer, and run no scripts in it.
func TestEveryAnswerIsSafeByDefault(t *testing.T) {
	s := serveInProcess(t, "--memory")
	for _, path := range []string{"/get-documents", "/_/api/v1/status", "/_/api/v1/nowhere", "/documents/x.pdf", "/finished/x", "/sign/x", "/form/x", "/_/", "/_/w/x/", "/_/w/x/api/v1/status", "/nowhere"} {
		answer, err := http.Get(s.BaseURL + path)
		require.NoError(t, err)
		answer.Body.Close()
		require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"), path)
		require.Contains(t, answer.Header.Get("Content-Security-Policy"), "default-src", path)
	}
}

func TestPublicURLIsInLinks(t *testing.T) {
	s := serveInProcess(t, "--memory", "--public-url", "https://sandbox.example.com/")
	require.Equal(t, "https://sandbox.example.com", s.BaseURL)
	for _, wrong := range []string{"sandbox", "ftp://x", "https://x?y", "https://x/below"} {
		_, _, code := execute(t, "serve", "--public-url", wrong)
		require.Equal(t, cli.ExitUsage, code, wrong)
	}
}

func TestDenyPrivateTargets(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the receiver was called") }))
	defer receiver.Close()
	s := serveInProcess(t, "--memory", "--deny-private-targets")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	for _, target := range []string{receiver.URL, strings.Replace(receiver.URL, "127.0.0.1", "localhost", 1)} {
		require.Contains(t, deliveredTo(t, s, target), "webhooks to 127.0.0.1 are denied by --deny-private-targets", target)
	}
}

// deliveredTo delivers a sample to a URL and returns the delivery as JSON.
func deliveredTo(t *testing.T, s *served, target string) string {
	t.Helper()
	hook, stderr, code := execute(t, "webhooks", "add", target, "--event", "new_signature_completed")
	require.Equal(t, cli.ExitOK, code, stderr)
	delivery, _, _ := execute(t, "webhooks", "test", strings.TrimSpace(hook))
	_, stderr, code = execute(t, "clock", "settle")
	require.Equal(t, cli.ExitOK, code, stderr)
	_, body := s.get(t, "/_/api/v1/deliveries/"+strings.TrimSpace(delivery))
	return body
}
