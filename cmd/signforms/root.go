package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
	completeDefaults(root)
	began := false
	noteBegin(root, &began)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !began { // cobra refused the flags or arguments
		err = usageError("%w; see %s --help", groupError(err), cmd.CommandPath())
	}
	if err != nil {
		fmt.Fprintln(stderr, "signforms:", inFlags(err.Error()))
	}
	return exitCode(err)
}

// noteBegin makes parent and every command below it set began when its own code begins to run.
func noteBegin(parent *cobra.Command, began *bool) {
	if work := parent.RunE; work != nil {
		parent.RunE = func(cmd *cobra.Command, args []string) error {
			*began = true
			return work(cmd, args)
		}
	}
	if parent.Args != nil {
		parent.Args = equalsSign(parent.Args)
	}
	for _, child := range parent.Commands() {
		noteBegin(child, began)
	}
}

// completeDefaults makes cobra's own commands, help and completion, refuse unknown arguments.
func completeDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); err != nil || found == nil || len(rest) > 0 {
					return fmt.Errorf("there is no command %q", strings.Join(args, " "))
				}
				return nil
			}
		case "completion":
			cmd.Args, cmd.RunE = noSuchCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// equalsSign refuses "--sandbox URL" with an explanation: a flag that may stand alone takes its value only after an equals sign.
func equalsSign(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		address := func(arg string) bool { return strings.Contains(arg, "://") }
		if f := cmd.Flags().Lookup("sandbox"); f != nil && f.Changed && slices.ContainsFunc(args, address) {
			return errors.New("the address of --sandbox stands behind an equals sign: --sandbox=URL")
		}
		return check(cmd, args)
	}
}

func newRoot() *cobra.Command {
	root := newParent("signforms", "A sandbox of the signing and forms service, and its command line")
	root.SilenceUsage = true
	root.SilenceErrors = true
	root.Version = version()
	root.SetVersionTemplate("signforms {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	for _, command := range commands {
		root.AddCommand(command())
	}
	showInOrder(root)
	return root
}

// showInOrder makes help list flags in the order in which they were added, a command's own flags first.
func showInOrder(parent *cobra.Command) {
	parent.Flags().SortFlags = false
	for _, child := range parent.Commands() {
		showInOrder(child)
	}
}
