package operate

import (
	"io"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/seedfile"
)

// Workspaces returns the command workspaces.
func Workspaces() *cobra.Command {
	return cli.Group("workspaces", "Workspaces of a running sandbox, each a sandbox of its own", newWorkspacesCreate(), newWorkspacesList(), newWorkspacesRemove())
}

func newWorkspacesCreate() *cobra.Command {
	var in wire.NewWorkspace
	var seed string
	cmd := new(target).command(&cobra.Command{
		Use:   "create [NAME]",
		Short: "Add a workspace to a running sandbox",
		Long: "Add a workspace to a running sandbox and print its id. It has records, keys, logs and a clock of its own. Other\n" +
			"commands act in it with --workspace or $SIGNFORMS_SANDBOX_WORKSPACE, which take its id or its name.",
		Example: "  W=$(signforms workspaces create --seed seed.yaml --lifetime 1h) && export SIGNFORMS_SANDBOX_WORKSPACE=$W\n  eval \"$(signforms status --env)\"",
		Args:    cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		if len(args) > 0 {
			if in.Name = args[0]; in.Name == "" {
				return nil, nil, cli.UsageError("the name is empty: leave it out for a workspace without a name")
			}
		}
		file := &seedfile.File{}
		if seed != "" {
			var err error
			if file, err = seedfile.Read(seed); err != nil {
				return nil, nil, cli.ExitWith(cli.ExitFailure, err)
			}
		}
		in.Seed = file.Seed
		if cmd.Flags().Changed("lifetime") && in.Lifetime == 0 {
			return nil, nil, cli.UsageError("--lifetime must be at least 1s: leave it out for a workspace that stays")
		}
		var made wire.CreatedWorkspace
		if err := c.Post(cmd.Context(), "/workspaces", in, &made); err != nil {
			return nil, nil, file.Explain(err)
		}
		return made, func(w io.Writer) { io.WriteString(w, made.ID+"\n") }, nil
	})
	f := cmd.Flags()
	f.StringVar(&seed, "seed", "", "YAML `file` of its records, which a reset brings back")
	cli.DurationVar(f, &in.Lifetime, "lifetime", "end it when nothing has called it for this long (default: never)")
	return cmd
}

func newWorkspacesList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the workspaces of a running sandbox, the first one first"}
	return newSandboxList(new(target), cmd, "/workspaces", workspaceColumns)
}

var workspaceColumns = []cli.Column[wire.Workspace]{
	{Name: "id", Value: func(w wire.Workspace) string { return w.ID }},
	{Name: "name", Value: func(w wire.Workspace) string { return w.Name }},
	{Name: "used", Value: func(w wire.Workspace) string { return w.UsedAt.Format(time.RFC3339) }},
	{Name: "lifetime", Value: func(w wire.Workspace) string {
		if w.Lifetime == 0 {
			return "-"
		}
		return w.Lifetime.String()
	}},
}

func newWorkspacesRemove() *cobra.Command {
	return new(target).command(&cobra.Command{
		Use:   "remove WORKSPACE",
		Short: "Remove a workspace of a running sandbox with all that it has",
		Long:  "Remove a workspace by its id or name, with its records, logs and files. The first workspace stays: see signforms reset.",
		Args:  cli.ExactlyOne("WORKSPACE"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		if err := wire.CheckWorkspace(args[0]); err != nil {
			return nil, nil, cli.UsageError("%w", err)
		}
		err := c.Delete(cmd.Context(), "/workspaces/"+url.PathEscape(args[0]))
		return struct{}{}, func(io.Writer) {}, err
	})
}
