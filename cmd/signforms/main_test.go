package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		{args: nil, code: exitOK},
		{args: []string{"version"}, code: exitOK},
		{args: []string{"version", "--nonsense"}, code: exitUsage},
		{args: []string{"version", "1.0"}, code: exitUsage},
		{args: []string{"nonsense"}, code: exitUsage},
	} {
		_, stderr, code := execute(t, c.args...)
		require.Equal(t, c.code, code, "signforms %v: %s", c.args, stderr)
	}
}

func TestUnknownCommandNamesTheOneMeant(t *testing.T) {
	stdout, stderr, code := execute(t, "versoin")
	require.Empty(t, stdout)
	require.Equal(t, "signforms: unknown command \"versoin\" for signforms: did you mean version?; see signforms --help\n", stderr)
	require.Equal(t, exitUsage, code)
}

func TestUnknownFlagNamesTheHelp(t *testing.T) {
	stdout, stderr, _ := execute(t, "version", "--nonsense")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "see signforms version --help")
}
