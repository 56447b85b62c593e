package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Every command says what it is for, and its help is read without a terminal.
func TestHelp(t *testing.T) {
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		require.NotContains(t, strings.TrimSuffix(cmd.Short, "…"), ".", cmd.CommandPath())
		args := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		stdout, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitOK, code, "%v: %s", args, stderr)
		require.Contains(t, stdout, "Usage:")
		for _, child := range cmd.Commands() {
			each(child)
		}
	}
	each(newRoot(hasty))
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		stdout, stderr, code := execute(t, "completion", shell)
		require.Equal(t, cli.ExitOK, code, stderr)
		require.Contains(t, stdout, "signforms", shell)
	}
	stdout, _, _ := execute(t, "__complete", "documents", "list", "--status", "")
	require.Contains(t, stdout, "pending\n")
	stdout, _, _ = execute(t, "__complete", "documents", "li")
	require.Contains(t, stdout, "list\t")
}
