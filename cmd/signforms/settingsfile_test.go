package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Each broken settings file is refused with what is wrong in it, and where.
func TestBrokenSettings(t *testing.T) {
	newService(t, nil)
	file := filepath.Join(t.TempDir(), "accounts.json")
	const a = `{"baseURL":"http://a","apiKey":{"variable":"X"}}`
	for text, says := range map[string]string{
		``:              "it is empty",
		"\xff\xfe{\x00": "it is UTF-16, or has a NUL character: save it as UTF-8",
		"{\n\"accounts": "line 2: the JSON ends too early",
		"{\n\n,":        "line 3: invalid character ','",
		"{\n\"accounts\":{\"a\":{\"baseURL\":5}}}": "line 2: accounts.baseURL cannot be a JSON number",
		`{"acounts":{}}`: `unknown field "acounts"`,
		`{"accounts":{"a":` + a + `,"a":` + a + `}}`:                                      `"a" occurs twice in one object`,
		`{"default":"nope","accounts":{"a":` + a + `}}`:                                   `the default is "nope", and there is no such account`,
		`{"accounts":{"a":{"baseURL":"https://me:hunter2@a","apiKey":{"variable":"X"}}}}`: "account a: baseURL must have no user",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		for _, command := range []string{"accounts", "whoami"} {
			stdout, stderr, code := execute(t, command, "--settings", file)
			require.Equal(t, cli.ExitUsage, code, text)
			require.Empty(t, stdout)
			require.Contains(t, stderr, says, text)
			require.NotRegexp(t, `hunter2|cli\.[A-Z]|Go value|--base-url`, stderr)
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(`{"accounts":{"a":`+a+`}}`), 0o600))
	_, stderr, code := execute(t, "accounts", "--settings", file)
	require.Equal(t, cli.ExitOK, code, stderr)
}

// Settings that other users may write to or own are refused: they choose where the key is sent.
func TestSettingsOfOthersAreRefused(t *testing.T) {
	newService(t, nil)
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	folder := filepath.Join(top, "a", "b")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	file, link := filepath.Join(folder, "accounts.json"), filepath.Join(t.TempDir(), "link.json")
	accounts(t, file, `"a":{"baseURL":"http://a","apiKey":{"variable":"X"}}`)
	require.NoError(t, os.Symlink(file, link))
	for _, c := range []struct {
		path         string
		mode         os.FileMode
		owner, group int // -1: as they are; others need root
		want         int
	}{
		{file, 0o644, -1, -1, cli.ExitOK},
		{file, 0o602, -1, -1, cli.ExitUsage},
		{file, 0o660, -1, 65534, cli.ExitUsage},
		{file, 0o600, 65534, -1, cli.ExitUsage},
	} {
		if c.owner+c.group != -2 && os.Getuid() != 0 {
			continue
		}
		require.NoError(t, os.Lchown(c.path, c.owner, c.group))
		require.NoError(t, os.Chmod(c.path, c.mode))
		for _, name := range []string{file, link} {
			_, stderr, code := execute(t, "accounts", "--settings", name)
			require.Equal(t, c.want, code, "%s %v: %s", c.path, c.mode, stderr)
			if c.want != cli.ExitOK {
				require.Contains(t, stderr, "signforms: "+name+": ")
				require.Contains(t, stderr, "may change where your key is sent")
			}
		}
		require.NoError(t, os.Lchown(c.path, os.Getuid(), os.Getgid()))
		require.NoError(t, os.Chmod(c.path, map[bool]os.FileMode{true: 0o600, false: 0o755}[c.path == file]))
	}
}

// A variable of the service that an account overrides is named, unless it says the same.
func TestUnusedVariablesAreNamed(t *testing.T) {
	s := newService(t, nil)
	file := filepath.Join(t.TempDir(), "accounts.json")
	t.Setenv("KEY_OF_MINE", s.APIKey)
	accounts(t, file, fmt.Sprintf(`"main":{"baseURL":%q,"workspace":%q,"apiKey":{"variable":"KEY_OF_MINE"}}`, s.URL, s.WorkspaceID))
	for _, c := range []struct{ name, value, says string }{
		{"SIGNFORMS_API_KEY", s.APIKey, ""},
		{"SIGNFORMS_API_KEY", "another-key", "SIGNFORMS_API_KEY"},
		{"SIGNFORMS_WORKSPACE_ID", "another", "SIGNFORMS_API_KEY, SIGNFORMS_WORKSPACE_ID"},
	} {
		t.Setenv(c.name, c.value)
		_, stderr, code := execute(t, "documents", "list", "--settings", file)
		require.Equal(t, cli.ExitOK, code, stderr)
		require.NotContains(t, stderr, "another-key")
		if c.says == "" {
			require.Empty(t, stderr)
			continue
		}
		for name := range strings.SplitSeq(c.says, ", ") {
			require.Contains(t, stderr, name)
		}
		require.Contains(t, stderr, "not used, because account main of "+file)
	}
}

// An empty value is no missing flag: of --account it would be the default account, of --id every document.
func TestEmptyFlagsAreRefused(t *testing.T) {
	s := newService(t, nil)
	for args, flag := range map[string]string{
		"documents list --account=":   "--account",
		"documents list --base-url=":  "--base-url",
		"documents list --id=":        "--id",
		"templates send OFFER --csv=": "--csv",
		"serve --memory --token=":     "--token",
		"status --url=":               "--url",
	} {
		_, stderr, code := s.run(t, args)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", args, stderr)
		require.Contains(t, stderr, flag+" ", args)
		require.Contains(t, stderr, "must not be empty", args)
	}
	require.Empty(t, s.asked())
}
