package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// The reference is made from the commands. After a change of a command: go test -run TestReference -update .
func TestReference(t *testing.T) {
	const page = "../../docs/cli.md"
	intro, err := os.ReadFile("testdata/cli-intro.md")
	require.NoError(t, err)
	var b strings.Builder
	b.Write(intro)
	shared := sharedFlags(t, &b)
	reference(&b, newRoot(hasty), shared)
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	if b.String() != string(text) {
		t.Fatal("docs/cli.md is not what the commands say; write it anew: cd cmd/signforms && go test -run TestReference -update .")
	}
}

// sharedFlags prints the flags that select the service once, and returns their names. The commands' own sections leave them out.
func sharedFlags(t *testing.T, b *strings.Builder) map[string]string {
	t.Helper()
	cmd, _, err := newRoot(hasty).Find([]string{"documents", "get"})
	require.NoError(t, err)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SortFlags = false
	names := map[string]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "base-url" || flags.HasFlags() { // these flags come last
			flags.AddFlag(f)
			names[f.Name] = f.Usage
		}
	})
	fmt.Fprintf(b, "## Flags of every command that calls the service\n\n```text\n%s```\n", flags.FlagUsages())
	return names
}

func reference(b *strings.Builder, cmd *cobra.Command, shared map[string]string) {
	if cmd.Hidden || cmd.Name() == "help" {
		return
	}
	if !cmd.HasSubCommands() {
		fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		fmt.Fprintf(b, "%s\n\n```text\n%s\n", strings.TrimSpace(text), cmd.UseLine())
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		calls := false
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if usage, ok := shared[f.Name]; ok && usage == f.Usage {
				calls = true
			} else if f.Name != "help" {
				flags.AddFlag(f)
			}
		})
		if flags.HasFlags() {
			fmt.Fprintf(b, "\n%s", flags.FlagUsages())
		}
		if calls {
			b.WriteString("\nand the flags of every command that calls the service\n")
		}
		if cmd.Example != "" {
			fmt.Fprintf(b, "\nExamples:\n%s\n", cmd.Example)
		}
		b.WriteString("```\n")
	}
	for _, child := range cmd.Commands() {
		reference(b, child, shared)
	}
}

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

// What shells show of flags has none of the backquotes that mark the word for a value, which is for help.
func TestDescriptionsOfCompletionsAreRead(t *testing.T) {
	described := 0
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		stdout, _, code := execute(t, append(append([]string{"__complete"}, strings.Fields(cmd.CommandPath())[1:]...), "--")...)
		require.Equal(t, cli.ExitOK, code)
		require.NotContains(t, stdout, "`", cmd.CommandPath())
		described += strings.Count(stdout, "\t")
		for _, child := range cmd.Commands() {
			each(child)
		}
	}
	each(newRoot(hasty))
	require.Greater(t, described, 200)
	stdout, _, _ := execute(t, "documents", "list", "--help")
	require.Contains(t, stdout, "--api-key-file file ")
}
