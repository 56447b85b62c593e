package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/operate"
	"github.com/signforms/signforms-go/cmd/signforms/internal/receive"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/internal/buildinfo"
)

// commands returns the program's commands, in the order of the help page.
func commands(onService service.Commands) []*cobra.Command {
	return append(onService.Accounts(),
		serve.Command(version()),
		serve.Check(),
		serve.Backup(),
		operate.Ready(),
		operate.Status(),
		operate.Seed(),
		operate.Reset(),
		operate.Clock(),
		operate.Webhooks(),
		cli.Group("documents", "List, read, void and remind PDF documents; in a sandbox add, sign and decline them",
			append(onService.Documents(), operate.Documents()...)...),
		onService.Templates(),
		cli.Group("forms", "Send forms and list their responses; in a sandbox list forms",
			append([]*cobra.Command{operate.FormsList()}, onService.Forms()...)...),
		onService.Probe(),
		operate.Listen(),
		operate.Trigger(),
		receive.Command(),
		receive.Webhook(),
		newVersion(),
	)
}

// run carries out one command line and returns the exit code. Data goes to stdout, everything else to stderr.
func run(ctx context.Context, onService service.Commands, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(onService)
	root.SetArgs(args)
	root.SetIn(stdin)
	out := cli.NewStdout(stdout)
	root.SetOut(out)
	root.SetErr(stderr)
	completeDefaults(root)
	began := false
	noteBegin(root, &began)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && !began && out.Err() == nil: // cobra refused the flags or arguments
		err = cli.UsageError("%w; see %s --help", err, cmd.CommandPath())
	case err == nil:
		err = out.Err()
	}
	if err != nil {
		fmt.Fprintln(stderr, "signforms:", err)
	}
	return cli.ExitCode(err)
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
			cmd.Args, cmd.RunE = cli.NoSuchCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// equalsSign refuses "--sandbox URL" with an explanation: a flag that may stand alone takes its value only after an equals sign.
func equalsSign(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		address := func(arg string) bool { return strings.Contains(arg, "://") }
		if f := cmd.Flags().Lookup("sandbox"); f != nil && f.Changed && slices.ContainsFunc(args, address) {
			return errors.New("--sandbox takes its URL after an equals sign: --sandbox=URL")
		}
		return check(cmd, args)
	}
}

func newRoot(onService service.Commands) *cobra.Command {
	root := cli.Group("signforms", "A sandbox of the signing and forms service, and its command line")
	root.SilenceUsage = true
	root.SilenceErrors = true
	root.Version = version()
	root.SetVersionTemplate("signforms {{.Version}}\n")
	root.SetFlagErrorFunc(cli.FlagError)
	root.AddCommand(commands(onService)...)
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

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "signforms", version())
			return err
		},
	}
}

// version returns the program's version as the go command recorded it, or "devel".
func version() string {
	return cmp.Or(buildinfo.Version("github.com/signforms/signforms-go/cmd/signforms"), "devel")
}
