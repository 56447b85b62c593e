package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

var recordFiles = flag.Bool("released.record", false, "write testdata/v0.1.0 again, with files that this program makes")

// released is the folder of files that the program of version 0.1.0 wrote: the data files of two workspaces, a CSV
// file, and the results of sending it.
const released = "testdata/v0.1.0"

// TestServe_filesOfARelease starts on a copy of the data files of a release, and continues a batch from a copy of its
// results file.
func TestServe_filesOfARelease(t *testing.T) {
	if *recordFiles {
		recordRelease(t)
	}
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(released)))
	s := serveInProcess(t, "--data", filepath.Join(folder, "sandbox.db"))
	ok := sandboxCommand(t, s)
	require.Contains(t, ok("documents", "list", "--sandbox"), "Lease of the release")
	require.Contains(t, ok("documents", "list", "--sandbox", "--workspace", "alice"), "Lease of Alice")
	ok("documents", "sign", regexp.MustCompile("[0-9a-f-]{36}|[0-9a-f]{24}").FindString(ok("documents", "list", "--sandbox", "--workspace", "alice")), "--as", "ann@example.com", "--workspace", "alice")

	results := filepath.Join(folder, "people.csv.results.csv")
	text, err := os.ReadFile(results)
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	require.Regexp(t, "^template,[0-9a-f-]{36}$", lines[2])
	require.Regexp(t, "^service,http://127.0.0.1:", lines[3])
	lines[3] = "service," + s.BaseURL // the sandbox of the release had another port
	require.NoError(t, os.WriteFile(results, []byte(strings.Join(lines, "\n")), 0o600))
	require.Empty(t, ok("templates", "send", strings.TrimPrefix(lines[2], "template,"), "--csv", filepath.Join(folder, "people.csv"), "--yes"), "nothing is sent twice")
}

func recordRelease(t *testing.T) {
	require.NoError(t, os.RemoveAll(released))
	require.NoError(t, os.MkdirAll(released, 0o755))
	people := filepath.Join(released, "people.csv")
	require.NoError(t, os.WriteFile(people, []byte("Buyer.name,Buyer.email,Seller.name,Seller.email,[fee]\nAnn,ann@example.com,Cem,cem@example.com,10\nBen,ben@example.com,Cem,cem@example.com,11\n"), 0o644))
	s := serveInProcess(t, "--data", filepath.Join(released, "sandbox.db"), "--seed", "testdata/seed.yaml")
	ok := sandboxCommand(t, s)
	ok("documents", "add", "Lease of the release", "--signer", "ann@example.com")
	ok("workspaces", "create", "alice")
	ok("documents", "add", "Lease of Alice", "--signer", "ann@example.com", "--workspace", "alice")
	template := regexp.MustCompile("[0-9a-f-]{36}").FindString(ok("templates", "list"))
	ok("templates", "send", template, "--csv", people, "--yes")
	require.Equal(t, cli.ExitOK, s.stop())
}

// sandboxCommand returns a function that runs a command on the sandbox and returns what it prints. The command must succeed.
func sandboxCommand(t *testing.T, s *served) func(args ...string) string {
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	t.Setenv("SIGNFORMS_BASE_URL", s.BaseURL)
	t.Setenv("SIGNFORMS_API_KEY", s.APIKey)
	t.Setenv("SIGNFORMS_WORKSPACE_ID", s.WorkspaceID)
	return func(args ...string) string {
		t.Helper()
		stdout, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitOK, code, "%v: %s", args, stderr)
		return strings.TrimSpace(stdout)
	}
}
