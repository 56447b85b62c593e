package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Group returns a command that only groups others. By itself it prints its help.
func Group(use, short string, children ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  NoSuchCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	parent.AddCommand(children...)
	return parent
}

// NoSuchCommand refuses the arguments of a command that only groups others.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	meant := ""
	if cmd.SuggestionsMinimumDistance == 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		meant = " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return fmt.Errorf("unknown command %q for %s%s", args[0], cmd.CommandPath(), meant)
}

// NoArgs refuses arguments. The errors of NoArgs and of the checks below name the arguments that
// the command takes.
func NoArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is not expected: the command takes only flags", args[0])
	}
	return nil
}

// ExactlyOne refuses any other number of arguments.
func ExactlyOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("give one %s", what)
		case 1:
			return nil
		}
		return fmt.Errorf("give one %s, not %d arguments", what, len(args))
	}
}

// AtMostOne refuses more arguments.
func AtMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("give one %s at most, not %d arguments", what, len(args))
		}
		return nil
	}
}

// AtLeastOne requires at least one argument.
func AtLeastOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("give at least one %s", what)
		}
		return nil
	}
}
