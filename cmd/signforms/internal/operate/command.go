// Package operate has the commands that act on a running sandbox through its control API.
package operate

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
)

// target is the running sandbox on which a command acts.
type target struct {
	url, token string
	workspace  string // id or name of the workspace; empty: the first
	json       bool
}

// newSandboxCommand returns a command that acts on a workspace of a running sandbox. work returns
// the value that --json prints, and a function that prints the value for people.
func newSandboxCommand(cmd *cobra.Command, work func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error)) *cobra.Command {
	return inWorkspace(cmd).command(cmd, work)
}

// command returns a command that acts on the sandbox of s. If s has no workspace, the command acts on
// the whole program. work is that of newSandboxCommand.
func (s *target) command(cmd *cobra.Command, work func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error)) *cobra.Command {
	return s.run(cmd, func(cmd *cobra.Command, args []string, c *wire.Client) error {
		result, text, err := work(cmd, args, c)
		switch {
		case err != nil:
			return err
		case s.json:
			return cli.EncodeJSON(cmd.OutOrStdout(), result, "  ")
		}
		text(cmd.OutOrStdout())
		return nil
	})
}

// newSandboxList returns a command that prints every record of a list of the control interface.
func newSandboxList[T any](s *target, cmd *cobra.Command, path string, columns []cli.Column[T]) *cobra.Command {
	cmd.Args = cli.NoArgs
	return s.run(cmd, func(cmd *cobra.Command, _ []string, c *wire.Client) error {
		all, err := wire.All[T](cmd.Context(), c, path)
		if err != nil {
			return err
		}
		return cli.PrintItems(cmd, cli.Output{JSON: s.json}, columns, all)
	})
}

func (s *target) run(cmd *cobra.Command, work func(cmd *cobra.Command, args []string, c *wire.Client) error) *cobra.Command {
	s.addFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := s.client()
		if err != nil {
			return err
		}
		if err = s.explain(work(cmd, args, client)); errors.Is(err, wire.ErrNoSandbox) {
			return fmt.Errorf("%w; %s works only on a sandbox", err, cmd.CommandPath())
		}
		return err
	}
	cli.BindEnv(sandbox.Env, cmd)
	cmd.SetFlagErrorFunc(flagError)
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON") // there is no variable for --json: the variable of serve would change what $(signforms documents add …) prints
	return cmd
}

// flagError refuses the flags that choose a service. Its error names the flags that a command on a
// sandbox has instead.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if ok && slices.Contains([]string{"sandbox", "base-url", "account", "settings", "api-key-file"}, unknown.GetSpecifiedName()) {
		return fmt.Errorf("--%s is not a flag of %s, which works only on a sandbox: say with --url where it is", unknown.GetSpecifiedName(), cmd.CommandPath())
	}
	return cli.FlagError(cmd, err)
}

func (s *target) addWorkspace(cmd *cobra.Command) {
	cmd.Flags().Var(cli.FuncFlag("id", func(text string) error {
		s.workspace = text
		return wire.CheckWorkspace(text)
	}), "workspace", "`id` or name of the workspace (default: the first)")
}

// inWorkspace returns a target with --workspace.
func inWorkspace(cmd *cobra.Command) *target {
	var s target
	s.addWorkspace(cmd)
	return &s
}

func (s *target) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.url, "url", sandbox.DefaultURL, "where the sandbox is")
	f.StringVar(&s.token, "token", "", "the token that the sandbox was started with")
}

func (s *target) client() (*wire.Client, error) {
	client, err := wire.NewClient(s.url, s.token)
	if err != nil {
		return nil, cli.UsageError("--url: %w", err)
	}
	if s.workspace != "" {
		client = client.In(s.workspace)
	}
	return client, nil
}

// explain adds a remedy to an error.
func (s *target) explain(err error) error {
	return sandbox.Explain(err, s.url, s.token, "--url", "--token or ")
}
