package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/signformstest"
)

// What probe writes is what the command line reads: an account without its key, with the endpoints that were found.
func TestProbeWritesAnAccount(t *testing.T) {
	s := newService(t, &signformstest.Options{Profile: signformstest.Profile{Endpoints: map[signforms.Operation]signforms.Endpoint{
		signforms.OpListDocuments: {PagesFromZero: true}}}})
	folder := t.TempDir()
	file, keys, code := filepath.Join(folder, "accounts.json"), filepath.Join(folder, "key"), filepath.Join(folder, "account.go")
	require.NoError(t, os.WriteFile(keys, []byte(s.APIKey+"\n"), 0o600))
	t.Setenv("SIGNFORMS_API_KEY", "")
	t.Setenv("SIGNFORMS_API_KEY_FILE", keys)
	_, stderr, exit := execute(t, "probe", "--write", file, "--account", "main", "--go", code)
	require.Equal(t, cli.ExitOK, exit, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), s.APIKey)
	require.JSONEq(t, `{"accounts":{"main":{"baseURL":"`+s.URL+`","workspace":"`+s.WorkspaceID+`","apiKey":{"file":"`+keys+`"},
		"endpoints":{"list documents":{"pagesFromZero":true}}}}}`, string(text))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	for _, name := range []string{"SIGNFORMS_BASE_URL", "SIGNFORMS_WORKSPACE_ID", "SIGNFORMS_API_KEY_FILE"} {
		t.Setenv(name, "")
	}
	for _, args := range [][]string{{"--settings", file}, {"--settings", file, "--account", "main"}} {
		stdout, stderr, exit := execute(t, append([]string{"documents", "list", "--json"}, args...)...)
		require.Equal(t, cli.ExitOK, exit, stderr)
		require.Equal(t, 3, strings.Count(stdout, "\n"))
	}
	t.Setenv("SIGNFORMS_SETTINGS", file)
	stdout, stderr, exit := execute(t, "documents", "list", "--json")
	require.Equal(t, cli.ExitOK, exit, stderr)
	require.Equal(t, 3, strings.Count(stdout, "\n"))
	for args, says := range map[string]string{
		"--account other":                  `the settings hold no account "other", only main`,
		"--account main --base-url http:x": "the account already gives the address and the key",
	} {
		_, stderr, exit := execute(t, append([]string{"documents", "list"}, strings.Fields(args)...)...)
		require.Equal(t, cli.ExitUsage, exit)
		require.Contains(t, stderr, says)
	}
	compiles(t, code)
}

// compiles checks a Go file against the SDK of this tree.
func compiles(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "signforms.OpListDocuments: {PagesFromZero: true},")
	dir, err := os.MkdirTemp(".", "compiled") // within the module, which has the SDK
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "account.go"), text, 0o600))
	out, err := exec.Command("go", "vet", "./"+filepath.Base(dir)).CombinedOutput()
	require.NoError(t, err, string(out))
}

// A key may be in a file beside the settings, in a variable, or printed by a command.
func TestKeySources(t *testing.T) {
	s := newService(t, nil)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key"), []byte(s.APIKey), 0o600))
	t.Setenv("KEY_OF_MINE", s.APIKey)
	t.Setenv("SIGNFORMS_API_KEY", "another")
	for source, code := range map[string]int{
		`{"file":"key"}`:                          cli.ExitOK,
		`{"variable":"KEY_OF_MINE"}`:              cli.ExitOK,
		`{"command":["printenv","KEY_OF_MINE"]}`:  cli.ExitOK,
		`{"variable":"KEY_OF_NOBODY"}`:            cli.ExitUsage,
		`{"command":["false"]}`:                   cli.ExitFailure,
		`{}`:                                      cli.ExitFailure,
		`{"file":"key","variable":"KEY_OF_MINE"}`: cli.ExitFailure,
		`{"key":"secret"}`:                        cli.ExitUsage,
	} {
		file := filepath.Join(folder, "accounts.json")
		require.NoError(t, os.WriteFile(file, []byte(`{"accounts":{"main":{"baseURL":"`+s.URL+`","workspace":"`+s.WorkspaceID+`","apiKey":`+source+`}}}`), 0o600))
		_, stderr, exit := execute(t, "documents", "list", "--settings", file)
		require.Equal(t, code, exit, "%s: %s", source, stderr)
	}
}

// What cannot be written is refused before anything is asked.
func TestProbeChecksItsFilesFirst(t *testing.T) {
	s := newService(t, nil)
	folder := t.TempDir()
	broken, file := filepath.Join(folder, "broken.json"), filepath.Join(folder, "accounts.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"accounts":`), 0o600))
	accounts := `{"accounts":{"default":{"baseURL":"http://127.0.0.1:1","apiKey":{"variable":"KEY_OF_MINE"}},
		"elsewhere":{"baseURL":"` + s.URL + `","workspace":"another","apiKey":{"variable":"KEY_OF_MINE"}}}}`
	require.NoError(t, os.WriteFile(file, []byte(accounts), 0o600))
	mine := filepath.Join(folder, "mine.go")
	require.NoError(t, os.WriteFile(mine, []byte("package mine\n"), 0o600))
	for args, says := range map[string]string{
		"--write " + broken:                               broken,
		"--write " + folder:                               folder,
		"--report " + folder:                              folder,
		"--report " + folder + "/none/probe.md":           folder + "/none",
		"--go " + folder + "/none/account.go":             folder + "/none",
		"--write " + folder + "/none/a.json":              folder + "/none",
		"--go " + mine:                                    "is not from probe",
		"--report " + folder + "/x --go " + folder + "/x": "--go and --report name the same file",
		"--write " + file:                                 "has an account default of another service or workspace: give yours another name with --account",
		"--write " + file + " --account elsewhere":        "has an account elsewhere of another service or workspace",
	} {
		before := len(s.asked())
		_, stderr, exit := execute(t, append([]string{"probe"}, strings.Fields(args)...)...)
		require.Equal(t, cli.ExitUsage, exit, args)
		require.Contains(t, stderr, says, args)
		require.Len(t, s.asked(), before, args)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, accounts, string(text))
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 3, "nothing is left behind")
}

// An account of the same service and workspace gets the endpoints of its lists anew, and keeps the others and where its key is.
func TestProbeKeepsTheKeySource(t *testing.T) {
	s := newService(t, nil)
	file := filepath.Join(t.TempDir(), "accounts.json")
	account := func(endpoints string) string {
		return `{"default":"default","accounts":{"default":{"baseURL":"` + s.URL + `","workspace":"` + s.WorkspaceID + `","apiKey":{"variable":"KEY_OF_MINE"}` + endpoints + `}}}`
	}
	void := `"void document":{"method":"DELETE"}`
	require.NoError(t, os.WriteFile(file, []byte(account(`,"endpoints":{"list documents":{"pagesFromZero":true},`+void+`}`)), 0o600))
	_, stderr, exit := execute(t, "probe", "--write", file)
	require.Equal(t, cli.ExitOK, exit, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.JSONEq(t, account(`,"endpoints":{`+void+`}`), string(text))
}

// When one file cannot be written at the end, the others are.
func TestProbeWritesTheOtherFiles(t *testing.T) {
	newService(t, nil)
	folder := t.TempDir()
	file := filepath.Join(folder, "accounts.json")
	cmd := service.Commands{Sleep: func(context.Context, time.Duration) error { return os.WriteFile(file, []byte("{"), 0o600) }}.Probe()
	cmd.SetArgs([]string{"--write", file, "--report", filepath.Join(folder, "probe.md"), "--go", filepath.Join(folder, "account.go")})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	require.ErrorContains(t, err, file)
	require.Equal(t, cli.ExitFailure, cli.ExitCode(err), "requests were made")
	require.FileExists(t, filepath.Join(folder, "probe.md"))
	require.FileExists(t, filepath.Join(folder, "account.go"))
}

// Other accounts of the file stay. With several, one is named, or the default.
func TestSeveralAccounts(t *testing.T) {
	newService(t, nil)
	file := filepath.Join(t.TempDir(), "accounts.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"default":"old","accounts":{"old":{"baseURL":"http://127.0.0.1:1","apiKey":{"variable":"SIGNFORMS_API_KEY"}}}}`), 0o600))
	_, stderr, exit := execute(t, "probe", "--write", file)
	require.Equal(t, cli.ExitOK, exit, stderr)
	for args, code := range map[string]int{"": cli.ExitFailure, "--account old": cli.ExitFailure, "--account default": cli.ExitOK} {
		_, stderr, exit := execute(t, append([]string{"documents", "list", "--max-attempts", "1", "--settings", file}, strings.Fields(args)...)...)
		require.Equal(t, code, exit, stderr)
	}
}

// The XDG specification says to ignore a relative folder: what is remembered would depend on the working folder.
func TestARelativeStateFolderIsIgnored(t *testing.T) {
	s := newService(t, nil)
	home := t.TempDir()
	t.Chdir(t.TempDir())
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", "state")
	_, stderr, code := s.run(t, "documents remind LEASE")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.NoFileExists(t, "state/signforms/reminders.json")
	require.FileExists(t, filepath.Join(home, ".local/state/signforms/reminders.json"))
}
