package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// commands are the constructors of the program's commands, one file each, in the order of the help page.
var commands = []func() *cobra.Command{
	newServe,
	newReady,
	newStatus,
	newSeed,
	newReset,
	newClock,
	newWebhooks,
	newDocuments,
	newTemplates,
	newForms,
	newProbe,
	newListen,
	newTrigger,
	newReceive,
	newWebhook,
	newVersion,
}

// run carries out one command line and returns the exit code. Data goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	began := false
	noteBegin(root, &began)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !began { // what cobra finds wrong with flags and arguments
		err = usageError("%w; see %s --help", err, cmd.CommandPath())
	}
	if err != nil {
		fmt.Fprintln(stderr, "signforms:", inFlags(err.Error()))
	}
	return exitCode(err)
}

// noteBegin makes every command from parent down set began when its own code begins to run.
func noteBegin(parent *cobra.Command, began *bool) {
	if work := parent.RunE; work != nil {
		parent.RunE = func(cmd *cobra.Command, args []string) error {
			*began = true
			return work(cmd, args)
		}
	}
	for _, child := range parent.Commands() {
		noteBegin(child, began)
	}
}

func newRoot() *cobra.Command {
	root := newParent("signforms", "A sandbox of the signing and forms service, and its command line")
	root.SilenceUsage = true
	root.SilenceErrors = true
	for _, command := range commands {
		root.AddCommand(command())
	}
	showInOrder(root)
	return root
}

// showInOrder makes help list flags in the order in which they were made: a command's own ones come first.
func showInOrder(parent *cobra.Command) {
	parent.Flags().SortFlags = false
	for _, child := range parent.Commands() {
		showInOrder(child)
	}
}

// newParent returns a command that only has commands below it: by itself it prints its help.
func newParent(use, short string, children ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  noSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(children...)
	return parent
}

// noSuchCommand refuses the arguments of a command that only has commands below it.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	if cmd.SuggestionsMinimumDistance == 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		meant = ": did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q for %s%s", args[0], cmd.CommandPath(), meant)
}
