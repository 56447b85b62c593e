package sandbox

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/atomicfile"
)

// envVariable is one variable for clients and receivers, and the flag of serve that sets its value.
type envVariable struct{ name, flag, value string }

// envVariables returns the variables that the SDK's examples and the commands of this program read.
func envVariables(c wire.Credentials) []envVariable {
	return []envVariable{
		{"SIGNFORMS_BASE_URL", "--public-url", c.BaseURL},
		{"SIGNFORMS_API_KEY", "--api-key", c.APIKey},
		{"SIGNFORMS_WORKSPACE_ID", "--workspace-id", c.WorkspaceID},
		{"SIGNFORMS_WEBHOOK_SECRETS", "--webhook-secret", c.WebhookSecret},
	}
}

// plainEnv has the characters that have no special meaning in a shell, in docker --env-file and in
// CI. The brackets are for IPv6 addresses; a shell expands no patterns in an assignment.
const plainEnv = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/@%+=-[]"

// CheckEnvFile refuses values that different programs read differently from an --env-file. A shell
// would run some of them as commands.
func CheckEnvFile(c wire.Credentials) error {
	for _, v := range envVariables(c) {
		if strings.Trim(v.value, plainEnv) != "" {
			return fmt.Errorf("--env-file: %s may hold letters of ASCII, digits and _ . : / @ %% + = - only, as shells and Docker read other characters differently: "+
				"set another %s, or leave out --env-file", v.name, v.flag)
		}
	}
	return nil
}

func envFileLines(c wire.Credentials) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Secrets of a sandbox. If this file is in a repository, add it to .gitignore.\n%sURL=%s\n", Env, c.BaseURL)
	for _, v := range envVariables(c) {
		fmt.Fprintf(&b, "%s=%s\n", v.name, v.value)
	}
	return b.String()
}

// ShellLines returns the variables for eval in a shell. Values are quoted, because a response must
// never run as a command.
func ShellLines(c wire.Credentials) (string, error) {
	var b strings.Builder
	for _, v := range envVariables(c) {
		if strings.ContainsFunc(v.value, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return "", fmt.Errorf("the value of %s contains control characters: the server is most likely not a sandbox of this program", v.name)
		}
		text := v.value
		if strings.Trim(text, plainEnv) != "" {
			text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		}
		fmt.Fprintf(&b, "%s=%s\n", v.name, text)
	}
	return b.String(), nil
}

// WriteEnvFile writes the variables to a file that only the owner can read. The file appears
// complete, because a script may wait for it.
func WriteEnvFile(name string, c wire.Credentials) error {
	if err := CheckEnvFile(c); err != nil {
		return err
	}
	if err := atomicfile.Write(name, []byte(envFileLines(c))); err != nil {
		return fmt.Errorf("--env-file %s: %w", name, cli.PathCause(err))
	}
	return nil
}
