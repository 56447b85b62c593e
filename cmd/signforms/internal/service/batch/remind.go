package batch

import (
	"cmp"
	"context"
	"errors"
	"net/http"
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
	conn       service.Connection
	batch      batch
	templateID string
	allPending bool
	file       string
	store      service.LimitStore
	maxWait    time.Duration
}

// Remind returns the command remind. openFile opens the file of the reminder limit; nil is the usual one.
func Remind(openFile func(path string) signforms.LimitStore) *cobra.Command {
	c := remindCommand{batch: batch{verb: "reminded", noun: "document", limited: true},
		store: service.LimitStore{OpenFile: openFile}}
	cmd := &cobra.Command{
		Use:   "remind ID... | --all-pending --results FILE",
		Short: "Remind the signers of documents",
		Long: `Remind sends a reminder to the pending signers of documents. When the service's limit of reminders is reached,
remind waits. All runs of this user share one count (--limit-store), which outlasts crashes and restarts.
With --template the ids are those of documents made from that template (createdDocumentId). A reminder of which the
service says that it reached nobody (remindersSent 0) counts as failed.

With --all-pending it reminds the signers of every pending document, also those made from templates, and --results
names the file in which it keeps which were reminded. The same command goes on where it stopped, with those that were
never tried first, the oldest before the others, and then those that failed. What is unknown is not reminded again: edit
its last state in the file to sent or again. A new round takes a new file: with it everybody is reminded again.`,
		Example: "  signforms documents remind 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11\n" +
			"  signforms documents remind --all-pending --results november.csv --dry-run",
		Args: func(_ *cobra.Command, args []string) error {
			if c.allPending == (len(args) > 0) {
				return errors.New("name documents by their ids, or all with --all-pending")
			}
			if c.allPending != (c.file != "") {
				return errors.New("--all-pending and --results FILE go together: the file keeps which documents were reminded")
			}
			return nil
		},
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.templateID, "template", "", "id of the template from which the documents were made")
	f.BoolVar(&c.allPending, "all-pending", false, "all that are pending, PDF documents and those made from templates")
	f.StringVar(&c.file, "results", "", "with --all-pending, `file` that keeps which documents were reminded")
	f.StringVar(&c.store.Where, "limit-store", "", "`file` or redis:// URL that counts reminders (default "+
		"$SIGNFORMS_LIMIT_STORE, or else a file of this user)")
	f.DurationVar(&c.maxWait, "max-wait", -1, "how long one reminder may wait for the limit (default as long as it takes)")
	f.Lookup("max-wait").DefValue = "0s" // the help leaves out this default
	c.batch.addFlags(cmd)
	c.batch.out.AddFlags(cmd)
	c.conn.AddFlags(cmd)
	cli.Alternatives(cmd, false, "all-pending", "template")
	return service.Speaking(cmd)[0]
}

func (c *remindCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.conn.Resolve(); err != nil {
		return err
	}
	named, err := refs(c.templateID, args)
	if err != nil {
		return err
	}
	store, closeStore, err := c.store.Open(c.conn.IsSandbox())
	if err != nil {
		return err
	}
	defer closeStore()
	options := signforms.Options{LimitStore: store, ReminderMaxWait: c.maxWait}
	if c.allPending {
		header := [][2]string{{"results of", "remind"}, {"service", c.conn.BaseURL()}, {"account", c.conn.Account()},
			{"filters", "status=PENDING"}}
		r, err := openResults(c.file, header, "document", func(key string) bool { return key != "" })
		if err != nil {
			return err
		}
		defer r.close()
		c.batch.results = r
		options.HTTPClient = &http.Client{Transport: r.transport(http.DefaultTransport)}
	}
	client, err := c.conn.Client(options)
	if err != nil {
		return err
	}
	var items []item
	for i, ref := range named {
		items = append(items, item{args[i], remind(client, ref)})
	}
	if c.allPending {
		if items, err = c.pending(cmd.Context(), client); err != nil {
			return err
		}
	}
	return c.batch.run(cmd, items)
}

// pending reads the lists whole before the first reminder, because they change while people sign. Those never tried
// come first, among them the oldest.
func (c *remindCommand) pending(ctx context.Context, client *signforms.Client) ([]item, error) {
	type document struct {
		ref  signforms.DocumentRef
		id   string
		made time.Time
	}
	found := map[string]document{}
	add := func(ref signforms.DocumentRef, id string, status signforms.DocumentStatus, made time.Time) {
		if strings.EqualFold(string(status), string(signforms.StatusPending)) {
			found[strings.ToLower(id)] = document{ref, strings.ToLower(id), made}
		}
	}
	for d, err := range client.Documents.All(ctx, signforms.DocumentListParams{Status: signforms.StatusPending}) {
		if err != nil {
			return nil, err
		}
		add(d.Ref(), d.DocumentID, d.Status, d.CreatedAt)
	}
	for t, err := range client.Templates.All(ctx, signforms.DocumentListParams{}) {
		if err != nil {
			return nil, err
		}
		for d, err := range client.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: t.DocumentID}) {
			if err != nil {
				return nil, err
			}
			add(signforms.TemplateDocument(t.DocumentID, d.RespondentDocumentID), d.RespondentDocumentID, d.Status, d.CreatedAt)
		}
	}
	var all []document
	for _, d := range found {
		all = append(all, d)
	}
	tried := func(d document) int { return len(c.batch.results.rows[d.id].state) }
	slices.SortFunc(all, func(a, b document) int {
		return cmp.Or(cmp.Compare(min(tried(a), 1), min(tried(b), 1)), a.made.Compare(b.made), cmp.Compare(a.id, b.id))
	})
	var items []item
	for _, d := range all {
		items = append(items, item{d.id, remind(client, d.ref)})
	}
	return items, nil
}

func remind(client *signforms.Client, ref signforms.DocumentRef) func(context.Context) (id, message string, err error) {
	return func(ctx context.Context) (string, string, error) {
		res, err := client.Documents.Remind(ctx, ref)
		switch {
		case err != nil:
			return "", "", service.InFlags(err)
		case res.RemindersSent != nil && *res.RemindersSent < 1:
			return "", "", errors.New(strings.TrimSpace("the service says that it sent no reminder: " + cli.Plain(res.Message)))
		}
		return "", res.Message, nil
	}
}
