package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestEveryFlagOfServeHasAVariableAndALine(t *testing.T) {
	page, err := os.ReadFile("../../docs/sandbox.md")
	require.NoError(t, err)
	newServe("").Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		require.Contains(t, f.Usage, "[$"+variable(sandboxEnv, f)+"]", f.Name)
		require.True(t, strings.Contains(string(page), "`--"+f.Name+"`"), "docs/sandbox.md has no line about --%s", f.Name)
	})
}

func TestVariablesSetFlags(t *testing.T) {
	t.Setenv("SIGNFORMS_SANDBOX_PUBLIC_URL", "https://sandbox.example.com")
	t.Setenv("SIGNFORMS_SANDBOX_ALLOW_HOST", "one two")
	t.Setenv("SIGNFORMS_SANDBOX_PROFILE", "aliases page-size=7")
	t.Setenv("SIGNFORMS_SANDBOX_TOKEN", "from the variable")
	t.Setenv("SIGNFORMS_SANDBOX_MEMORY", "true")
	cmd := newServe("")
	require.NoError(t, cmd.ParseFlags([]string{"--token", "from the flag"}))
	for _, f := range boundFlags(cmd.Flags()) {
		require.NoError(t, setFromEnv(f, variable(sandboxEnv, f), cmd.Flags()))
	}
	get := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
	require.Equal(t, "https://sandbox.example.com", get("public-url"))
	require.Equal(t, "[one,two]", get("allow-host"))
	require.Equal(t, "[aliases,page-size=7]", get("profile"))
	require.Equal(t, "from the flag", get("token"))
	require.Equal(t, "true", get("memory"))
}

func boundFlags(flags *pflag.FlagSet) (all []*pflag.Flag) {
	flags.VisitAll(func(f *pflag.Flag) { all = append(all, f) })
	return all
}

func TestWrongVariableIsAUsageError(t *testing.T) {
	t.Setenv("SIGNFORMS_SANDBOX_MEMORY", "perhaps")
	_, stderr, code := execute(t, "serve")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, `the variable SIGNFORMS_SANDBOX_MEMORY: "perhaps": `)
}

// The image sets the data file with a variable. --memory on the command line overrides it.
func TestMemoryBesideTheVariableOfData(t *testing.T) {
	t.Setenv("SIGNFORMS_SANDBOX_DATA", "/nowhere/sandbox.db")
	s := serveInProcess(t, "--memory")
	require.Contains(t, s.stderr.String(), "memory, 0 documents")
	_, stderr, code := execute(t, "serve", "--memory", "--data", "x.db")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "leave out --data or --memory")
}
