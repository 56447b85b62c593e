package batch

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

// sendCommand is templates send and forms send.
type sendCommand struct {
	conn    service.Connection
	batch   batch
	form    bool
	id      string // of the template or form
	one     mailing
	pdfFile string
	pdf     []byte
	file    string
	rest    string // NEW.csv
	unknown bool
	role    string
	repeat  bool // lines with equal addresses are meant
}

const sendHelp = `Send makes a document from a template, or sends a form, to its receivers. When the answer is lost it ends with exit
code 4: it may have been sent.

With --csv it sends to each line of FILE, and writes FILE.results.csv: without its results file, or under another name,
a FILE is new and everybody in it is mailed. The same command goes on where it stopped: no line that is sent or unknown
is sent again, failed ones are. With another content of FILE, template or form, service or account it is refused.

  unknown   The answer was lost. --unknown prints the documents that it may be. Look, and edit the last state of the
            line in FILE.results.csv to sent or again.
  a typo    --rest NEW.csv moves the lines that are failed or not begun to NEW.csv, and FILE never sends them again.
            Edit NEW.csv and send it. The same command writes NEW.csv again.

The header of FILE names the columns: name, email, role, colour, subject, message, and [variable] for a custom variable.
A line for several roles has columns such as Buyer.name and Buyer.email. A form has no roles and no colour. The values
of --subject, --message, --variable and --role apply to every line without its own. All lines are checked before the
first is sent. An address that is twice in FILE is refused without --repeat-addresses, unless it is in every line in
the same role. Edit neither file while a run is going on.`

// Send returns the command send for templates or forms.
func Send(form bool) *cobra.Command {
	c := &sendCommand{form: form, batch: batch{verb: "sent", noun: "line", makes: !form}}
	id := map[bool]string{false: "TEMPLATE_ID", true: "FORM_ID"}[form]
	cmd := &cobra.Command{
		Use: "send " + id + " --to RECEIVER... | --csv FILE", Short: "Send to receivers, once or to many", Long: sendHelp,
		Example: "  signforms templates send 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11 --to " +
			"name=Ann,email=ann@example.com,role=Buyer\n" +
			"  signforms templates send 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11 --csv people.csv --role Buyer --dry-run",
		Args: cli.ExactlyOne(id), RunE: c.run,
	}
	f := cmd.Flags()
	f.Var(cli.FuncFlag("receiver", c.addReceiver), "to",
		"name=…,email=…,role=…[,colour=…][,subject=…][,message=…]; once for each `receiver`")
	f.StringVar(&c.file, "csv", "", "send to each line of this CSV `file`")
	f.StringVar(&c.rest, "rest", "", "send nothing: move the lines of --csv that are failed or not begun to this `file`")
	f.BoolVar(&c.unknown, "unknown", false, "send nothing: print the documents that the unknown lines of --csv may be")
	f.BoolVar(&c.repeat, "repeat-addresses", false, "send to addresses that are in several lines, once for each")
	f.StringVar(&c.one.mail.Subject, "subject", "", "subject of the mail to receivers without their own")
	f.StringVar(&c.one.mail.Message, "message", "", "text of the mail to receivers without their own")
	f.Var(cli.FuncFlag("name=value", c.addVariable), "variable",
		"value of a custom variable, as `name=value`; may be repeated")
	if !form {
		f.StringVar(&c.pdfFile, "pdf", "", "PDF `file` that replaces the template's own")
		f.StringVar(&c.role, "role", "", "title of the role of every line of --csv")
	}
	f.BoolVar(&c.batch.out.JSON, "json", false, "print one JSON record a line")
	c.batch.addFlags(cmd)
	c.conn.AddFlags(cmd)
	cli.Alternatives(cmd, true, "to", "csv")
	for _, name := range []string{"rest", "unknown", "repeat-addresses"} {
		cli.Alternatives(cmd, false, "to", name)
	}
	cli.Alternatives(cmd, false, "rest", "unknown", "dry-run")
	return service.Speaking(cmd)[0]
}

func (c *sendCommand) addReceiver(text string) error {
	fields, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return errors.New("cannot be read: say name=Ann,email=ann@example.com,role=Buyer, and quote what holds a " +
			"comma: \"name=Doe, Ann\",…")
	}
	var receiver signforms.Receiver
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		if err := setReceiver(&receiver, strings.TrimSpace(name), value); err != nil {
			return err
		}
	}
	if c.form && receiver.RoleTitle+receiver.RoleColour != "" {
		return errors.New("a form has no roles: leave out role and colour")
	}
	c.one.receivers = append(c.one.receivers, receiver)
	return nil
}

func (c *sendCommand) addVariable(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return errors.New("must be name=value")
	}
	if !strings.HasPrefix(name, "[") {
		name = "[" + name + "]"
	}
	c.one.variables = append(c.one.variables, signforms.CustomVariable{Name: name, Value: value})
	return nil
}

func (c *sendCommand) run(cmd *cobra.Command, args []string) error {
	c.id = args[0]
	if err := c.conn.Resolve(); err != nil {
		return err
	}
	if c.pdfFile != "" {
		var err error
		if c.pdf, err = cli.ReadFile(c.pdfFile, 10<<20); err != nil {
			return cli.UsageError("--pdf: %w", err)
		}
	}
	if c.file != "" {
		return c.runFile(cmd)
	}
	if err := c.check(c.one); err != nil {
		return err
	}
	client, err := c.conn.Client(signforms.Options{})
	if err != nil {
		return err
	}
	if n := len(c.one.receivers); n > 1 && !c.batch.yes && !c.batch.dryRun {
		if err := cli.Confirm(cmd, fmt.Sprintf("%d receivers will get mail.", n)); err != nil {
			return err
		}
	}
	return c.batch.run(cmd, []item{{c.id, c.send(client, c.one)}})
}

func (c *sendCommand) template(m mailing) signforms.TemplateSendParams {
	return signforms.TemplateSendParams{TemplateID: c.id, Receivers: m.receivers, Mail: m.mail, Variables: m.variables,
		PDF: c.pdf}
}

func (c *sendCommand) formParams(m mailing) signforms.FormSendParams {
	return signforms.FormSendParams{FormID: c.id, Receivers: m.receivers, Mail: m.mail, Variables: m.variables}
}

// check returns what is wrong with a send, as far as that is known without sending it.
func (c *sendCommand) check(m mailing) error {
	for _, r := range m.receivers {
		if strings.ContainsAny(r.Email, ",;<> \t\n'\"") {
			return cli.UsageError("%q is not one mail address alone, such as ann@example.com", r.Email)
		}
	}
	if c.form {
		return c.formParams(m).Validate()
	}
	return c.template(m).Validate()
}

func (c *sendCommand) send(client *signforms.Client, m mailing) func(context.Context) (id, message string, err error) {
	return func(ctx context.Context) (string, string, error) {
		if c.form {
			res, err := client.Forms.Send(ctx, c.formParams(m))
			if err != nil {
				return "", "", service.InFlags(err)
			}
			return "", res.Message, nil
		}
		res, err := client.Templates.Send(ctx, c.template(m))
		if err != nil {
			return "", "", service.InFlags(err)
		}
		return res.CreatedDocumentID, res.Message, nil
	}
}
