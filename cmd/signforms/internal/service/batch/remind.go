package batch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

// remindCommand is documents remind.
type remindCommand struct {
	batch
	templateID string
	allPending bool
	file       string
	limit      service.LimitStore
}

// Remind returns the command remind. openFile opens the file of the reminder limit; nil is the usual one.
func Remind(openFile func(path string) signforms.LimitStore) *cobra.Command {
	c := &remindCommand{batch: batch{noun: "reminder"}}
	c.limit = service.LimitStore{OpenFile: openFile, Say: func(text string) { c.progress.Say(text) }}
	cmd := &cobra.Command{
		Use:   "remind ID | --all-pending --results FILE",
		Short: "Remind the signers of documents",
		Long: `Remind sends a reminder to the pending signers of a document. When the service's limit of reminders is reached,
remind waits. All runs of this user share one count (--limit-store), which survives crashes and restarts.
With --template, ID is that of a document made from that template (createdDocumentId). A reminder counts as failed if the
service reports that it reached nobody (remindersSent 0).

With --all-pending it reminds the signers of every pending document, including documents made from templates. The file of
--results records which documents were reminded. If the command is interrupted, run it again. Documents that were never
tried come first, the oldest of them first. A document with an unknown outcome is not reminded again: edit its last state
in the file to sent or again. For a new round, use a new file; then everybody is reminded again.`,
		Example: "  signforms documents remind 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11\n" +
			"  signforms documents remind --all-pending --results november.csv",
		Args: func(_ *cobra.Command, args []string) error {
			if c.allPending != (c.file != "") || c.allPending == (len(args) == 1) || len(args) > 1 {
				return errors.New("name one document by its id, or all with --all-pending --results FILE")
			}
			return nil
		},
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.templateID, "template", "", "id of the template from which the document was made")
	f.BoolVar(&c.allPending, "all-pending", false, "all that are pending, PDF documents and those made from templates")
	f.StringVar(&c.file, "results", "", "with --all-pending, `file` that keeps which documents were reminded")
	c.limit.AddFlags(cmd)
	c.addFlags(cmd)
	cli.Alternatives(cmd, false, "all-pending", "template")
	return service.Speaking(cmd)[0]
}

func (c *remindCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.conn.Resolve(); err != nil {
		return err
	}
	options, closeStore, err := c.limit.Open(c.conn.IsSandbox())
	if err != nil {
		return err
	}
	defer closeStore()
	if !c.allPending {
		client, err := c.conn.Client(options)
		if err != nil {
			return err
		}
		ref := signforms.PDFDocument(args[0])
		if c.templateID != "" {
			ref = signforms.TemplateDocument(c.templateID, args[0])
		}
		return c.one(cmd, item{args[0], remind(client, ref)})
	}
	client, err := c.open(c.file, options, []string{"results of", "remind"}, []string{"filters", "status=PENDING"})
	if err != nil {
		return err
	}
	defer c.results.close()
	items, err := c.pending(cmd.Context(), client)
	if err != nil {
		return err
	}
	return c.batch.run(cmd, items)
}

// pending reads the whole lists before the first reminder, because the lists change while people
// sign. Documents that were never tried come first, the oldest of them first.
func (c *remindCommand) pending(ctx context.Context, client *signforms.Client) (items []item, err error) {
	made := map[string]time.Time{}
	add := func(ref signforms.DocumentRef, id string, status signforms.DocumentStatus, at time.Time) {
		if _, found := made[id]; !found && strings.EqualFold(string(status), string(signforms.StatusPending)) {
			made[id] = at
			items = append(items, item{id, remind(client, ref)})
		}
	}
	for d, err := range client.Documents.All(ctx, signforms.DocumentListParams{Status: signforms.StatusPending}) {
		if err != nil {
			return nil, err
		}
		add(d.Ref(), d.ID, d.Status, d.CreatedAt)
	}
	for t, err := range client.Templates.All(ctx, signforms.TemplateListParams{}) {
		if err != nil {
			return nil, err
		}
		for d, err := range client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: t.ID}) {
			if err != nil {
				return nil, err
			}
			add(signforms.TemplateDocument(t.ID, d.ID), d.ID, d.Status, d.CreatedAt)
		}
	}
	tried := func(it item) int { return min(len(c.results.rows[it.line].State), 1) }
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(tried(a), tried(b)), made[a.line].Compare(made[b.line]), cmp.Compare(a.line, b.line))
	})
	return items, nil
}

func remind(client *signforms.Client, ref signforms.DocumentRef) func(context.Context) (id, message string, err error) {
	return func(ctx context.Context) (string, string, error) {
		res, err := client.Documents.Remind(ctx, ref)
		switch {
		case err != nil:
			return "", "", err
		case res.RemindersSent != nil && *res.RemindersSent < 1:
			return "", "", errors.New("the service reports that it sent no reminder: " + cli.Plain(res.Message))
		}
		return "", res.Message, nil
	}
}
