package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/internal/atomicfile"
)

// probeCommand are the flags of probe.
type probeCommand struct {
	conn       connection
	out        cli.Output
	mutating   bool
	confirm    string
	report     string
	write      string
	name       string // of the account to write
	goFile     string
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
fact it prints whether the fact holds or differs, or that probe cannot tell, and what it saw. A fact holds or
differs only if an answer shows that it is not the other way, and it holds only if none of the run's answers to
the right key and workspace contradicts it. Each fact is about the answers of this run: inputs that it did not
send and records that it did not read, such as those of further pages, may be otherwise. What only a send or a
delivery shows is not among the facts.

It also prints the Go literals of Options.Endpoints and signformstest.Profile that fit the service. Endpoints of
the list of documents are printed only if the SDK then lists every document that the run saw (of a long list the
beginning is read), a profile only if a reference service with it gives the same outcomes. That does not prove
each field: what probe reads wrongly it reads wrongly in both. Where the SDK's list of all documents fails,
lacks some that the run saw, was read in part or needs a --limit, where lists of templates have other
documents, where the right key is refused at the end, or where the run ended early, the printed Endpoints and
the line about the written account say so.

By default it makes only GET requests, to the three lists and to paths that do not exist: at most %d, less
than one a second, within %d seconds. They change nothing, but two at the end have an unknown key, and some
have inputs that the service should refuse.

With --mutating it also asks to void and to remind, for documents that do not exist: at most %d and %d
requests with random ids, with up to three beside each to paths that do not exist. The reminders count in the
limit store. It asks nothing so unless the service's lists prove that it looks at ids and at the workspace,
and one page shows all documents, archived ones too, at most %d. It reads that page again after each request,
and asks nothing more once a document has changed or an answer may be a success. Then documents may be voided,
or the signers of one reminded; probe says so and ends with exit code 4. When a service answers that there is no
such document but acts on another, probe cannot see a reminder, nor a change that is made later, or to a document
that the list does not show, such as one made from a template. So use --mutating only with a disposable workspace; its
id must be typed to confirm it. Nothing is ever sent from a template or form. It makes at most %d GET requests then.

With --report it writes a page with all requests and answers, which you can attach to an issue. It holds names
and values of the wire format only; others are described, as in (text of 12). Read it before you show it to
others. With --write it writes an account of a settings file, but replaces none of another service or
workspace, and keeps where a key is. With --go it writes a Go file with the Options.`, probe.MostGets, int(probe.MostTime.Seconds()), probe.MostVoids, probe.MostReminders, probe.MostDocuments, probe.MostGets+probe.MostLooks),
		Example: "  signforms probe --report probe.md\n  signforms probe --write accounts.json && signforms documents list --settings accounts.json",
		Args:    cli.NoArgs,
		RunE:    c.run,
	}
	f := cmd.Flags()
	f.BoolVar(&c.mutating, "mutating", false, "ask to void and to remind too; only for a workspace that is disposable")
	f.StringVar(&c.confirm, "confirm-workspace", "", "`id` of the workspace that is disposable, where there is no terminal to type it on")
	f.StringVar(&c.report, "report", "", "write what was seen to this `file`, without names, ids, addresses, links and keys")
	f.StringVar(&c.write, "write", "", "write what was found to this settings `file`, as the account that --account names (default \"default\")")
	f.StringVar(&c.goFile, "go", "", "write a Go `file` with the options of a client of this account")
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
	if err := c.checkFiles(); err != nil {
		return err
	}
	if err := c.announce(cmd); err != nil {
		return err
	}
	o.Transport = detached{counted(cmd.ErrOrStderr(), o.Transport)}
	rep, err := probe.Run(cmd.Context(), o)
	if cli.Moves(cmd.ErrOrStderr()) {
		fmt.Fprint(cmd.ErrOrStderr(), "\r\x1b[K")
	}
	return errors.Join(c.print(cmd, rep, err), partial(rep, err))
}

// partial adds to the reason for which a run ended early that what it found is not all.
func partial(rep *probe.Report, err error) error {
	switch {
	case err == nil || !slices.ContainsFunc(rep.Results, told):
		return err
	case errors.Is(err, context.Canceled):
		return cli.ExitWith(cli.ExitInterrupted, fmt.Errorf("interrupted after %s: what was found is partial", cli.Count(len(rep.Asked), "request", "requests")))
	}
	return fmt.Errorf("ended after %s: what was found is partial: %w", cli.Count(len(rep.Asked), "request", "requests"), err)
}

func told(r probe.Result) bool { return r.Outcome != probe.CannotTell }

// checkFiles reports why a file could not be written at the end.
func (c *probeCommand) checkFiles() error {
	if c.write != "" {
		a, err := c.found(nil)
		if err == nil {
			err = cli.CheckAccount(c.write, c.name, a)
		}
		if err != nil {
			return cli.UsageError("--write: %w", err)
		}
	}
	paths := map[string]string{}
	for flag, path := range map[string]string{"--write": c.write, "--report": c.report, "--go": c.goFile} {
		if path == "" {
			continue
		}
		if err := atomicfile.Check(path); err != nil {
			return cli.UsageError("%s: %w", flag, err)
		}
		if other, twice := paths[filepath.Clean(path)]; twice {
			return cli.UsageError("%s and %s name the same file", min(flag, other), max(flag, other))
		}
		paths[filepath.Clean(path)] = flag
	}
	if text, err := os.ReadFile(c.goFile); c.goFile != "" && err == nil && len(text) > 0 && !bytes.HasPrefix(text, []byte("// Written by signforms probe.")) {
		return cli.UsageError("--go: %s is not from probe, and stays as it is: name another file", c.goFile)
	}
	return nil
}

func (c *probeCommand) options() (o probe.Options, closeStore func() error, err error) {
	c.name = cmp.Or(c.conn.account, "default")
	if c.write != "" && !c.conn.bySettings() {
		c.conn.account = "" // it is the name to write
	}
	if err := c.conn.resolve(); err != nil {
		return o, nil, err
	}
	if c.write != "" && c.conn.sandbox != "" {
		return o, nil, cli.UsageError("--write needs a key that is in a file or a variable: a sandbox gives its own to --sandbox")
	}
	endpoints, err := c.conn.allEndpoints()
	if err != nil {
		return o, nil, err
	}
	o = probe.Options{BaseURL: c.conn.baseURL, APIKey: c.conn.apiKey, WorkspaceID: c.conn.workspace, Endpoints: endpoints,
		Mutating: c.mutating, Transport: http.DefaultTransport, Timeout: c.conn.attemptTimeout, Sleep: c.sleep}
	if !c.mutating {
		return o, func() error { return nil }, nil
	}
	o.LimitStore, closeStore, err = openLimitStore(c.limitStore, c.conn.sandbox != "", c.openLimitFile)
	return o, closeStore, err
}

// announce prints what will be asked. With --mutating it also has the user confirm the workspace.
func (c *probeCommand) announce(cmd *cobra.Command) error {
	stderr := cmd.ErrOrStderr()
	gets, long := probe.MostGets, "about a minute"
	if c.mutating {
		gets, long = gets+probe.MostLooks, "one to three minutes"
	}
	fmt.Fprintf(stderr, "Asks %s at most %d GET requests, less than one a second: %s. The GET requests change nothing.\n", cli.Plain(cli.ShownURL(c.conn.baseURL)), gets, long)
	if !c.mutating {
		return nil
	}
	if c.conn.workspace == "" {
		return cli.UsageError("--mutating needs the id of a workspace that is disposable: set SIGNFORMS_WORKSPACE_ID or --workspace")
	}
	fmt.Fprintf(stderr, `If the lists prove that ids and the workspace count, it asks to void at most %d times and to remind at most %d times, each for a
random id that no document should have. If the service takes another record instead, documents may be voided or the signers of
one reminded; then nothing more is asked.
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
	if !cli.Moves(w) {
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

// print prints the table and the literals, and writes the files. stopped says why the run ended early. What fails does not keep the
// rest from being written.
func (c *probeCommand) print(cmd *cobra.Command, rep *probe.Report, stopped error) error {
	var failed []error
	if rep.MayHaveActed != "" { // it is the first error, because it has the exit code
		failed = append(failed, cli.ExitWith(cli.ExitUnknown, fmt.Errorf("%s: find out whether a document was voided, or whose signers were reminded", rep.MayHaveActed)))
	}
	if stopped == nil || slices.ContainsFunc(rep.Results, told) {
		failed = append(failed, c.table(cmd, rep))
	}
	if c.report != "" {
		err := atomicfile.Write(c.report, probeReport(rep, stopped))
		if failed = append(failed, err); err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is written: read it before you show it to others\n", c.report)
		}
	}
	if stopped == nil {
		failed = append(failed, c.writeGo(cmd, rep), c.writeAccount(cmd, rep))
	}
	for _, path := range []string{c.goFile, c.write} {
		if stopped != nil && path != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is not written, as the run ended early\n", path)
		}
	}
	return errors.Join(failed...)
}

func (c *probeCommand) table(cmd *cobra.Command, rep *probe.Report) error {
	p := cli.NewPrinter(cmd, c.out, probeColumns, func(r probe.Result) any { return probeRecord{r.ID, r.Grade, r.Outcome, r.Text, r.Seen} }, len(rep.Results))
	data, unasked := c.out.JSON || c.out.CSV, 0
	for _, r := range rep.Results {
		if !data && r.Seen == probe.NoList {
			unasked++
			continue
		}
		if err := p.Print(r); err != nil {
			return err
		}
	}
	if err := p.End(); err != nil {
		return err
	}
	if unasked > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "\n%d other facts were %s.\n", unasked, probe.NoList)
	}
	literals := cmd.OutOrStdout()
	if data {
		literals = cmd.ErrOrStderr()
	}
	if text := probeLiterals(rep, probe.Verbatim); text != "" {
		fmt.Fprintln(literals, "\n"+text)
	}
	return nil
}

// found returns the account with these endpoints.
func (c *probeCommand) found(endpoints map[signforms.Operation]signforms.Endpoint) (a cli.Account, err error) {
	source := c.conn.source
	if source.File != "" {
		source.File, err = filepath.Abs(source.File)
	}
	return cli.Account{BaseURL: c.conn.baseURL, Workspace: c.conn.workspace, APIKey: source, Endpoints: endpoints}, err
}

func (c *probeCommand) writeAccount(cmd *cobra.Command, rep *probe.Report) error {
	if c.write == "" {
		return nil
	}
	a, err := c.found(rep.Endpoints)
	if err == nil {
		err = cli.WriteAccount(c.write, c.name, a)
	}
	if err != nil {
		return cli.ExitWith(cli.ExitFailure, err) // no wrong command line: requests were made
	}
	advice := cmp.Or(unproven(rep), fmt.Sprintf("use it with --settings %s", c.write))
	fmt.Fprintf(cmd.ErrOrStderr(), "%s has the account %s: %s\n", c.write, c.name, advice)
	return nil
}

// unproven says why what was found is not to be used at once; "" if a document showed that it works.
func unproven(rep *probe.Report) string {
	why := "no document showed that the SDK reads what this service lists, so compare a list with the service's own pages before you use it"
	if slices.ContainsFunc(rep.Results, func(r probe.Result) bool { return r.ID == "list documents" && r.Outcome == probe.Holds }) {
		why = rep.List
	}
	if rep.Early {
		why = strings.TrimSuffix("the run ended early, at its bound of requests or time, before all facts were asked; "+why, "; ")
	}
	return why
}

func (c *probeCommand) writeGo(cmd *cobra.Command, rep *probe.Report) error {
	if c.goFile == "" {
		return nil
	}
	text, err := probeGo(rep, c.conn, c.goFile)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(c.goFile, text); err != nil {
		return err
	}
	if why := unproven(rep); why != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is written: %s\n", c.goFile, why)
	}
	return nil
}
