package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// remindCommand are the flags of documents remind.
type remindCommand struct {
	conn       connection
	out        cli.Output
	flags      batch.Flags
	templateID string
	allPending bool
	status     string
	limitStore string
	maxWait    time.Duration
	incomplete bool // an incomplete list does

	openLimitFile func(path string) signforms.LimitStore // may be nil
}

func newDocumentsRemind(openLimitFile func(path string) signforms.LimitStore) *cobra.Command {
	c := remindCommand{openLimitFile: openLimitFile}
	cmd := &cobra.Command{
		Use:   "remind ID... | --all-pending",
		Short: "Remind the signers of documents",
		Long: `Remind sends a reminder to the pending signers of documents. When the service's limit of reminders is reached,
remind waits. All runs of this user share one count (--limit-store), which outlasts crashes and restarts.

With --template the ids are those of documents made from that template (createdDocumentId).

A reminder of which the service says that it reached nobody (remindersSent 0) counts as failed.

With --all-pending it reminds the signers of every pending document, also those made from templates, and says
beforehand how long that takes. A journal (--journal) remembers which were reminded: after an interrupt, a crash
or a restart, and when --max-wait was too short, the same command goes on with the rest: first what was not
tried, the oldest document first, then what failed. When each document was tried, the next run starts over.

Each record is judged by the status that it shows. When a list may lack records, or an error ends it after some
were found, nothing is sent and the exit code is 3, unless --allow-incomplete is given.`,
		Example: "  signforms documents remind 0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11\n  signforms documents remind --all-pending --dry-run",
		Args: func(_ *cobra.Command, args []string) error {
			if c.allPending == (len(args) > 0) {
				return fmt.Errorf("name documents by their ids, or all with --all-pending")
			}
			return nil
		},
		RunE: c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.templateID, "template", "", "id of the template from which the documents were made")
	f.BoolVar(&c.allPending, "all-pending", false, "all that are pending, PDF documents and those made from templates")
	f.StringVar(&c.status, "pending-status", string(signforms.StatusPending), "what the service calls pending, for --all-pending")
	f.BoolVar(&c.incomplete, "allow-incomplete", false, "with --all-pending, remind those that were found when a list may lack records")
	f.StringVar(&c.limitStore, "limit-store", "", "`file` or redis:// URL that counts reminders (default $SIGNFORMS_LIMIT_STORE, or else a file of this user)")
	f.DurationVar(&c.maxWait, "max-wait", -1, "how long one reminder may wait for the limit (default as long as it takes)")
	f.Lookup("max-wait").DefValue = "0s" // the help leaves out this default
	addBatchFlags(cmd, &c.flags)
	addJournalFlags(cmd, &c.flags, "with --all-pending, a file of this user for the service and the workspace")
	c.out.AddFlags(cmd)
	c.conn.addFlags(cmd)
	cli.Alternatives(cmd, false, "all-pending", "template")
	return cmd
}

func (c *remindCommand) run(cmd *cobra.Command, args []string) error {
	if err := c.conn.resolve(); err != nil {
		return err
	}
	if !c.allPending && (c.flags.Journal != "" || c.flags.NewRun || len(c.flags.Resolve) > 0 || c.incomplete) {
		return cli.UsageError("--journal, --new-run, --resolve and --allow-incomplete go with --all-pending")
	}
	for _, known := range signforms.DocumentStatuses() {
		if strings.EqualFold(c.status, string(known)) { // the service may not read it otherwise
			c.status = string(known)
		}
	}
	named, err := refs(c.templateID, args)
	if err != nil {
		return err
	}
	store, closeStore, err := openLimitStore(c.limitStore, c.conn.sandbox != "", c.openLimitFile)
	if err != nil {
		return err
	}
	defer closeStore()
	measured := &measuredStore{LimitStore: store}
	b := &batch.Batch{Verb: "reminded", Noun: "document", Many: "documents", Flags: c.flags, LookFor: lookForReminder}
	options := signforms.Options{LimitStore: measured, ReminderMaxWait: c.maxWait}
	if c.allPending {
		closeJournal, err := c.openJournal(b, &options)
		if err != nil {
			return err
		}
		defer closeJournal()
	}
	client, err := c.conn.client(options)
	if err != nil {
		return err
	}
	b.Takes = func(n int) (int, time.Duration) { return measured.takes(cmd.Context(), client, n, c.maxWait) }
	if c.allPending {
		err = c.findPending(cmd, client, b)
	} else {
		for i, ref := range named {
			b.Items = append(b.Items, c.item(client, ref, args[i], refRecord(c.templateID, args[i])))
		}
	}
	if err != nil {
		return err
	}
	return b.Run(cmd.Context(), screen(cmd, c.out, remindColumns))
}

// openJournal opens the journal and has it record the client's requests.
func (c *remindCommand) openJournal(b *batch.Batch, o *signforms.Options) (closeJournal func() error, err error) {
	path := c.flags.Journal
	run := journal.Key(append([]string{"remind", c.conn.keyHash()}, c.conn.service()...)...)
	if path == "" {
		if path, err = stateFile("remind-" + run + ".journal"); err != nil {
			return nil, err
		}
	}
	if closeJournal, err = b.OpenJournal(path, run, o); err == nil && b.OfMailing() {
		return nil, errors.Join(fmt.Errorf("journal %s: is of a run of send --csv: name another one", path), closeJournal())
	}
	return closeJournal, err
}

func lookForReminder(at time.Time) string {
	return fmt.Sprintf("ask a signer whether a reminder came about %s", cli.Time(at))
}

func (c *remindCommand) item(client *signforms.Client, ref signforms.DocumentRef, label string, r batch.Record) *batch.Item {
	key := journal.Key(append([]string{"remind", ref.String()}, c.conn.service()...)...)
	return &batch.Item{Key: key, Label: label, Record: r, Do: func(ctx context.Context, r *batch.Record) error {
		res, err := client.Documents.Remind(ctx, ref)
		if err == nil {
			r.Status, r.Message, r.RemindersSent = res.Status, res.Message, res.RemindersSent
			if res.RemindersSent != nil && *res.RemindersSent < 1 {
				return errors.New(strings.TrimSpace("the service says that it sent no reminder: " + cli.Plain(res.Message)))
			}
		}
		return inFlags(err)
	}}
}
