package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// A key may be in a file beside the settings, or in a variable.
func TestKeySources(t *testing.T) {
	s := newService(t, nil)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key"), []byte(s.APIKey), 0o600))
	t.Setenv("KEY_OF_MINE", s.APIKey)
	t.Setenv("SIGNFORMS_API_KEY", "another")
	for source, code := range map[string]int{
		`{"file":"key"}`:                         cli.ExitOK,
		`{"variable":"KEY_OF_MINE"}`:             cli.ExitOK,
		`{"variable":"KEY_OF_NOBODY"}`:           cli.ExitUsage,
		`{"command":["printenv","KEY_OF_MINE"]}`: cli.ExitUsage,
		`{}`:                                     cli.ExitUsage,
		`null`:                                   cli.ExitUsage,
		`{"file":"key","variable":"KEY_OF_MINE"}`: cli.ExitUsage,
		`{"key":"secret"}`:                        cli.ExitUsage,
	} {
		file := filepath.Join(folder, "accounts.json")
		require.NoError(t, os.WriteFile(file, []byte(`{"accounts":{"main":{"baseURL":"`+s.URL+`","workspace":"`+s.WorkspaceID+`","apiKey":`+source+`}}}`), 0o600))
		_, stderr, exit := execute(t, "documents", "list", "--settings", file)
		require.Equal(t, code, exit, "%s: %s", source, stderr)
	}
}

// accounts writes a settings file with one account or more, "NAME": {…} each.
func accounts(t *testing.T, file string, texts ...string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(`{"accounts":{`+strings.Join(texts, ",")+`}}`), 0o600))
}

// A key in the settings is refused with what to write instead, and is not repeated.
func TestSettingsHoldNoKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accounts.json")
	for account, says := range map[string]string{
		`"apiKey":"hunter2"`: "apiKey must be", `"apiKey":{"key":"hunter2"}`: "apiKey must be",
		`"apiKey":{"value":"hunter2","file":"f"}`: "apiKey must be", `"workspace":"x"`: "apiKey must be",
		`"key":"hunter2"`: "an account has baseURL, workspace, apiKey and endpoints",
	} {
		accounts(t, file, `"main":{"baseURL":"http://127.0.0.1:1",`+account+`}`)
		_, stderr, exit := execute(t, "documents", "list", "--settings", file)
		require.Equal(t, cli.ExitUsage, exit, stderr)
		require.Contains(t, stderr, says, account)
		require.NotContains(t, stderr, "hunter2", account)
	}
}

// Flags come before variables, and these before the default settings. Two variables that each name a service are refused.
func TestWhatChoosesTheService(t *testing.T) {
	s := newService(t, nil)
	home := t.TempDir()
	named, byDefault := filepath.Join(home, "named.json"), filepath.Join(home, "signforms", "accounts.json")
	t.Setenv("KEY_OF_MINE", s.APIKey)
	account := func(name, workspace string) string {
		return fmt.Sprintf(`%q:{"baseURL":%q,"workspace":%q,"apiKey":{"variable":"KEY_OF_MINE"}}`, name, s.URL, workspace)
	}
	accounts(t, named, account("a", "named-a"), account("b", "named-b"))
	accounts(t, byDefault, account("only", "default-only"))
	clear := map[string]string{"SIGNFORMS_BASE_URL": "", "SIGNFORMS_WORKSPACE_ID": "variable", "SIGNFORMS_SETTINGS": "", "SIGNFORMS_ACCOUNT": "", "XDG_CONFIG_HOME": home}
	both := "SIGNFORMS_BASE_URL and SIGNFORMS_SETTINGS or SIGNFORMS_ACCOUNT each name a service"
	for _, c := range []struct {
		args, variables, workspace, says string
	}{
		{args: "", variables: "", workspace: "default-only"},
		{args: "", variables: "XDG_CONFIG_HOME=relative", says: "no service is named"},
		{args: "", variables: "SIGNFORMS_BASE_URL=" + s.URL, workspace: "variable"},
		{args: "--workspace flag", variables: "SIGNFORMS_BASE_URL=" + s.URL, workspace: "flag"},
		{args: "--workspace flag", variables: "", workspace: "flag"},
		{args: "--base-url " + s.URL, variables: "", workspace: "variable"},
		{args: "--base-url " + s.URL, variables: "SIGNFORMS_SETTINGS=" + named + " SIGNFORMS_ACCOUNT=a", workspace: "variable"},
		{args: "--account only", variables: "SIGNFORMS_BASE_URL=" + s.URL, workspace: "default-only"},
		{args: "--account b --settings " + named, variables: "SIGNFORMS_ACCOUNT=a", workspace: "named-b"},
		{args: "--settings " + named, variables: "SIGNFORMS_ACCOUNT=a", workspace: "named-a"},
		{args: "--account b", variables: "SIGNFORMS_SETTINGS=" + named, workspace: "named-b"},
		{args: "", variables: "SIGNFORMS_SETTINGS=" + named, says: "the settings hold 2 accounts: name one with --account"},
		{args: "", variables: "SIGNFORMS_ACCOUNT=only", workspace: "default-only"},
		{args: "", variables: "SIGNFORMS_ACCOUNT=none", says: `no account "none", only only`},
		{args: "", variables: "SIGNFORMS_ACCOUNT=only SIGNFORMS_BASE_URL=" + s.URL, says: both},
		{args: "", variables: "SIGNFORMS_SETTINGS=" + named + " SIGNFORMS_BASE_URL=" + s.URL, says: both},
		{args: "--sandbox --account only", says: "leave out --base-url, --api-key-file, --settings and --account"},
		{args: "--account only --base-url " + s.URL, says: "the account already gives the address"},
		{args: "--settings " + named + ".none", says: "no such file or directory"},
	} {
		t.Run(strings.ReplaceAll(c.args+" "+c.variables, home, ""), func(t *testing.T) {
			for name, value := range clear {
				t.Setenv(name, value)
			}
			for _, set := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(set, "=")
				t.Setenv(name, value)
			}
			before := len(s.Requests())
			_, stderr, exit := execute(t, append([]string{"documents", "list"}, strings.Fields(c.args)...)...)
			if c.says != "" {
				require.Equal(t, cli.ExitUsage, exit, stderr)
				require.Contains(t, stderr, c.says)
				require.Len(t, s.Requests(), before)
				return
			}
			require.Equal(t, c.workspace, s.Requests()[before].Header.Get("workspaceid"), stderr)
		})
	}
}

// A file with a secret that others on the machine can read is named, as ssh does.
func TestFilesThatOthersCanRead(t *testing.T) {
	newService(t, nil)
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("a secret that is long enough"), 0o600))
	for mode, warns := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o604: true} {
		require.NoError(t, os.Chmod(key, mode))
		for _, command := range []string{"documents list --api-key-file", "webhook sign --secret-file"} {
			_, stderr, _ := execute(t, append(strings.Fields(command), key)...)
			require.Equal(t, warns, strings.Contains(stderr, key+" holds a secret, and others on this machine can read it"), "%v %v", mode, stderr)
		}
	}
}

func TestAccountsAreListed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	_, stderr, code := execute(t, "accounts")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, filepath.Join(home, "signforms", "accounts.json"))
	file := filepath.Join(home, "signforms", "accounts.json")
	accounts(t, file, `"test":{"baseURL":"http://a","apiKey":{"variable":"KEY_OF_TEST"}}`, `"main":{"baseURL":"http://b","workspace":"w","apiKey":{"file":"key"}}`)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(`{"default":"main",`+string(text)[1:]), 0o600))
	stdout, stderr, code := execute(t, "accounts")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, "ACCOUNT\tDEFAULT\tSERVICE\tWORKSPACE\tAPI KEY\nmain\tyes\thttp://b\tw\tfile key\ntest\t\thttp://a\t\tvariable KEY_OF_TEST\n", stdout)
	stdout, _, _ = execute(t, "accounts", "--json")
	require.Equal(t, `{"account":"main","default":true,"baseURL":"http://b","workspace":"w","apiKey":"file key"}`, strings.Split(stdout, "\n")[0])
}

// whoami claims that a key works only if a random one does not.
func TestWhoamiWantsAWitness(t *testing.T) {
	s := newService(t, nil)
	stdout, stderr, code := s.run(t, "whoami")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, "service    URL\nchosen by  flags and variables\nkey        works: the service responds, and refuses a random key (403)\n"+
		"workspace  UUID works: the service responds, and refuses a random workspace (403)\n", stdout)
	require.Equal(t, []string{"GET /get-documents", "GET /get-documents", "GET /get-documents", "GET /get-documents"}, s.asked(), "the last with the own key")
	t.Setenv("SIGNFORMS_WORKSPACE_ID", "")
	stdout, stderr, code = s.run(t, "whoami --json")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stdout, `"workspace": ""`)
	t.Setenv("SIGNFORMS_API_KEY", "another")
	stdout, stderr, code = s.run(t, "whoami")
	require.Equal(t, cli.ExitFailure, code)
	require.Equal(t, "service    URL\nchosen by  flags and variables\nkey        refused: the service refuses it or, if the key is right, the workspace\n"+
		"workspace  not named: the workspace of the key, which the service does not report\n", stdout)
	require.Contains(t, stderr, "403 forbidden")
	stdout, _, _ = s.run(t, "whoami --json")
	require.Contains(t, stdout, `"verdict": "refused"`)
	require.NotContains(t, stdout, "workspaceProof")

	const one = `{"documents":[{"documentId":"0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11"}]}`
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, mine bool)
		code   int
		says   string
	}{
		"nothing to anybody": {func(w http.ResponseWriter, _ bool) { io.WriteString(w, `{"documents":[]}`) }, cli.ExitFailure, "cannot tell: the service answers a random key alike"},
		"nothing to others": {func(w http.ResponseWriter, mine bool) {
			io.WriteString(w, map[bool]string{true: one, false: `{"documents":[]}`}[mine])
		}, cli.ExitOK, "works: the service shows documents, and none to a random key"},
		"too many requests": {func(w http.ResponseWriter, mine bool) {
			if !mine {
				w.WriteHeader(http.StatusTooManyRequests)
			}
			io.WriteString(w, one)
		}, cli.ExitFailure, "cannot tell: a random key gets no answer that shows it"},
		"only the first": {func() func(w http.ResponseWriter, _ bool) {
			asked := 0
			return func(w http.ResponseWriter, _ bool) {
				if asked++; asked > 1 {
					w.WriteHeader(http.StatusForbidden)
				}
				io.WriteString(w, one)
			}
		}(), cli.ExitFailure, "cannot tell: after other keys were refused, the service refuses the one that it accepted before"},
		"a page": {func(w http.ResponseWriter, _ bool) { io.WriteString(w, "<html>sign in</html>") }, cli.ExitFailure, ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.answer(w, strings.Contains(fmt.Sprint(r.Header), "the-key-of-mine-0123456789"))
			}))
			defer srv.Close()
			t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
			t.Setenv("SIGNFORMS_API_KEY", "the-key-of-mine-0123456789")
			stdout, stderr, code := execute(t, "whoami", "--max-attempts", "1")
			require.Equal(t, c.code, code, stdout+stderr)
			require.Contains(t, stdout, c.says)
			require.NotContains(t, stdout+stderr, "the-key-of-mine")
		})
	}
}

// With several accounts one is named, or the default.
func TestSeveralAccounts(t *testing.T) {
	s := newService(t, nil)
	file := filepath.Join(t.TempDir(), "accounts.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"default":"old","accounts":{"old":{"baseURL":"http://127.0.0.1:1","apiKey":{"variable":"SIGNFORMS_API_KEY"}},
		"new":{"baseURL":"`+s.URL+`","workspace":"`+s.WorkspaceID+`","apiKey":{"variable":"SIGNFORMS_API_KEY"}}}}`), 0o600))
	for args, code := range map[string]int{"": cli.ExitFailure, "--account old": cli.ExitFailure, "--account new": cli.ExitOK} {
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
