package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// TestErrors_sayWhatToDo runs commands that fail for a reason outside of the program.
func TestErrors_sayWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, c := range []struct {
		name, command, says string
		env                 map[string]string
		code                int
	}{
		{name: "unknown subcommand before its flags", command: "documents view ID --as ann@example.com", code: cli.ExitUsage, says: `unknown command "view" for signforms documents`},
		{name: "nearest subcommand", command: "documents lst --as ann@example.com", code: cli.ExitUsage, says: "did you mean list"},
		{name: "unknown command before its flags", command: "serv --memory", code: cli.ExitUsage, says: "did you mean serve"},
		{name: "unknown flag of a group", command: "documents --foo", code: cli.ExitUsage, says: "unknown flag: --foo"},
		{name: "accounts without a home", command: "accounts", env: map[string]string{"HOME": ""}, code: cli.ExitUsage, says: "there is no home folder (HOME)"},
		{name: "reminders without a home", command: "documents remind 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11", env: map[string]string{"HOME": file}, code: cli.ExitUsage,
			says: "set XDG_STATE_HOME or --limit-store"},
		{name: "nothing to sign", command: "webhook sign", code: cli.ExitUsage, says: "there is no input: name a file, or pipe it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "SIGNFORMS_SETTINGS", "SIGNFORMS_LIMIT_STORE"} {
				t.Setenv(name, "")
			}
			t.Setenv("SIGNFORMS_BASE_URL", "http://127.0.0.1:1")
			t.Setenv("SIGNFORMS_API_KEY", "key")
			t.Setenv("SIGNFORMS_WEBHOOK_SECRET", "secret")
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			_, stderr, code := execute(t, strings.Fields(c.command)...)
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stderr, c.says)
		})
	}
}

// TestErrors_portSpeaksTLS calls a port that closes a connection on which no TLS begins.
func TestErrors_portSpeaksTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 4<<10))
			conn.Close()
		}
	}()
	t.Setenv("SIGNFORMS_BASE_URL", "http://"+l.Addr().String())
	t.Setenv("SIGNFORMS_API_KEY", "key")
	for _, command := range []string{"status --url http://" + l.Addr().String(), "documents list"} {
		_, stderr, code := execute(t, strings.Fields(command)...)
		require.Equal(t, cli.ExitFailure, code)
		require.Contains(t, stderr, "if the port speaks TLS, write https:// in the URL")
	}
}

// TestProbe_wideAndLargeResponses reads totals after the tenth value, and a response that is larger than probe reads.
func TestProbe_wideAndLargeResponses(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var fields strings.Builder
		for i := range 12 {
			fmt.Fprintf(&fields, `"a%02d":1,`, i)
		}
		if r.URL.Query().Get("limit") == "101" {
			fmt.Fprintf(&fields, `"pad":"%s",`, strings.Repeat("x", 35<<20))
		}
		fmt.Fprintf(w, `{"documents":[],%s"totalDocuments":7}`, fields.String())
	}))
	defer service.Close()
	t.Setenv("SIGNFORMS_BASE_URL", service.URL)
	t.Setenv("SIGNFORMS_API_KEY", "key")
	stdout, stderr, _ := execute(t, "probe")
	require.Contains(t, stdout, "totalDocuments 7", stderr)
	require.Contains(t, stdout, "200 OK, read only to 32 MiB")
}

// TestBodies_markAndGzip sends JSON with a byte order mark, and compressed, to the API and the control API.
func TestBodies_markAndGzip(t *testing.T) {
	s := serveInProcess(t, "--memory")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, `{}`)
	require.NoError(t, w.Close())
	for _, c := range []struct {
		name, path, body string
		status           int
		says             string
	}{
		{name: "control API, mark", path: "/_/api/v1/documents", body: "\ufeff" + `{"name":"Lease","signers":[{"email":"ann@example.com"}]}`, status: 201},
		{name: "control API, gzip", path: "/_/api/v1/documents", body: packed.String(), status: 400, says: "is gzip"},
		{name: "API, mark", path: "/void-document", body: "\ufeff" + `{"documentId":"11111111-2222-4333-8444-555555555555","documentType":"PDF"}`, status: 404},
		{name: "API, gzip", path: "/void-document", body: packed.String(), status: 400, says: "is gzip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), "POST", s.BaseURL+c.path, strings.NewReader(c.body))
			require.NoError(t, err)
			r.Header.Set("x-api-key", s.APIKey)
			r.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, c.status, resp.StatusCode, string(text))
			require.Contains(t, string(text), c.says)
		})
	}
}
