package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/atomicfile"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
)

// probeCommand are the flags of probe.
type probeCommand struct {
	conn       connection
	out        cli.Output
	mutating   bool
	confirm    string
	report     string
	limitStore string

	openLimitFile func(path string) signforms.LimitStore     // may be nil
	sleep         func(context.Context, time.Duration) error // may be nil
}

func newProbe(openLimitFile func(path string) signforms.LimitStore, sleep func(context.Context, time.Duration) error) *cobra.Command {
	c := probeCommand{openLimitFile: openLimitFile, sleep: sleep}
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Find out which assumptions about the wire hold for an account",
		Long: fmt.Sprintf(`Probe tests on the service itself what docs/wire-format.md assumes or knows from a single source. For each
fact it prints whether the fact holds or differs, or that probe cannot tell, and what it saw. It also prints
the Go literals of Options.Endpoints and signformstest.Profile that fit the service.

By default it makes only GET requests, to the three lists and to one path that does not exist: at most %d, and
less than one a second. They change nothing, but one of them has an unknown key, and some have inputs that the
service should refuse.

With --mutating it also asks to void and to remind, for documents that do not exist: at most %d and %d
requests with random ids. The reminders count in the limit store. A service that reads its inputs in another
place sees no id in a request, and may act on the first record that it has. Then one document may be voided,
or the signers of one reminded, and probe stops at once. So use --mutating only with a disposable workspace;
its id must be typed to confirm it. Nothing is ever sent from a template or form.

With --report it writes a page with all requests and answers, which you can attach to an issue. Names, ids,
addresses, links and keys in it are replaced. Read it before you show it to others.`, probe.MostGets, probe.MostVoids, probe.MostReminders),
		Example: "  signforms probe --report probe.md",
		Args:    cli.NoArgs,
		RunE:    c.run,
	}
	f := cmd.Flags()
	f.BoolVar(&c.mutating, "mutating", false, "ask to void and to remind too; only for a workspace that is disposable")
	f.StringVar(&c.confirm, "confirm-workspace", "", "`id` of the workspace that is disposable, where there is no terminal to type it on")
	f.StringVar(&c.report, "report", "", "write what was seen to this `file`, without names, ids, addresses, links and keys")
	f.StringVar(&c.limitStore, "limit-store", "", "`file` or redis:// URL that counts reminders (default $SIGNFORMS_LIMIT_STORE, or else a file of this user)")
	c.out.AddFlags(cmd)
	c.conn.addFlagsOnce(cmd)
	return cmd
}

func (c *probeCommand) run(cmd *cobra.Command, _ []string) error {
	o, closeStore, err := c.options()
	if err != nil {
		return err
	}
	defer closeStore()
	if _, err := c.conn.client(signforms.Options{}); err != nil { // only to check the settings
		return err
	}
	if err := c.announce(cmd); err != nil {
		return err
	}
	o.Transport = counted(cmd.ErrOrStderr(), o.Transport)
	rep, err := probe.Run(cmd.Context(), o)
	if cli.TerminalWidth(cmd.ErrOrStderr()) > 0 {
		fmt.Fprint(cmd.ErrOrStderr(), "\r\x1b[K")
	}
	if rep == nil {
		return err
	}
	return errors.Join(c.print(cmd, rep), err)
}

func (c *probeCommand) options() (o probe.Options, closeStore func() error, err error) {
	if err := c.conn.resolve(); err != nil {
		return o, nil, err
	}
	endpoints, err := parseEndpoints(c.conn.endpoints)
	if err != nil {
		return o, nil, err
	}
	o = probe.Options{BaseURL: c.conn.baseURL, APIKey: c.conn.apiKey, WorkspaceID: c.conn.workspace, Endpoints: endpoints,
		Mutating: c.mutating, Transport: http.DefaultTransport, Timeout: c.conn.attemptTimeout, Sleep: c.sleep}
	if !c.mutating {
		return o, func() error { return nil }, nil
	}
	store, closeStore, err := openLimitStore(c.limitStore, c.conn.sandbox != "", c.openLimitFile)
	if err != nil {
		return o, nil, err
	}
	o.Remind = func(ctx context.Context, e signforms.Endpoint) error {
		conn := c.conn
		conn.endpoints = nil
		client, err := conn.client(signforms.Options{LimitStore: store, Endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpSendReminder: e}})
		if err != nil {
			return err
		}
		_, err = client.Documents.Remind(ctx, signforms.PDFDocument(probe.RandomID()))
		return err
	}
	return o, closeStore, nil
}

// announce prints what will be asked. With --mutating it also has the user confirm the workspace.
func (c *probeCommand) announce(cmd *cobra.Command) error {
	stderr := cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "Asks %s at most %d GET requests, less than one a second: about a minute. They change nothing.\n", cli.Plain(cli.ShownURL(c.conn.baseURL)), probe.MostGets)
	if !c.mutating {
		return nil
	}
	if c.conn.workspace == "" {
		return cli.UsageError("--mutating needs the id of a workspace that is disposable: set SIGNFORMS_WORKSPACE_ID or --workspace")
	}
	fmt.Fprintf(stderr, `Then asks to void at most %d times and to remind at most %d times, each for a random id that no document should have.
If the service takes another record instead, one document may be voided and the signers of one reminded; then nothing more is asked.
`, probe.MostVoids, probe.MostReminders)
	typed := c.confirm
	if typed == "" {
		var err error
		if typed, err = cli.Ask(cmd, "Type the id of the workspace to confirm that it is disposable: ", "--confirm-workspace to its id"); err != nil {
			return err
		}
	}
	if typed != c.conn.workspace {
		return cli.UsageError("that is not the id of the workspace: nothing was asked")
	}
	return nil
}

// counted shows the number of requests on a terminal.
func counted(w io.Writer, next http.RoundTripper) http.RoundTripper {
	if cli.TerminalWidth(w) == 0 {
		return next
	}
	n := 0
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		n++
		fmt.Fprintf(w, "\rasking: %d\x1b[K", n)
		return next.RoundTrip(req)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// probeRecord is a fact as --json prints it.
type probeRecord struct {
	ID      string        `json:"id"`
	Grade   probe.Grade   `json:"grade"`
	Outcome probe.Outcome `json:"outcome"`
	Fact    string        `json:"fact"`
	Seen    string        `json:"seen"`
}

var probeColumns = []cli.Column[probe.Result]{
	{Name: "id", Value: func(r probe.Result) string { return r.ID }, Wide: true},
	{Name: "outcome", Value: func(r probe.Result) string { return string(r.Outcome) }},
	{Name: "grade", Value: func(r probe.Result) string { return string(r.Grade) }},
	{Name: "fact", Value: func(r probe.Result) string { return r.Text }},
	{Name: "seen", Value: func(r probe.Result) string { return r.Seen }},
}

func (c *probeCommand) print(cmd *cobra.Command, rep *probe.Report) error {
	p := cli.NewPrinter(cmd, c.out, probeColumns, func(r probe.Result) any { return probeRecord{r.ID, r.Grade, r.Outcome, r.Text, r.Seen} }, len(rep.Results))
	for _, r := range rep.Results {
		if err := p.Print(r); err != nil {
			return err
		}
	}
	if err := p.End(); err != nil {
		return err
	}
	literals := cmd.OutOrStdout()
	if c.out.JSON || c.out.CSV {
		literals = cmd.ErrOrStderr()
	}
	if text := probeLiterals(rep); text != "" {
		fmt.Fprintln(literals, "\n"+text)
	}
	if c.report != "" {
		if err := atomicfile.Write(c.report, probeReport(rep, c.conn)); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is written: read it before you show it to others\n", c.report)
	}
	if rep.Accepted {
		return cli.ExitWith(cli.ExitUnknown, errors.New("a request with a random id was carried out: find out which document was voided, or whose signers were reminded"))
	}
	return nil
}
