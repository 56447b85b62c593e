package cli

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestVariablesSetFlags(t *testing.T) {
	t.Setenv("SIGNFORMS_SANDBOX_PUBLIC_URL", "https://sandbox.example.com")
	t.Setenv("SIGNFORMS_SANDBOX_ALLOW_HOST", "one two")
	t.Setenv("SIGNFORMS_SANDBOX_PROFILE", "aliases page-size=7")
	t.Setenv("SIGNFORMS_SANDBOX_TOKEN", "from the variable")
	t.Setenv("SIGNFORMS_SANDBOX_MEMORY", "true")
	var publicURL, token string
	var allowed, profile []string
	var memory, ran bool
	cmd := &cobra.Command{RunE: func(*cobra.Command, []string) error {
		ran = true
		return nil
	}}
	cmd.Flags().StringVar(&publicURL, "public-url", "", "")
	cmd.Flags().StringSliceVar(&allowed, "allow-host", nil, "")
	cmd.Flags().StringArrayVar(&profile, "profile", nil, "")
	cmd.Flags().StringVar(&token, "token", "", "")
	cmd.Flags().BoolVar(&memory, "memory", false, "")
	BindEnv("SIGNFORMS_SANDBOX_", cmd)
	cmd.SetArgs([]string{"--token", "from the flag"})
	cmd.SetErr(io.Discard)
	require.NoError(t, cmd.Execute())
	require.True(t, ran)
	require.Equal(t, "https://sandbox.example.com", publicURL)
	require.Equal(t, []string{"one", "two"}, allowed)
	require.Equal(t, []string{"aliases", "page-size=7"}, profile)
	require.Equal(t, "from the flag", token)
	require.True(t, memory)
}
