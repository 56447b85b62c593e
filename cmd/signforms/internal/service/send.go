package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// sendCommand is templates send and forms send.
type sendCommand struct {
	conn      connection
	json      bool
	flags     batchFlags
	form      bool
	id        string // of the template or form
	receivers []signforms.Receiver
	mail      signforms.Mail
	variables []signforms.CustomVariable
	pdfFile   string
	pdf       []byte
	csvFile   string
	role      string
}

// sendManyHelp explains --csv. roles is a line about roles, or empty.
func sendManyHelp(what, columns, roles, flags string) string {
	return `
With --csv it sends ` + what + ` to each line of a CSV file. The header names the columns:
` + columns + ` and [variable] for the value of a custom variable.
` + roles + `The values of ` + flags + ` apply to every line without its own.
All lines are checked before the first is sent.

A journal (--journal) remembers what was sent: after an interrupt, a crash or a failure the same command
sends only the rest. A line whose outcome is unknown is not sent again unless --resolve says so. The run has
ended when every line was sent; the next one starts over.`
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
	f.StringVar(&c.csvFile, "csv", "", "send to each line of this CSV `file`")
	f.StringVar(&c.mail.Subject, "subject", "", "subject of the mail to receivers without their own")
	f.StringVar(&c.mail.Message, "message", "", "text of the mail to receivers without their own")
	f.Var(variablesFlag(&c.variables), "variable", "value of a custom variable, as `name=value`; may be repeated")
	f.BoolVar(&c.json, "json", false, "print one JSON record a line")
	c.flags.addFlags(cmd)
	c.flags.addJournalFlags(cmd, "with --csv, FILE.journal")
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
	if c.csvFile != "" {
		return c.runCSV(cmd)
	}
	if c.flags.journal != "" || c.flags.newRun || len(c.flags.resolve) > 0 {
		return cli.UsageError("--journal, --new-run and --resolve go with --csv")
	}
	return c.runOnce(cmd)
}

// runOnce sends to the receivers of --to, together.
func (c *sendCommand) runOnce(cmd *cobra.Command) error {
	m := mailing{c.receivers, c.mail, c.variables}
	if err := c.check(m); err != nil {
		return err
	}
	if c.flags.dryRun {
		fmt.Fprintf(cmd.ErrOrStderr(), "1 document would be sent to %s\n", cli.Count(len(m.Receivers), "receiver", "receivers"))
		return nil
	}
	if len(m.Receivers) > 1 && !c.flags.yes {
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

func (c *sendCommand) templateParams(m mailing) signforms.TemplateSendParams {
	return signforms.TemplateSendParams{TemplateID: c.id, Receivers: m.Receivers, Mail: m.Mail, Variables: m.Variables, PDF: c.pdf}
}

func (c *sendCommand) formParams(m mailing) signforms.FormSendParams {
	return signforms.FormSendParams{FormID: c.id, Receivers: m.Receivers, Mail: m.Mail, Variables: m.Variables}
}

// check returns what the SDK finds wrong with a send, without sending it.
func (c *sendCommand) check(m mailing) error {
	if c.form {
		return c.formParams(m).Validate()
	}
	return c.templateParams(m).Validate()
}

// runCSV sends to each line of a file.
func (c *sendCommand) runCSV(cmd *cobra.Command) error {
	text, err := cli.ReadFile(c.csvFile, maxPeople)
	if err != nil {
		return cli.UsageError("--csv: %w", err)
	}
	lines, err := readPeople(text, c.form, mailing{Mail: c.mail, Variables: c.variables}, c.role)
	if err != nil {
		return cli.UsageError("%s: %w", c.csvFile, err)
	}
	if err := c.checkLines(lines); err != nil {
		return err
	}
	b := &batch{verb: "sent", noun: "line", many: "lines", flags: c.flags, columns: sentColumns, whole: true, lookFor: c.lookFor}
	if c.form {
		b.columns = formSentColumns
	}
	path := c.flags.journal
	if path == "" {
		path = c.csvFile + ".journal"
	}
	var options signforms.Options
	closeJournal, err := b.openJournal(path, journal.Key(c.target()...), &options)
	if err != nil {
		return err
	}
	defer closeJournal()
	client, err := c.conn.client(options)
	if err != nil {
		return err
	}
	if b.items, err = c.items(client, lines); err != nil {
		return err
	}
	return b.run(cmd, cli.Output{JSON: c.json})
}

// target identifies what a run sends: the service, the workspace, the template or form, and the PDF.
func (c *sendCommand) target() []string {
	kind := "template"
	if c.form {
		kind = "form"
	}
	pdf := sha256.Sum256(c.pdf)
	return append(c.conn.service(), kind, strings.ToLower(c.id), hex.EncodeToString(pdf[:]))
}

// maxWrongLines bounds how many wrong lines are named.
const maxWrongLines = 10

func (c *sendCommand) checkLines(lines []person) error {
	var wrong []string
	for _, l := range lines {
		if err := c.check(l.mailing); err != nil {
			if len(wrong) == maxWrongLines {
				wrong = append(wrong, "and more")
				break
			}
			wrong = append(wrong, fmt.Sprintf("line %d: %s", l.line, wrongInputs(err)))
		}
	}
	if len(wrong) > 0 {
		return cli.UsageError("%s: nothing was sent:\n  %s", c.csvFile, strings.Join(wrong, "\n  "))
	}
	return nil
}

// items makes an item from each line. It refuses two equal lines: the journal could not tell them apart, and they are most likely
// a mistake.
func (c *sendCommand) items(client *signforms.Client, lines []person) ([]*item, error) {
	first := map[string]int{}
	var items []*item
	for _, l := range lines {
		content, err := json.Marshal(l.mailing)
		if err != nil {
			return nil, err
		}
		key := journal.Key(append(c.target(), string(content))...)
		if earlier := first[key]; earlier > 0 {
			return nil, cli.UsageError("%s: lines %d and %d are the same: remove one", c.csvFile, earlier, l.line)
		}
		first[key] = l.line
		items = append(items, &item{key: key, label: fmt.Sprintf("line %d", l.line), do: c.send(client, l.mailing)})
	}
	return items, nil
}

func (c *sendCommand) send(client *signforms.Client, m mailing) func(context.Context, *batchRecord) error {
	return func(ctx context.Context, r *batchRecord) error {
		if c.form {
			res, err := client.Forms.Send(ctx, c.formParams(m))
			if err == nil {
				r.Message = res.Message
			}
			return err
		}
		res, err := client.Templates.Send(ctx, c.templateParams(m))
		if err == nil {
			r.TemplateID, r.CreatedDocumentID, r.Status, r.Message = res.TemplateID, res.CreatedDocumentID, res.CreatedDocumentStatus, res.Message
		}
		return err
	}
}

func (c *sendCommand) lookFor(_ *item, at time.Time) string {
	if c.form {
		return fmt.Sprintf("ask the receiver of that line whether a form came about %s", cli.Time(at))
	}
	return fmt.Sprintf("look with \"signforms templates respondents %s\" for a document for the receiver of that line, made about %s", c.id, cli.Time(at))
}
