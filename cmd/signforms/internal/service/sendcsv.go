package service

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// runCSV sends to each line of a file or of standard input.
func (c *sendCommand) runCSV(cmd *cobra.Command) error {
	file, err := c.readFile(cmd)
	if err != nil {
		return err
	}
	items, err := file.Items(c.target(), c.repeat)
	if err != nil {
		return err
	}
	b := &batch.Batch{Verb: "sent", Noun: "line", Many: "lines", Flags: c.flags, Whole: true, LookFor: c.lookFor, Items: items}
	path, err := c.journalPath(items)
	if err == nil && !c.form && !c.flags.Unknown {
		err = c.checkRoles(cmd, file)
	}
	if err != nil {
		return err
	}
	var options signforms.Options
	closeJournal, err := b.OpenJournal(path, "", &options)
	if err != nil {
		return err
	}
	defer closeJournal()
	client, err := c.conn.client(options)
	if err != nil {
		return err
	}
	for i, l := range file.Lines {
		items[i].Do = c.send(client, l.Mailing)
	}
	notes, _ := stateFile("sends") // without a folder nothing is noted, which the run says
	if err := b.GoOn(file.Name, path, c.conn.workspace, c.settings(), journal.Notes(notes), cmd.ErrOrStderr()); err != nil {
		return err
	}
	columns := sentColumns
	if c.form {
		columns = formSentColumns
	}
	s := screen(cmd, cli.Output{JSON: c.json}, columns)
	if c.flags.Unknown {
		params := signforms.RespondentListParams{TemplateID: c.id}
		return b.LookUp(batch.List{
			TemplateID: c.id,
			All:        client.Templates.AllRespondents(cmd.Context(), params),
			Page: func(limit int) (*signforms.Page[signforms.Respondent], error) {
				params.Limit = limit
				return client.Templates.Respondents(cmd.Context(), params)
			},
		}, s)
	}
	return b.Run(cmd.Context(), s)
}

// maxPeople bounds a CSV file of receivers, in bytes.
const maxPeople = 64 << 20

func (c *sendCommand) readFile(cmd *cobra.Command) (*batch.File, error) {
	name, read := c.csvFile, func() ([]byte, error) { return cli.ReadFile(c.csvFile, maxPeople) }
	if c.csvFile == "-" {
		name = "standard input"
		read = func() ([]byte, error) { return cli.ReadAll(cmd.InOrStdin(), name, maxPeople) }
	}
	text, err := read()
	if err != nil {
		return nil, cli.UsageError("--csv: %w", err)
	}
	file, err := batch.ReadFile(name, text, c.form, batch.Mailing{Mail: c.mail, Variables: c.variables}, c.role)
	if err != nil {
		return nil, err
	}
	return file, file.Check(func(m batch.Mailing) error {
		if err := c.check(m); err != nil {
			return errors.New(wrongInputs(err))
		}
		return nil
	})
}

// journalPath returns the path of the journal. That of standard input, which has no name, is named after the people in it.
func (c *sendCommand) journalPath(items []*batch.Item) (string, error) {
	switch {
	case c.flags.Journal != "":
		return c.flags.Journal, nil
	case c.csvFile != "-":
		return c.csvFile + ".journal", nil
	}
	return stateFile("send-" + batch.KeyOf(items) + ".journal")
}

func (c *sendCommand) target() batch.Target {
	return batch.Target{BaseURL: c.conn.baseURL, Kind: c.kind(), ID: c.id, PDF: c.pdf}
}

func (c *sendCommand) kind() string {
	if c.form {
		return "form"
	}
	return "template"
}

// settings are what all lines of a run share.
func (c *sendCommand) settings() map[string]string {
	all := map[string]string{"address": batch.Service(c.conn.baseURL), "workspace": c.conn.workspace, c.kind(): strings.ToLower(c.id),
		"--subject": c.mail.Subject, "--message": c.mail.Message, "--role": c.role}
	if hash := c.conn.keyHash(); hash != "" {
		all["API key, as no workspace is named"] = "the key with the hash " + hash
	}
	if len(c.pdf) > 0 {
		all["--pdf"] = "the file with the SHA-256 " + c.target().PDFSum()[:16]
	}
	for _, v := range c.variables {
		all["--variable "+v.Name] = v.Value
	}
	return all
}

// checkRoles refuses a file with roles that the template does not have. Where the service does not show the template's roles, it says
// so: then the service refuses what is wrong, line by line.
func (c *sendCommand) checkRoles(cmd *cobra.Command, file *batch.File) error {
	client, err := c.conn.client(signforms.Options{})
	if err != nil {
		return err
	}
	template, err := client.Templates.Get(cmd.Context(), c.id)
	if cmd.Context().Err() != nil {
		return err
	}
	var titles []string
	if err == nil {
		for _, r := range template.Roles {
			titles = append(titles, r.RoleTitle)
		}
		if titles = slices.DeleteFunc(titles, func(title string) bool { return title == "" }); len(titles) == 0 {
			err = errors.New("the service names no roles of the template")
		}
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "cannot tell whether the roles are right: %s\n", inFlags(err))
		return nil
	}
	return file.CheckRoles(titles)
}
