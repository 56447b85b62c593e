package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/operate"
	"github.com/signforms/signforms-go/cmd/signforms/internal/receive"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service/probe"
	"github.com/signforms/signforms-go/internal/buildinfo"
)

// The groups of commands on the help page.
const (
	onTheService = "service"
	onASandbox   = "sandbox"
	onDeliveries = "deliveries"
)

// replaced has the parts that tests replace. The program uses the zero value.
type replaced struct {
	openLimitFile func(path string) signforms.LimitStore
	sleep         func(context.Context, time.Duration) error // waits between the requests of probe
}

// commands returns the program's commands, in the order of the help page.
func commands(replaced replaced) (all []*cobra.Command) {
	group := func(id string, commands ...*cobra.Command) {
		for _, cmd := range commands {
			cmd.GroupID = id
		}
		all = append(all, commands...)
	}
	group(onTheService,
		cli.Group("documents", "Read, await, void and remind documents; in a sandbox, sign them",
			slices.Concat(service.Documents(), []*cobra.Command{batch.Remind(replaced.openLimitFile)}, operate.Documents())...),
		service.Templates(batch.Send(false)),
		cli.Group("forms", "Send forms and list their responses; in a sandbox list forms",
			append([]*cobra.Command{operate.FormsList(), batch.Send(true)}, service.Forms()...)...))
	group(onTheService, service.Accounts()...)
	group(onTheService, probe.Command(replaced.sleep))
	group(onASandbox, serve.Command(version()), serve.Check(), serve.Backup(), operate.Ready(), operate.Status(), operate.Seed(), operate.Reset(),
		operate.Workspaces(),
		operate.Clock(), operate.Webhooks(), operate.Listen(), operate.Trigger())
	group(onDeliveries, receive.Command(), receive.Webhook())
	return append(all, newVersion(), newManual())
}

// run executes one command line and returns the exit code. Data goes to stdout, everything else to
// stderr.
func run(ctx context.Context, replaced replaced, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(replaced)
	root.SetArgs(args)
	root.SetIn(stdin)
	out := cli.NewStdout(stdout)
	root.SetOut(out)
	root.SetErr(stderr)
	completeDefaults(root)
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		cli.PlainUsages(root)
	}
	began := false
	noteBegin(root, &began)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err != nil && !began && out.Err() == nil: // cobra refused the flags or arguments
		if _, rest, _ := root.Find(args); cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			err = cli.NoSuchCommand(cmd, rest) // reports the unknown command and not its first flag
		}
		err = cli.UsageError("%w; see %s --help", err, cmd.CommandPath())
	case err == nil:
		err = out.Err()
	case ctx.Err() != nil:
		err = cli.Interrupted(err)
	}
	if errors.Is(err, io.EOF) && (errors.Is(err, signforms.ErrUnavailable) || errors.Is(err, wire.ErrNoSandbox)) {
		err = cli.ExitWith(cli.ExitCode(err), fmt.Errorf("%w; if the port speaks TLS, write https:// in the URL", err))
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
		parent.Args = checkFlags(parent.Args)
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

// checkFlags refuses empty flags. It also refuses "--sandbox URL" with an explanation: a flag whose
// value is optional takes it only after an equals sign.
func checkFlags(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cli.EmptyFlag(cmd); err != nil {
			return err
		}
		address := func(arg string) bool { return strings.Contains(arg, "://") }
		if f := cmd.Flags().Lookup("sandbox"); f != nil && f.Changed && slices.ContainsFunc(args, address) {
			return errors.New("--sandbox takes its URL after an equals sign: --sandbox=URL")
		}
		return check(cmd, args)
	}
}

func newRoot(replaced replaced) *cobra.Command {
	root := cli.Group("signforms", "The command line of the signing and forms service, and a sandbox of it")
	root.Long = rootHelp
	root.AddGroup(&cobra.Group{ID: onTheService, Title: "On the service, or with --sandbox on a sandbox:"},
		&cobra.Group{ID: onASandbox, Title: "A sandbox of your own:"}, &cobra.Group{ID: onDeliveries, Title: "Webhook deliveries:"})
	root.SilenceUsage = true
	root.SilenceErrors = true
	root.Version = version()
	root.SetVersionTemplate("signforms {{.Version}}\n")
	root.SetFlagErrorFunc(cli.FlagError)
	root.AddCommand(commands(replaced)...)
	showInOrder(root)
	return root
}

const rootHelp = `Signforms operates the signing and forms service from a shell, tries out
webhooks, and runs a sandbox: the service on this machine, for tests.

First steps:
  1. signforms serve --memory        starts a sandbox, in a terminal of its own
  2. signforms documents add Lease --signer ann@example.com
     signforms documents list --sandbox
  3. SIGNFORMS_BASE_URL=… SIGNFORMS_API_KEY=… signforms whoami
                                     shows whether the key of an account works

Variables, which flags override:
  SIGNFORMS_BASE_URL                 address of the service
  SIGNFORMS_API_KEY                  the API key
  SIGNFORMS_API_KEY_FILE             or a file that contains the API key
  SIGNFORMS_WORKSPACE_ID             the workspace, if there are several
  SIGNFORMS_ACCOUNT                  or an account of the settings, for all these
  SIGNFORMS_SETTINGS                 the settings file
  SIGNFORMS_LIMIT_STORE              counts reminders: a file or a redis:// URL
  SIGNFORMS_WEBHOOK_SECRET           signs webhooks
  SIGNFORMS_SANDBOX_URL              URL of a sandbox, for commands on it
  SIGNFORMS_SANDBOX_TOKEN            its token
  NO_COLOR                           no escape sequences on the terminal

Exit codes: 0 success; 1 failure, or nothing was executed; 2 invalid command
line; 3 executed in part, or a list that may lack records; 4 it is unknown
whether a send or a reminder was executed; 130 interrupted before anything was
sent, or by a second Ctrl+C.`

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
