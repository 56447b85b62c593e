package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/redact"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/internal/atomicfile"
)

// command has the flags of probe.
type command struct {
	conn   service.Connection
	json   bool
	form   string
	report string
	sleep  func(context.Context, time.Duration) error
}

// Command returns the command probe. sleep waits between requests; nil means a real wait.
func Command(sleep func(context.Context, time.Duration) error) *cobra.Command {
	c := command{sleep: sleep}
	if sleep == nil {
		c.sleep = wait
	}
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Show the responses of an account's service",
		Long: fmt.Sprintf(`Probe asks the service the open questions of docs/wire-format.md. For each question it prints what the SDK assumes,
the request, the response, and how the SDK read the response. It draws no conclusion. If a response is not what the SDK
assumes, set the operation's endpoint (--endpoint), or report it.

Probe makes at most %d GET requests, at most one a second, and changes nothing. Some requests have inputs that the service
should refuse. The last two have no key and a random key.

The output contains names, constants, counts and times of the wire format. Other values are replaced, and equal values
get the same replacement: a mail address becomes person1@example.com, for example. --report writes the output, with the
responses, as a page that you can attach to an issue. Read the page before you show it to others.`, MostGets),
		Example: "  signforms probe --account test --report probe.md",
		Args:    cli.NoArgs,
		RunE:    c.run,
	}
	cmd.Flags().StringVar(&c.form, "form", "", "`id` of a form whose responses are asked for")
	cmd.Flags().StringVar(&c.report, "report", "", "write a page with all requests and answers to this `file`")
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON record a line")
	c.conn.AddFlagsOnce(cmd)
	return service.Speaking(cmd)[0]
}

func (c *command) run(cmd *cobra.Command, _ []string) error {
	if err := c.conn.Resolve(); err != nil {
		return err
	}
	if c.report != "" {
		if err := atomicfile.Check(c.report); err != nil {
			return cli.UsageError("--report: %s: %w", c.report, cli.PathCause(err))
		}
	}
	w := &wire{next: http.DefaultTransport, sleep: c.sleep}
	client, err := c.conn.Client(signforms.Options{Transport: w})
	if err != nil {
		return err
	}
	r := &run{ctx: cmd.Context(), client: client, wire: w, redact: redact.New(), stranger: c.conn.Stranger(), form: c.form}
	r.redact.Marks = true
	var all []Observation
	ended := r.all(func(o Observation) error {
		all = append(all, o)
		if c.json {
			return cli.EncodeJSON(cmd.OutOrStdout(), o, "")
		}
		return o.print(cmd.OutOrStdout())
	})
	if c.report != "" && len(all) > 0 {
		if err := atomicfile.Write(c.report, page(all, ended)); err != nil {
			return errors.Join(ended, fmt.Errorf("--report: %w", err))
		}
	}
	if ended != nil && len(all) > 0 && cmd.Context().Err() == nil {
		ended = cli.ExitWith(cli.ExitPartial, fmt.Errorf("ended early, after %d of %d questions: %w", len(all),
			len(questions), ended))
	}
	return ended
}

// print prints an observation for people.
func (o Observation) print(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n  assumed  %s\n", o.Question, o.Assumed)
	for _, s := range o.Seen {
		fmt.Fprintf(&b, "  asked    %s\n  came     %s\n           %s\n", cli.Plain(s.Asked), cli.Plain(s.Came), s.SDK)
	}
	if o.Note != "" {
		fmt.Fprintf(&b, "  note     %s\n", o.Note)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// page returns the report.
func page(all []Observation, ended error) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What probe saw\n\nBy signforms-go %s. Values that are not of the wire format are replaced, "+
		"equal ones by equal ones.\n", signforms.Version())
	if ended != nil {
		fmt.Fprintf(&b, "\n**The run ended early, after %d of %d questions.**\n", len(all), len(questions))
	}
	for _, o := range all {
		fmt.Fprintf(&b, "\n## %s\n\nThe SDK assumes: %s.\n", o.Question, o.Assumed)
		for _, s := range o.Seen {
			fmt.Fprintf(&b, "\n`%s`\n→ %s; %s\n", cli.Plain(s.Asked), cli.Plain(s.Came), s.SDK)
			if s.Body != "" {
				fmt.Fprintf(&b, "\n```json\n%s\n```\n", s.Body)
			}
		}
		if o.Note != "" {
			fmt.Fprintf(&b, "\nNote: %s.\n", o.Note)
		}
	}
	return b.Bytes()
}
