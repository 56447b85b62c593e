package service

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// sendCommand is templates send and forms send.
type sendCommand struct {
	conn      connection
	json      bool
	flags     batch.Flags
	form      bool
	id        string // of the template or form
	receivers []signforms.Receiver
	mail      signforms.Mail
	variables []signforms.CustomVariable
	pdfFile   string
	pdf       []byte
	csvFile   string
	role      string
	repeat    bool // lines with equal addresses are meant
}

// sendManyHelp explains --csv. roles is a line about roles, or empty.
func sendManyHelp(what, columns, roles, flags string) string {
	return `
With --csv it sends ` + what + ` to each line of a CSV file. The header names the columns:
` + columns + ` and [variable] for the value of a custom variable.
` + roles + `The values of ` + flags + ` apply to every line without its own.
All lines are checked before the first is sent.

A journal (--journal) remembers what was sent: after an interrupt, a crash or a failure the same command
sends only the rest. Until every line was sent, other settings and another file with some of the people are
refused, unless --new-run abandons the run. A line whose outcome is unknown, that was changed after it was sent,
or with a person who got a line with other receivers, is not sent again unless --resolve says so.`
}

func newTemplatesSend() *cobra.Command {
	c := &sendCommand{}
	cmd := &cobra.Command{
		Use:   "send TEMPLATE_ID --to RECEIVER... | --csv FILE",
		Short: "Send a template to its receivers, once or to many",
		Long: `Send makes a document from a template and sends it to its receivers, each with the title of a role of the template.
When the answer is lost it ends with exit code 4: the document may have been sent.
` + sendManyHelp("one document", "name, email, role, colour, subject, message",
			"A line for several roles has columns such as Buyer.name, Buyer.email, Seller.name and Seller.email.\n", "--subject, --message, --variable and --role"),
		Example: `  signforms templates send 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11 --to name=Ann,email=ann@example.com,role=Buyer
  signforms templates send 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11 --csv people.csv --role Buyer --dry-run`,
		Args: cli.ExactlyOne("TEMPLATE_ID"),
		RunE: c.run,
	}
	cmd.Flags().StringVar(&c.pdfFile, "pdf", "", "PDF `file` that replaces the template's own")
	cmd.Flags().BoolVar(&c.flags.Unknown, "unknown", false, "send nothing: look in the template's documents for the lines of --csv whose outcome is unknown, by their addresses")
	cmd.Flags().StringVar(&c.role, "role", "", "title of the role of every line of --csv")
	c.addFlags(cmd)
	return cmd
}

func newFormsSend() *cobra.Command {
	c := &sendCommand{form: true}
	cmd := &cobra.Command{
		Use:   "send FORM_ID --to RECEIVER... | --csv FILE",
		Short: "Send a form to its receivers, once or to many",
		Long: `Send sends a form to its receivers. When the answer is lost it ends with exit code 4: the form may have been sent.
` + sendManyHelp("the form", "name, email, subject, message", "", "--subject, --message and --variable"),
		Example: "  signforms forms send 7f1c… --to name=Ann,email=ann@example.com\n  signforms forms send 7f1c… --csv people.csv",
		Args:    cli.ExactlyOne("FORM_ID"),
		RunE:    c.run,
	}
	c.addFlags(cmd)
	return cmd
}

func (c *sendCommand) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	keys := "name=…,email=…,role=…[,colour=…][,subject=…][,message=…]"
	if c.form {
		keys = "name=…,email=…[,subject=…][,message=…]"
	}
	f.Var(receiversFlag(&c.receivers, c.form), "to", keys+"; once for each `receiver`")
	f.StringVar(&c.csvFile, "csv", "", "send to each line of this CSV `file`, or of standard input where it is -")
	f.BoolVar(&c.repeat, "repeat-addresses", false, "send to people who are in several lines, once for each; who is in every line in the same role needs no flag")
	f.StringVar(&c.mail.Subject, "subject", "", "subject of the mail to receivers without their own")
	f.StringVar(&c.mail.Message, "message", "", "text of the mail to receivers without their own")
	f.Var(variablesFlag(&c.variables), "variable", "value of a custom variable, as `name=value`; may be repeated")
	f.BoolVar(&c.json, "json", false, "print one JSON record a line")
	addBatchFlags(cmd, &c.flags)
	addJournalFlags(cmd, &c.flags, "with --csv, FILE.journal")
	c.conn.addFlags(cmd)
	cli.Alternatives(cmd, true, "to", "csv")
}

func (c *sendCommand) run(cmd *cobra.Command, args []string) error {
	c.id = args[0]
	if err := c.conn.resolve(); err != nil {
		return err
	}
	if c.pdfFile != "" {
		var err error
		if c.pdf, err = cli.ReadFile(c.pdfFile, 10<<20); err != nil {
			return cli.UsageError("--pdf: %w", err)
		}
	}
	if c.flags.Unknown && (c.flags.NewRun || c.flags.DryRun || len(c.flags.Resolve) > 0) {
		return cli.UsageError("--unknown only looks: leave out --new-run, --resolve and --dry-run")
	}
	if c.csvFile != "" {
		return c.runCSV(cmd)
	}
	if c.flags.Journal != "" || c.flags.NewRun || len(c.flags.Resolve) > 0 || c.repeat || c.flags.Unknown {
		return cli.UsageError("--journal, --new-run, --resolve, --repeat-addresses and --unknown go with --csv")
	}
	return c.runOnce(cmd)
}

// runOnce sends to the receivers of --to, together.
func (c *sendCommand) runOnce(cmd *cobra.Command) error {
	m := batch.Mailing{Receivers: c.receivers, Mail: c.mail, Variables: c.variables}
	if err := c.check(m); err != nil {
		return err
	}
	if c.flags.DryRun {
		fmt.Fprintf(cmd.ErrOrStderr(), "1 %s would be sent to %s\n", c.makes(), cli.Plain(recipientsText(batch.Recipients(m))))
		return nil
	}
	if len(m.Receivers) > 1 && !c.flags.Yes {
		if err := cli.Confirm(cmd, fmt.Sprintf("%d receivers will get mail.", len(m.Receivers))); err != nil {
			return err
		}
	}
	client, err := c.conn.client(signforms.Options{})
	if err != nil {
		return err
	}
	if c.form {
		pr := cli.NewPrinter(cmd, cli.Output{JSON: c.json}, formSendColumns, func(r *signforms.FormSendResult) any { return r }, 1)
		return cli.PrintAll(pr, oneRecord(client.Forms.Send(cmd.Context(), c.formParams(m))))
	}
	pr := cli.NewPrinter(cmd, cli.Output{JSON: c.json}, sendColumns, func(r *signforms.SendResult) any { return r }, 1)
	return cli.PrintAll(pr, oneRecord(client.Templates.Send(cmd.Context(), c.templateParams(m))))
}

var sendColumns = []cli.Column[*signforms.SendResult]{
	{Name: "createdDocumentId", Value: func(r *signforms.SendResult) string { return r.CreatedDocumentID }},
	{Name: "status", Value: func(r *signforms.SendResult) string { return string(r.CreatedDocumentStatus) }},
	{Name: "message", Value: func(r *signforms.SendResult) string { return r.Message }, Long: true},
}

var formSendColumns = []cli.Column[*signforms.FormSendResult]{
	{Name: "message", Value: func(r *signforms.FormSendResult) string { return r.Message }},
}

func (c *sendCommand) templateParams(m batch.Mailing) signforms.TemplateSendParams {
	return signforms.TemplateSendParams{TemplateID: c.id, Receivers: m.Receivers, Mail: m.Mail, Variables: m.Variables, PDF: c.pdf}
}

func (c *sendCommand) formParams(m batch.Mailing) signforms.FormSendParams {
	return signforms.FormSendParams{FormID: c.id, Receivers: m.Receivers, Mail: m.Mail, Variables: m.Variables}
}

// makes is the word for what one send makes.
func (c *sendCommand) makes() string {
	if c.form {
		return "form"
	}
	return "document"
}

// check returns what is wrong with a send, as far as that is known without sending it.
func (c *sendCommand) check(m batch.Mailing) error {
	for _, r := range m.Receivers {
		if err := batch.CheckAddress(r.Email); err != nil {
			return err
		}
	}
	if c.form {
		return c.formParams(m).Validate()
	}
	return c.templateParams(m).Validate()
}

func (c *sendCommand) send(client *signforms.Client, m batch.Mailing) func(context.Context, *batch.Record) error {
	return func(ctx context.Context, r *batch.Record) error {
		if c.form {
			res, err := client.Forms.Send(ctx, c.formParams(m))
			if err == nil {
				r.Message = res.Message
			}
			return inFlags(err)
		}
		res, err := client.Templates.Send(ctx, c.templateParams(m))
		if err == nil {
			r.TemplateID, r.CreatedDocumentID, r.Status, r.Message = res.TemplateID, res.CreatedDocumentID, res.CreatedDocumentStatus, res.Message
		}
		return inFlags(err)
	}
}

func (c *sendCommand) lookFor(at time.Time) string {
	if c.form {
		return fmt.Sprintf("ask the receiver whether a form came about %s", cli.Time(at))
	}
	return fmt.Sprintf("the same command with --unknown looks for a document made about %s", cli.Time(at))
}
