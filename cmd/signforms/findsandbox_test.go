package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
)

// The output of status --env never runs as a command in a shell, even if the sandbox's answer is hostile.
func TestStatusEnvIsSafeToEvaluate(t *testing.T) {
	const key = `a'b"c $(touch ran) ; touch ran # \ ` + "`touch ran`"
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		value := key
		if r.Header.Get("Authorization") == "Bearer line" {
			value = "a\nTOUCHED=1"
		}
		w.Write([]byte(`{"baseUrl":"http://127.0.0.1:1","apiKey":` + quoted(value) + `,"workspaceId":"w","webhookSecret":"s"}`))
	}))
	t.Cleanup(stub.Close)
	stdout, stderr, code := execute(t, "status", "--env", "--url", stub.URL)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stdout, "SIGNFORMS_BASE_URL=http://127.0.0.1:1\n", "plain where that is safe")
	folder := t.TempDir()
	shell := exec.CommandContext(t.Context(), "sh", "-c", `eval "$VARIABLES"; printf %s "$SIGNFORMS_API_KEY"`)
	shell.Dir, shell.Env = folder, []string{"VARIABLES=" + stdout, "PATH=" + os.Getenv("PATH")}
	out, err := shell.Output()
	require.NoError(t, err)
	require.Equal(t, key, string(out))
	require.NoFileExists(t, filepath.Join(folder, "ran"))

	stdout, stderr, code = execute(t, "status", "--env", "--url", stub.URL, "--token", "line")
	require.Equal(t, cli.ExitFailure, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "the value of SIGNFORMS_API_KEY contains control characters")
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Shells, Docker and CI read the file. Values that they would read differently are refused before anything is started.
func TestEnvFileRefusesAmbiguousValues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.env")
	for _, c := range []struct{ flag, value string }{
		{"--api-key", "it's"}, {"--api-key", "a\nb"}, {"--webhook-secret", "a`b`c"}, {"--workspace-id", "~"}, {"--public-url", "http://a$(id)b"},
	} {
		_, stderr, code := execute(t, "serve", "--memory", "--addr", "127.0.0.1:0", "--env-file", file, c.flag, c.value)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", c, stderr)
		require.Contains(t, stderr, "digits and _ . : / @ % + = - only", "%v", c)
		require.Contains(t, stderr, "set another "+c.flag, "%v", c)
		require.NoFileExists(t, file)
	}
	require.NoError(t, sandbox.CheckEnvFile(wire.Credentials{BaseURL: "http://[::1]:4874", APIKey: "aZ09_.:/@%+=-"}))

	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := serveInProcess(t, "--data", data, "--api-key", "it's")
	require.Equal(t, cli.ExitOK, s.stop())
	_, stderr, code := execute(t, "serve", "--data", data, "--addr", "127.0.0.1:0", "--env-file", file)
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "set another --api-key", "also what the data file holds")
	require.NoFileExists(t, file)

	_, stderr, _ = execute(t, "serve", "--memory", "--addr", "127.0.0.1:0", "--env-file", "/nope/x")
	require.Contains(t, stderr, "--env-file /nope/x: no such file or directory")
	require.NotContains(t, stderr, ".signforms-env")
}

func TestSandboxFlagUsesTheVariables(t *testing.T) {
	s := serveInProcess(t, "--memory", "--token", "open sesame")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	_, stderr, code := execute(t, "documents", "list", "--sandbox")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "the sandbox at "+s.BaseURL+" wants its token: set $SIGNFORMS_SANDBOX_TOKEN\n")
	t.Setenv("SIGNFORMS_SANDBOX_TOKEN", "close sesame")
	_, stderr, _ = execute(t, "documents", "list", "--sandbox")
	require.Contains(t, stderr, "has another token: correct $SIGNFORMS_SANDBOX_TOKEN\n")
	_, stderr, _ = execute(t, "status")
	require.Contains(t, stderr, "has another token: correct --token or $SIGNFORMS_SANDBOX_TOKEN\n")
	t.Setenv("SIGNFORMS_SANDBOX_TOKEN", "open sesame")
	_, stderr, code = execute(t, "documents", "list", "--sandbox")
	require.Equal(t, cli.ExitOK, code, stderr)
	_, _, code = execute(t, "documents", "list", "--sandbox="+s.BaseURL)
	require.Equal(t, cli.ExitOK, code)
}

// The sandbox's clock can be moved, so only the sandbox knows which reminders of earlier runs still count.
func TestRemindersToASandboxFollowItsClock(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	t.Setenv("SIGNFORMS_LIMIT_STORE", "")
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	id, _, _ := execute(t, "documents", "add", "Lease", "--signer", "ann@example.com")
	remind := func() (string, int) {
		_, stderr, code := execute(t, "documents", "remind", "--sandbox", strings.TrimSpace(id), "--max-wait", "0s", "--max-attempts", "1")
		return stderr, code
	}
	for range 5 {
		stderr, code := remind()
		require.Equal(t, cli.ExitOK, code, stderr)
	}
	stderr, code := remind()
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "429", "the sandbox itself refuses")
	_, stderr, code = execute(t, "clock", "advance", "20m")
	require.Equal(t, cli.ExitOK, code, stderr)
	stderr, code = remind()
	require.Equal(t, cli.ExitOK, code, stderr)
	entries, err := os.ReadDir(state)
	require.NoError(t, err)
	require.Empty(t, entries, "nothing outlives the run")
}
