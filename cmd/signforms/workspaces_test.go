package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Every command that acts on a sandbox acts in the workspace that --workspace or its variable names, by id or name.
func TestWorkspaceCommands(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	ok := func(args ...string) string {
		t.Helper()
		stdout, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitOK, code, "%v: %s", args, stderr)
		return strings.TrimSpace(stdout)
	}
	id := ok("workspaces", "create", "alice", "--lifetime", "1h", "--seed", "testdata/seed.yaml")
	document := ok("documents", "add", "Lease of Alice", "--signer", "ann@example.com", "--workspace", "alice")
	require.Contains(t, ok("documents", "get", document, "--sandbox", "--workspace", id), "Lease of Alice")
	require.NotContains(t, ok("documents", "list", "--sandbox"), "Lease of Alice")
	ok("clock", "advance", "3d", "--workspace", id)
	require.NotContains(t, ok("status"), "ahead of the wall clock")
	listed := ok("workspaces", "list")
	require.Contains(t, listed, id)
	require.Contains(t, listed, "alice")
	require.Contains(t, listed, "1h0m0s")

	t.Setenv("SIGNFORMS_SANDBOX_WORKSPACE", "alice")
	require.Contains(t, ok("status"), "ahead of the wall clock")
	require.Contains(t, ok("status", "--env"), "SIGNFORMS_WORKSPACE_ID="+id)
	require.Contains(t, ok("documents", "list", "--sandbox"), "Lease of Alice")
	ok("documents", "sign", document, "--as", "ann@example.com")
	ok("reset", "--yes")
	require.NotContains(t, ok("documents", "list", "--sandbox"), "Lease of Alice")
	require.Contains(t, ok("status"), "templates   1", "the seed again")
	ok("workspaces", "remove", "alice")
	_, stderr, code := execute(t, "status")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, `there is no workspace "alice"`)
	require.NotContains(t, ok("workspaces", "list"), "alice")
}

// What names no workspace is refused, and never means the first one: a variable is empty when the command that should set it has failed.
func TestWorkspaceNames(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	_, _, code := execute(t, "documents", "add", "Kept", "--signer", "ann@example.com")
	require.Equal(t, cli.ExitOK, code)
	refused := func(want string, args ...string) {
		t.Helper()
		_, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", args, stderr)
		require.Contains(t, stderr, want)
	}
	for _, name := range []string{"..", ".", "alpha/", "a/b", ""} {
		refused("workspace", "workspaces", "remove", name)
		refused("--workspace", "reset", "--yes", "--workspace", name)
		t.Setenv("SIGNFORMS_SANDBOX_WORKSPACE", name)
		refused("SIGNFORMS_SANDBOX_WORKSPACE", "reset", "--yes")
		refused("SIGNFORMS_SANDBOX_WORKSPACE", "documents", "list", "--sandbox")
		require.NoError(t, os.Unsetenv("SIGNFORMS_SANDBOX_WORKSPACE"))
	}
	refused("at least 1s", "workspaces", "create", "--lifetime", "0s")
	for address, want := range map[string]string{"/_/w/alpha/api/v1": "--workspace alpha", "/_/api/v1": "give " + s.BaseURL} {
		refused(want, "status", "--url", s.BaseURL+address)
		refused(want, "documents", "list", "--sandbox="+s.BaseURL+address)
	}
	stdout, _, _ := execute(t, "documents", "list", "--sandbox")
	require.Contains(t, stdout, "Kept")
}
