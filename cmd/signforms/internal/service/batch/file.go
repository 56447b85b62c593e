package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/internal/atomicfile"
)

// maxFile bounds a CSV file of receivers, and its results, in bytes.
const maxFile = 64 << 20

// runFile sends to each line of a file, or does what --rest and --unknown say with it.
func (c *sendCommand) runFile(cmd *cobra.Command) error {
	text, err := cli.ReadFile(c.file, maxFile)
	if err != nil {
		return cli.UsageError("--csv: %w", err)
	}
	people, header, err := readPeople(text, c.form, c.one, c.role)
	if err != nil {
		return cli.UsageError("%s: %w", c.file, err)
	}
	sum := sha256.Sum256(text)
	kind := map[bool]string{false: "template", true: "form"}[c.form]
	r, err := openResults(c.file+".results.csv", [][2]string{{"results of", "send"}, {"file", hex.EncodeToString(sum[:])},
		{kind, strings.ToLower(c.id)}, {"service", c.conn.BaseURL()}, {"account", c.conn.Account()}}, "line",
		func(key string) bool {
			return slices.ContainsFunc(people, func(p person) bool { return p.key() == key })
		})
	if err != nil {
		return err
	}
	defer r.close()
	switch {
	case c.rest != "":
		return c.writeRest(cmd, r, people, header)
	case c.unknown:
		return c.printUnknown(cmd, r, people)
	}
	return c.sendAll(cmd, r, people)
}

func (p person) key() string { return strconv.Itoa(p.line) }

func (c *sendCommand) sendAll(cmd *cobra.Command, r *results, people []person) error {
	var wrong []string
	for _, p := range people {
		if err := c.check(p.mailing); err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %s", p.line, service.WrongInputs(err)))
		}
	}
	if !c.repeat {
		wrong = append(wrong, repeated(people)...)
	}
	if err := refuse(c.file, wrong); err != nil {
		return err
	}
	client, err := c.conn.Client(signforms.Options{HTTPClient: &http.Client{Transport: r.transport(http.DefaultTransport)}})
	if err != nil {
		return err
	}
	var items []item
	for _, p := range people {
		items = append(items, item{p.key(), c.send(client, p.mailing)})
	}
	c.batch.results = r
	return c.batch.run(cmd, items)
}

// writeRest moves the lines that are failed or not begun to another file. It marks them before that file is there, so
// that no line is ever to be sent from both.
func (c *sendCommand) writeRest(cmd *cobra.Command, r *results, people []person, header []byte) error {
	if err := c.checkRest(r); err != nil {
		return err
	}
	name, err := filepath.Rel(filepath.Dir(c.file), c.rest)
	if err != nil {
		name = c.rest
	}
	text := withEnd(header)
	var rest []person
	lines := 0
	for _, p := range people {
		if row := r.rows[p.key()]; r.open(p.key()) || row.state == moved && row.note == filepath.ToSlash(name) {
			text = append(text, withEnd(p.raw)...)
			lines++
			if row.state != moved {
				rest = append(rest, p)
			}
		}
	}
	there, err := os.ReadFile(c.rest)
	switch {
	case lines == 0:
		return fmt.Errorf("%s: no line is failed or not begun, and none was moved to %s", c.file, c.rest)
	case err == nil && !bytes.Equal(there, text):
		return cli.UsageError("%s is there and holds something else, such as corrections: nothing was moved; send it, "+
			"or name a new file", c.rest)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return cli.UsageError("%s: %w", c.rest, cli.PathCause(err))
	}
	if err := r.begin(); err != nil {
		return err
	}
	for _, p := range rest {
		if err := r.add(p.key(), moved, "", filepath.ToSlash(name)); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(c.rest, text); err != nil {
		return fmt.Errorf("%s: %w; the same command writes it again", c.rest, cli.PathCause(err))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s in %s, which %s sends no more: edit and send that file\n",
		cli.Count(lines, "line is", "lines are"), c.rest, c.file)
	return nil
}

// checkRest refuses a place to which --rest cannot write, before any line is marked.
func (c *sendCommand) checkRest(r *results) error {
	rest, err := filepath.Abs(c.rest)
	if err != nil {
		return cli.UsageError("%s: %w", c.rest, err)
	}
	there, statErr := os.Stat(rest)
	for _, used := range []string{c.file, r.path} {
		other, err := filepath.Abs(used)
		info, otherErr := os.Stat(used)
		if err != nil || rest == other || statErr == nil && otherErr == nil && os.SameFile(there, info) {
			return cli.UsageError("--rest %s: this run uses that file: nothing was moved; name a new file", c.rest)
		}
	}
	probe, err := os.CreateTemp(filepath.Dir(rest), ".signforms-rest-*")
	if err != nil {
		return cli.UsageError("--rest %s: nothing was moved: %w", c.rest, cli.PathCause(err))
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// withEnd returns a copy of a line with a line end.
func withEnd(line []byte) []byte {
	line = bytes.Clone(line)
	if !bytes.HasSuffix(line, []byte("\n")) {
		line = append(line, '\n')
	}
	return line
}

// candidate is a document that an unknown line may be.
type candidate struct {
	Line string `json:"line"`
	*signforms.Respondent
}

var candidateColumns = []cli.Column[candidate]{
	{Name: "line", Value: func(c candidate) string { return c.Line }},
	{Name: "createdDocumentId", Value: func(c candidate) string { return c.RespondentDocumentID }},
	{Name: "status", Value: func(c candidate) string { return string(c.Status) }},
	{Name: "createdAt", Value: func(c candidate) string { return cli.Time(c.CreatedAt) }},
}

// printUnknown prints the documents of the template that belong to no line and that unknown lines may be.
func (c *sendCommand) printUnknown(cmd *cobra.Command, r *results, people []person) error {
	if c.form {
		return cli.UsageError("a form makes no documents to look for: ask its receivers")
	}
	client, err := c.conn.Client(signforms.Options{})
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, row := range r.rows {
		known[strings.ToLower(row.id)] = row.state == sent
	}
	var all []signforms.Respondent
	for d, err := range client.Templates.AllRespondents(cmd.Context(), signforms.RespondentListParams{TemplateID: c.id}) {
		if err != nil {
			return err
		}
		if !known[strings.ToLower(d.RespondentDocumentID)] {
			all = append(all, *d)
		}
	}
	var found []candidate
	for _, p := range people {
		if r.rows[p.key()].state != unknown {
			continue
		}
		before := len(found)
		for i := range all {
			if c.template(p.mailing).MayBe(&all[i]) {
				found = append(found, candidate{p.key(), &all[i]})
			}
		}
		if len(found) == before {
			fmt.Fprintf(cmd.ErrOrStderr(), "line %d: the template has no document that it may be\n", p.line)
		}
	}
	return cli.PrintItems(cmd, c.batch.out, candidateColumns, found)
}
