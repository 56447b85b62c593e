package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestEveryFlagOfServeHasAVariable(t *testing.T) {
	cmd, _, err := newRoot(hasty).Find([]string{"serve"})
	require.NoError(t, err)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" {
			return
		}
		require.Contains(t, f.Usage, "[$SIGNFORMS_SANDBOX_"+strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))+"]", f.Name)
	})
}

// The image sets the data file with a variable. --memory on the command line overrides it.
func TestMemoryFlagOverridesDataVariable(t *testing.T) {
	t.Setenv("SIGNFORMS_SANDBOX_DATA", "/nowhere/sandbox.db")
	s := serveInProcess(t, "--memory")
	require.Contains(t, s.stderr.String(), "memory, 0 documents")
}
