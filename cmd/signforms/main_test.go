package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// execute runs one command line without a terminal.
func execute(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs strings.Builder
	code = run(t.Context(), hasty, args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), code
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
	}{
		{args: nil, code: cli.ExitOK},
		{args: []string{"version"}, code: cli.ExitOK},
		{args: []string{"version", "--nonsense"}, code: cli.ExitUsage},
		{args: []string{"version", "1.0"}, code: cli.ExitUsage},
		{args: []string{"nonsense"}, code: cli.ExitUsage},
	} {
		_, stderr, code := execute(t, c.args...)
		require.Equal(t, c.code, code, "signforms %v: %s", c.args, stderr)
	}
}

func TestUnknownCommandNamesTheOneMeant(t *testing.T) {
	stdout, stderr, code := execute(t, "versoin")
	require.Empty(t, stdout)
	require.Equal(t, "signforms: unknown command \"versoin\" for signforms: did you mean version?; see signforms --help\n", stderr)
	require.Equal(t, cli.ExitUsage, code)
}

func TestUnknownFlagNamesTheHelp(t *testing.T) {
	stdout, stderr, _ := execute(t, "version", "--nonsense")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "see signforms version --help")
}
