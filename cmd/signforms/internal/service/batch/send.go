package batch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/internal/atomicfile"
)

// sendCommand is templates send and forms send.
type sendCommand struct {
	conn    service.Connection
	batch   batch
	form    bool
	id      string // of the template or form
	one     mailing
	mail    signforms.Mail
	pdfFile string
	pdf     []byte
	file    string
	rest    string // NEW.csv
	unknown bool
	role    string // of the columns name and email
	repeat  bool   // lines with equal addresses are meant
}

const sendHelp = `Send makes a document from a template, or sends a form, to its receivers. When the answer is
lost it ends with exit code 4: it may have been sent.

With --csv it sends to each line of FILE, and writes FILE.results.csv: without its results file, or under another name,
a FILE is new and everybody in it is mailed. The same command goes on where it stopped, with the lines that are not sent
or unknown. With another content of FILE, template or form, service or account it is refused; other flags may differ.
All lines are checked before anything is sent; then, without --yes, it asks. Edit neither file during a run.

The columns of FILE are name, email, and [variable] for a custom variable. An address that is twice in FILE is refused
without --repeat-addresses, unless it is in every line in the same role, beside others.

Edit the last state of an unknown line in FILE.results.csv to sent or again. After a typo, --rest moves the lines that
are failed, again or not begun to a new file, for you to edit and send: FILE does not send them again unless you edit
their rows. The same command writes that file again. When killed it may leave .NEW.csv-NUMBER with names and addresses.`

// Send returns the command send for templates or forms.
func Send(form bool) *cobra.Command {
	c := &sendCommand{form: form, batch: batch{verb: "sent", noun: "line"}}
	id, example := "TEMPLATE_ID", "templates send 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11 --csv people.csv --role Buyer"
	if form {
		id, example = "FORM_ID", "forms send 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11 --csv people.csv"
	}
	cmd := &cobra.Command{
		Use: "send " + id + " --to RECEIVER... | --csv FILE", Short: "Send to receivers, once or to many", Long: sendHelp,
		Example: "  signforms " + example, Args: cli.ExactlyOne(id), RunE: c.run,
	}
	f := cmd.Flags()
	f.Var(cli.FuncFlag("receiver", c.addReceiver), "to",
		"name=…,email=…,role=…[,colour=…][,subject=…][,message=…]; once for each `receiver`")
	f.StringVar(&c.file, "csv", "", "send to each line of this CSV `file`")
	f.StringVar(&c.rest, "rest", "", "send nothing: move what is failed, again or not begun in --csv to this `file`")
	f.BoolVar(&c.repeat, "repeat-addresses", false, "send to addresses that are in several lines, once for each")
	f.StringVar(&c.mail.Subject, "subject", "", "subject of the mail to receivers without their own")
	f.StringVar(&c.mail.Message, "message", "", "text of the mail to receivers without their own")
	f.Var(cli.FuncFlag("name=value", c.addVariable), "variable",
		"value of a custom variable, as `name=value`; may be repeated")
	if !form {
		f.StringVar(&c.pdfFile, "pdf", "", "PDF `file` that replaces the template's own")
		f.StringVar(&c.role, "role", "", "title of the role that the columns name and email of --csv are for; other columns "+
			"are ROLE.name and ROLE.email")
		f.BoolVar(&c.unknown, "unknown", false, "send nothing: print the documents that the unknown lines of --csv may be; "+
			"those older than the run are of another send, and without any look again in 2 minutes")
		cli.Alternatives(cmd, false, "to", "unknown")
		cli.Alternatives(cmd, false, "rest", "unknown")
	}
	f.BoolVar(&c.batch.out.JSON, "json", false, "print one JSON record a line")
	c.batch.addYes(cmd)
	c.conn.AddFlags(cmd)
	cli.Alternatives(cmd, true, "to", "csv")
	cli.Alternatives(cmd, false, "to", "rest")
	cli.Alternatives(cmd, false, "csv", "variable")
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

func (c *sendCommand) run(cmd *cobra.Command, args []string) (err error) {
	c.id, c.one.line = args[0], args[0]
	if err := c.conn.Resolve(); err != nil {
		return err
	}
	if c.pdfFile != "" {
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
	return c.batch.one(cmd, c.item(client, c.one))
}

// maxFile bounds a CSV file of receivers, and its results, in bytes.
const maxFile = 64 << 20

// runFile sends to each line of a file, or does what --rest and --unknown say with it.
func (c *sendCommand) runFile(cmd *cobra.Command) error {
	text, err := cli.ReadFile(c.file, maxFile)
	if err != nil {
		return cli.UsageError("--csv: %w", err)
	}
	people, header, err := c.readPeople(text)
	if err != nil {
		return cli.UsageError("%s: %w", c.file, err)
	}
	sum := sha256.Sum256(text)
	kind := map[bool]string{false: "template", true: "form"}[c.form]
	r, err := openResults(c.file+".results.csv", c.conn, []string{"results of", "send"},
		[]string{"file", hex.EncodeToString(sum[:])}, []string{kind, strings.ToLower(c.id)})
	if err != nil {
		return err
	}
	defer func() { r.f.Close() }()
	switch c.batch.results = r; {
	case c.rest != "":
		return c.writeRest(cmd, people, header)
	case c.unknown:
		return c.printUnknown(cmd, people)
	}
	return c.sendAll(cmd, people)
}

func (c *sendCommand) sendAll(cmd *cobra.Command, people []mailing) error {
	var wrong []error
	for _, p := range people {
		if err := c.check(p); err != nil {
			wrong = append(wrong, fmt.Errorf("line %s: %s", p.line, service.WrongInputs(err)))
		} else if slices.ContainsFunc(p.receivers, notPlain) {
			wrong = append(wrong, fmt.Errorf("line %s: an email is no plain address such as ann@example.com", p.line))
		}
	}
	if !c.repeat {
		wrong = append(wrong, repeated(people)...)
	}
	if len(wrong) > 0 {
		return cli.UsageError("nothing was sent: %s:\n%w", c.file, errors.Join(wrong...))
	}
	client, err := c.conn.Client(signforms.Options{HTTPClient: &http.Client{Transport: c.batch.results}})
	if err != nil {
		return err
	}
	var items []item
	for _, p := range people {
		items = append(items, c.item(client, p))
	}
	return c.batch.run(cmd, items)
}

// writeRest moves the lines that are to do to another file. It marks them before that file is there, so that no line is
// ever to be sent from both.
func (c *sendCommand) writeRest(cmd *cobra.Command, people []mailing, header []byte) error {
	r := c.batch.results
	to, err := filepath.Abs(c.rest)
	if err == nil {
		err = atomicfile.Check(to)
	}
	if _, missing := os.Lstat(to); missing == nil {
		err = errors.New("it is there: send it, or name a new file")
	}
	if err != nil || r.f == nil {
		return cli.UsageError("--rest %s: nothing was moved: %w", c.rest,
			cmp.Or(cli.PathCause(err), errors.New("nothing was sent yet: edit --csv itself")))
	}
	text, lines, warning := bytes.Clone(header), 0, ""
	for _, p := range people {
		if w := r.rows[p.line]; w.State == moved && w.Reason == to {
			warning = "; lines were moved there before: if that file was sent under any name, do not send this one"
		} else if !r.toDo(p.line) {
			continue
		} else if err := r.add(row{p.line, moved, "", to}); err != nil {
			return err
		}
		text = append(text, p.raw...)
		lines++
	}
	if lines == 0 {
		return fmt.Errorf("%s: no line is failed, again or not begun, and none was moved to %s", c.file, c.rest)
	}
	if err := atomicfile.Write(to, text); err != nil {
		return fmt.Errorf("%s: %w; the same command writes it again", c.rest, cli.PathCause(err))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s in %s, which %s sends no more: edit and send that file%s\n",
		cli.Count(lines, "line is", "lines are"), c.rest, c.file, warning)
	return nil
}

// printUnknown prints the documents of the template that unknown lines may be.
func (c *sendCommand) printUnknown(cmd *cobra.Command, people []mailing) error {
	r := c.batch.results
	if r.f == nil {
		return cli.UsageError("--unknown: nothing was sent from %s: %s is not there", c.file, r.path)
	}
	client, err := c.conn.Client(signforms.Options{})
	if err != nil {
		return err
	}
	found := map[string]bool{}
	printer := cli.NewPrinter(cmd, c.batch.out, columns, func(r row) any { return r }, 1)
	for d, err := range client.Templates.AllRespondents(cmd.Context(), signforms.RespondentListParams{TemplateID: c.id}) {
		if err != nil {
			return errors.Join(printer.End(), err)
		}
		for _, p := range people {
			if r.rows[p.line].State != unknown || !c.template(p).MayBe(d) {
				continue
			}
			found[p.line] = true
			if err := printer.Print(row{p.line, string(d.Status), d.RespondentDocumentID, cli.Time(d.CreatedAt)}); err != nil {
				return err
			}
		}
	}
	for _, p := range people {
		if r.rows[p.line].State == unknown && !found[p.line] {
			fmt.Fprintf(cmd.ErrOrStderr(), "line %s: no document yet; a request may still be on its way: look again in "+
				"2 minutes before you set it to again\n", p.line)
		}
	}
	return printer.End()
}

func (c *sendCommand) template(m mailing) signforms.TemplateSendParams {
	return signforms.TemplateSendParams{TemplateID: c.id, Receivers: m.receivers, Mail: c.mail, Variables: m.variables,
		PDF: c.pdf}
}

func (c *sendCommand) formParams(m mailing) signforms.FormSendParams {
	return signforms.FormSendParams{FormID: c.id, Receivers: m.receivers, Mail: c.mail, Variables: m.variables}
}

// check returns what is wrong with a send, as far as that is known without sending it.
func (c *sendCommand) check(m mailing) error {
	if c.form {
		return c.formParams(m).Validate()
	}
	return c.template(m).Validate()
}

func (c *sendCommand) item(client *signforms.Client, m mailing) item {
	return item{m.line, func(ctx context.Context) (string, string, error) {
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
	}}
}
