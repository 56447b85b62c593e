package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// commands are the constructors of the program's commands, one file each, in the order of the help page.
var commands = []func() *cobra.Command{
	newVersion,
}

// run carries out one command line and returns the exit code. Data goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "signforms:", err)
	}
	return exitCode(err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "signforms",
		Short:         "A sandbox of the signing and forms service, and its command line",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError("%w; see %s --help", err, cmd.CommandPath())
	})
	for _, command := range commands {
		root.AddCommand(command())
	}
	return root
}
