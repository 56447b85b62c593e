package service

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// runCSV sends to each line of a file or of standard input.
func (c *sendCommand) runCSV(cmd *cobra.Command) error {
	items, lines, err := c.readItems(cmd)
	if err != nil {
		return err
	}
	b := &batch{verb: "sent", noun: "line", many: "lines", flags: c.flags, columns: sentColumns, whole: true, lookFor: c.lookFor, items: items}
	if c.form {
		b.columns = formSentColumns
	}
	path, err := c.journalPath(items)
	if err == nil && !c.form && !c.flags.unknown {
		err = c.checkRoles(cmd, lines)
	}
	if err != nil {
		return err
	}
	var options signforms.Options
	closeJournal, err := b.openJournal(path, "", &options)
	if err != nil {
		return err
	}
	defer closeJournal()
	client, err := c.conn.client(options)
	if err != nil {
		return err
	}
	for i, l := range lines {
		items[i].do = c.send(client, l.mailing)
	}
	r := newCSVRun(c, b, path, cmd.ErrOrStderr())
	if err := r.check(); err != nil {
		return err
	}
	if c.flags.unknown {
		return c.lookUp(cmd, client, b, lines)
	}
	b.begin, b.ended = r.begin, r.ended
	return b.run(cmd, cli.Output{JSON: c.json})
}

// csvName returns the name of what --csv reads.
func (c *sendCommand) csvName() string {
	if c.csvFile == "-" {
		return "standard input"
	}
	return c.csvFile
}

func (c *sendCommand) readItems(cmd *cobra.Command) ([]*item, []person, error) {
	var text []byte
	var err error
	if c.csvFile == "-" {
		text, err = cli.ReadAll(cmd.InOrStdin(), c.csvName(), maxPeople)
	} else {
		text, err = cli.ReadFile(c.csvFile, maxPeople)
	}
	if err != nil {
		return nil, nil, cli.UsageError("--csv: %w", err)
	}
	lines, err := readPeople(text, c.form, mailing{Mail: c.mail, Variables: c.variables}, c.role)
	if err != nil {
		return nil, nil, cli.UsageError("%s: %w", c.csvName(), err)
	}
	if err := c.checkLines(lines); err != nil {
		return nil, nil, err
	}
	items, err := c.items(lines)
	return items, lines, err
}

// journalPath returns the path of the journal. That of standard input, which has no name, is named after the people in it.
func (c *sendCommand) journalPath(items []*item) (string, error) {
	switch {
	case c.flags.journal != "":
		return c.flags.journal, nil
	case c.csvFile != "-":
		return c.csvFile + ".journal", nil
	}
	who := whoOf(items)
	slices.Sort(who)
	return stateFile("send-" + journal.Key(who...) + ".journal")
}

func whoOf(items []*item) []string {
	who := make([]string, len(items))
	for i, it := range items {
		who[i] = it.who
	}
	return who
}

// maxWrongLines bounds how many wrong lines are named.
const maxWrongLines = 10

func (c *sendCommand) checkLines(lines []person) error {
	var wrong []string
	for _, l := range lines {
		if err := c.check(l.mailing); err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %s", l.line, wrongInputs(err)))
		}
	}
	return c.refuse(wrong, "")
}

// refuse returns an error that names what is wrong with the file, if something is, and what to do about it.
func (c *sendCommand) refuse(wrong []string, advice string) error {
	if len(wrong) == 0 {
		return nil
	}
	if len(wrong) > maxWrongLines {
		wrong = append(wrong[:maxWrongLines:maxWrongLines], fmt.Sprintf("and %d more", len(wrong)-maxWrongLines))
	}
	return cli.UsageError("%s: nothing was sent:\n  %s%s", c.csvName(), strings.Join(wrong, "\n  "), advice)
}

// severalAddresses reports whether a text has more than one mail address.
func severalAddresses(text string) bool {
	if strings.Count(text, "@") < 2 {
		return false
	}
	_, err := mail.ParseAddress(text) // one may have a further @ in quotes
	return err != nil
}

// bareAddress reports whether a text is a mail address and nothing else: no name, no bracket, no character that cannot be seen, and
// no apostrophe before it, by which spreadsheets mark text. Some providers have dots anywhere before the @, which is against RFC 5322.
func bareAddress(text string) bool {
	at := max(0, strings.LastIndexByte(text, '@'))
	a, err := mail.ParseAddress(strings.ReplaceAll(text[:at], ".", "_") + text[at:])
	hidden := func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }
	return err == nil && a.Name == "" && !strings.HasPrefix(text, "'") && !strings.HasSuffix(text, ">") && !strings.ContainsFunc(text, hidden)
}

// addresses returns the addresses of the receivers in one spelling and order.
func addresses(m mailing) []string {
	var all []string
	for _, r := range m.Receivers {
		all = append(all, address(r.Email))
	}
	slices.Sort(all)
	return all
}

// address returns an address in one spelling, without a name.
func address(text string) string {
	if a, err := mail.ParseAddress(text); err == nil {
		text = a.Address
	}
	return strings.ToLower(text)
}

// content returns what is sent to a line, whatever the order of the columns.
func content(m mailing) (string, error) {
	m.Receivers, m.Variables = slices.Clone(m.Receivers), slices.Clone(m.Variables)
	for i := range m.Receivers {
		m.Receivers[i].Email = address(m.Receivers[i].Email)
	}
	slices.SortFunc(m.Receivers, func(a, b signforms.Receiver) int {
		return cmp.Or(cmp.Compare(a.RoleTitle, b.RoleTitle), cmp.Compare(a.Email, b.Email), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(m.Variables, func(a, b signforms.CustomVariable) int { return cmp.Compare(a.Name, b.Name) })
	text, err := json.Marshal(m)
	return string(text), err
}

// items makes an item from each line. It refuses two equal lines, which the journal could not tell apart, and without
// --repeat-addresses two lines for the same addresses: both are most likely a mistake.
func (c *sendCommand) items(lines []person) (items []*item, err error) {
	first, firstFor := map[string]int{}, map[string]int{}
	var repeated []string
	for _, l := range lines {
		text, err := content(l.mailing)
		if err != nil {
			return nil, err
		}
		to := addresses(l.mailing)
		it := &item{label: fmt.Sprintf("line %d", l.line), record: batchRecord{To: recipients(l.mailing)}}
		it.key = journal.Key(append(c.target(), c.pdfSum(), text)...)
		it.who = journal.Key(append(c.target(), to...)...)
		if earlier := first[it.key]; earlier > 0 {
			return nil, cli.UsageError("%s: lines %d and %d are the same: remove one", c.csvName(), earlier, l.line)
		}
		if earlier := firstFor[it.who]; earlier == 0 {
			firstFor[it.who] = l.line
		} else if !c.repeat {
			repeated = append(repeated, fmt.Sprintf("lines %d and %d: %s", earlier, l.line, strings.Join(to, ", ")))
		}
		first[it.key] = l.line
		items = append(items, it)
	}
	return items, c.refuse(repeated, "\nThese have the same addresses: remove one of each, or say --repeat-addresses to send to both.")
}

// checkRoles refuses a file with roles that the template does not have. Where the service does not show the template's roles, it says
// so: then the service refuses what is wrong, line by line.
func (c *sendCommand) checkRoles(cmd *cobra.Command, lines []person) error {
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
	return c.compareRoles(lines, titles)
}

// compareRoles refuses roles other than these.
func (c *sendCommand) compareRoles(lines []person, titles []string) error {
	wrong := map[string][]string{}
	for _, l := range lines {
		for _, r := range l.Receivers {
			if !slices.Contains(titles, r.RoleTitle) {
				wrong[r.RoleTitle] = append(wrong[r.RoleTitle], fmt.Sprintf("line %d", l.line))
			}
		}
	}
	var texts []string
	for _, role := range slices.Sorted(maps.Keys(wrong)) {
		texts = append(texts, fmt.Sprintf("%q is not a role of the template: %s", role, named(wrong[role])))
	}
	return c.refuse(texts, fmt.Sprintf("\nIts roles are %s.", cli.Plain(strings.Join(titles, ", "))))
}
