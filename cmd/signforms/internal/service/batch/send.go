package batch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
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

// sendCommand is the command templates send or forms send.
type sendCommand struct {
	batch
	form    bool
	id      string // id of the template or form
	mail    signforms.Mail
	file    string
	rest    string // name of NEW.csv
	unknown bool
	repeat  bool // lines with equal addresses are intended
}

const sendHelp = `Send makes a document from a template, or sends a form, to its receivers. If the response is lost,
the exit code is 4: it may have been sent. A COLUMN is ROLE.name or ROLE.email, for a form name or email, or [variable]
for a custom variable.

With --csv it sends to each line of FILE, whose first line has the columns. It records the outcomes in FILE.results.csv.
If the command is interrupted, run it again: it sends the lines that are neither sent nor unknown. Without its results
file, or under another name, a FILE counts as new, and everybody in it is mailed. If the contents of FILE, the template
or form, the service or the account have changed, the command is refused; --subject and --message may differ. All lines
are checked before anything is sent. Without --yes, the command then asks. Do not edit the two files during a run.

An address that occurs twice in FILE is refused without --repeat-addresses. The exception is a person who has the same
role in every line, and no other role, if each line also has other people.

For an unknown line, find out whether it was sent, and edit its last state in FILE.results.csv to sent or again. To
correct a line, use --rest: it moves the lines that are failed, again or not started to a new file, which you edit and
send. FILE does not send these lines again unless you edit their rows. The same command writes the new file again. If it
is killed, it may leave a file .NEW.csv-NUMBER with names and addresses.`

// Send returns the command send for templates or forms.
func Send(form bool) *cobra.Command {
	c := &sendCommand{form: form, batch: batch{noun: "line"}}
	id, example := "TEMPLATE_ID", "Buyer.name=Ann Buyer.email=ann@example.com"
	if form {
		id, example = "FORM_ID", "name=Ann email=ann@example.com"
	}
	cmd := &cobra.Command{
		Use: "send " + id + " COLUMN=VALUE... | --csv FILE", Short: "Send to receivers, once or to many", Long: sendHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || (len(args) == 1) != (c.file != "") || c.file == "" && (c.rest != "" || c.unknown) {
				return fmt.Errorf("give one %s, and what to send: --csv FILE, or columns such as %s", id, example)
			}
			return nil
		},
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.file, "csv", "", "send to each line of this CSV `file`")
	f.StringVar(&c.rest, "rest", "", "send nothing: move what is failed, again or not begun in --csv to this `file`")
	f.BoolVar(&c.repeat, "repeat-addresses", false, "send to addresses that are in several lines, once for each")
	f.StringVar(&c.mail.Subject, "subject", "", "subject of the mail")
	f.StringVar(&c.mail.Message, "message", "", "text of the mail")
	if !form {
		f.BoolVar(&c.unknown, "unknown", false, "send nothing: print the documents that the unknown lines of --csv may be; "+
			"those older than the run are of another send")
		cli.Alternatives(cmd, false, "rest", "unknown")
	}
	c.addFlags(cmd)
	return service.Speaking(cmd)[0]
}

func (c *sendCommand) run(cmd *cobra.Command, args []string) error {
	c.id = args[0]
	if err := c.conn.Resolve(); err != nil {
		return err
	}
	if c.file != "" {
		return c.runFile(cmd)
	}
	lines := [2][]string{}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		lines[0], lines[1] = append(lines[0], name), append(lines[1], value)
	}
	var text bytes.Buffer
	csv.NewWriter(&text).WriteAll(lines[:])
	people, _, err := c.readPeople(text.Bytes())
	if err != nil {
		return cli.UsageError("%w", err)
	}
	client, err := c.conn.Client(signforms.Options{})
	if err != nil {
		return err
	}
	people[0].line = c.id
	return c.one(cmd, c.item(client, people[0]))
}

// maxFile is the maximum size of a CSV file of receivers, and of its results file, in bytes.
const maxFile = 64 << 20

// resultsEnd is the end of the name of the results file of a FILE.
const resultsEnd = ".results.csv"

// regular reports whether a results file can be stored next to a file. It reports false for a pipe
// and for the system's name of standard input, even if a file is redirected to standard input. It
// reports true if the file does not exist.
func regular(name string) bool {
	info, err := os.Stat(name)
	full, _ := filepath.Abs(name)
	return err != nil || info.Mode().IsRegular() && !strings.HasPrefix(full, "/dev/fd/") && !strings.HasPrefix(full, "/proc/") && full != os.Stdin.Name()
}

func (c *sendCommand) runFile(cmd *cobra.Command) error {
	if !regular(c.file) {
		return cli.UsageError("--csv: %s: %w", c.file, errNotRegular)
	}
	text, err := cli.ReadFile(c.file, maxFile)
	if err != nil {
		return cli.UsageError("--csv: %w", err)
	}
	people, header, err := c.readPeople(text)
	if _, missing := os.Lstat(c.file + resultsEnd); err != nil && missing == nil {
		err = fmt.Errorf("%w; it was right when %s began: undo the edit", err, c.file+resultsEnd)
	}
	if err != nil {
		return cli.UsageError("%s: %w", c.file, err)
	}
	sum := sha256.Sum256(text)
	kind := map[bool]string{false: "template", true: "form"}[c.form]
	client, err := c.open(c.file+resultsEnd, signforms.Options{}, []string{"results of", "send"},
		[]string{"file", hex.EncodeToString(sum[:])}, []string{kind, strings.ToLower(c.id)})
	if err != nil {
		return err
	}
	defer c.results.close()
	for line := range c.results.rows {
		if !slices.ContainsFunc(people, func(p mailing) bool { return p.line == line }) {
			return cli.UsageError("nothing was sent: %s has a row of line %s, and %s has no such line: undo the edit",
				c.results.path, line, c.file)
		}
	}
	switch {
	case c.rest != "":
		return c.writeRest(cmd, people, header)
	case c.unknown:
		return c.printUnknown(cmd, client, people)
	}
	if wrong := c.wrongLines(people); len(wrong) > 0 {
		return cli.UsageError("nothing was sent: %s:\n%w", c.file, errors.Join(wrong...))
	}
	if err := c.checkRoles(cmd.Context(), client, people); err != nil {
		return cli.UsageError("nothing was sent: %s: %w", c.file, err)
	}
	var items []item
	for _, p := range people {
		items = append(items, c.item(client, p))
	}
	return c.batch.run(cmd, items)
}

// checkRoles refuses a role that the template does not have. If the service does not return the
// template with its roles, checkRoles checks nothing, and the service refuses the sends itself.
func (c *sendCommand) checkRoles(ctx context.Context, client *signforms.Client, people []mailing) error {
	if c.form {
		return nil
	}
	t, err := client.Templates.Get(ctx, c.id)
	if err != nil || len(t.Roles) == 0 {
		return nil
	}
	var roles []string
	for _, r := range t.Roles {
		roles = append(roles, r.Title)
	}
	for _, p := range people {
		for _, r := range p.receivers {
			if !slices.Contains(roles, r.RoleTitle) {
				return fmt.Errorf("line %s: the template has no role %q; it has %s", p.line, r.RoleTitle, strings.Trim(fmt.Sprintf("%q", roles), "[]"))
			}
		}
	}
	return nil
}

// writeRest moves the lines that are not finished to another file. It marks the lines before the
// other file exists, so that no line is ever sent from both files.
func (c *sendCommand) writeRest(cmd *cobra.Command, people []mailing, header []byte) error {
	to, err := filepath.Abs(c.rest)
	if err == nil {
		err = atomicfile.Check(to)
	}
	if _, missing := os.Lstat(to); missing == nil {
		err = errors.New("it is there: send it, or name a new file")
	}
	if err != nil {
		return cli.UsageError("--rest %s: nothing was moved: %w", c.rest, cli.PathCause(err))
	}
	text, lines := bytes.Clone(header), 0
	for _, p := range people {
		if c.results.toDo(p.line) {
			if err := c.results.add(row{p.line, moved, "", to}); err != nil {
				return err
			}
		}
		if w := c.results.rows[p.line]; w.State == moved && w.Reason == to {
			text = append(text, p.raw...)
			lines++
		}
	}
	if lines == 0 {
		return fmt.Errorf("%s: no line is failed, again or not begun, and none was moved to %s", c.file, c.rest)
	}
	if err := atomicfile.Write(to, text); err != nil {
		return fmt.Errorf("%s: %w; the same command writes it again", c.rest, cli.PathCause(err))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s in %s, which %s sends no more: edit and send that file, unless you have sent it "+
		"under any name\n", cli.Count(lines, "line is", "lines are"), c.rest, c.file)
	return nil
}

// printUnknown prints the documents of the template that unknown lines may have created.
func (c *sendCommand) printUnknown(cmd *cobra.Command, client *signforms.Client, people []mailing) error {
	people = slices.DeleteFunc(people, func(p mailing) bool { return c.results.rows[p.line].State != unknown })
	fmt.Fprintf(cmd.ErrOrStderr(), "%s unknown (%s); the request of a line without a document here may still arrive: check "+
		"again in 2 minutes before you set the line to again\n", cli.Count(len(people), "line is", "lines are"), c.results.path)
	printer := cli.NewPrinter(cmd, c.out, columns, func(r row) any { return r }, 1)
	for d, err := range client.Respondents.All(cmd.Context(), signforms.RespondentListParams{TemplateID: c.id}) {
		for _, p := range people {
			if err == nil && c.template(p).MayMatch(d) {
				err = printer.Print(row{p.line, string(d.Status), d.ID, cli.Time(d.CreatedAt)})
			}
		}
		if err != nil {
			return errors.Join(printer.End(), err)
		}
	}
	return printer.End()
}

func (c *sendCommand) template(m mailing) signforms.TemplateSendParams {
	return signforms.TemplateSendParams{TemplateID: c.id, Receivers: m.receivers, Mail: c.mail, Variables: m.variables}
}

func (c *sendCommand) toForm(m mailing) signforms.FormSendParams {
	return signforms.FormSendParams{FormID: c.id, Receivers: m.receivers, Mail: c.mail, Variables: m.variables}
}

func (c *sendCommand) item(client *signforms.Client, m mailing) item {
	return item{m.line, func(ctx context.Context) (id, message string, err error) {
		if c.form {
			res, err := client.Forms.Send(ctx, c.toForm(m))
			if err != nil {
				return "", "", err
			}
			return "", res.Message, nil
		}
		res, err := client.Templates.Send(ctx, c.template(m))
		if err != nil {
			return "", "", err
		}
		return res.DocumentID, res.Message, nil
	}}
}
